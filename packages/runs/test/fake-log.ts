/** Logs of runs in memory, written by tests. */
import { turns } from './turns.ts'

import type { EventPage } from '@tutti/runs'
import type { StoredEventLog, EventQuery, RunHead } from '@tutti/runs/adapter'
import type { FollowQuery } from '@tutti/runs/internal'
import type { LoggedRunEvent, RunEvent, RunEventOf } from '@tutti/protocol'

/** A log whose reads take a turn of the event loop, during which a test can act. */
export class FakeLog implements StoredEventLog {
  readonly #runs = new Map<string, LoggedRunEvent[]>()
  /** The reads, in order. */
  readonly reads: EventQuery[] = []
  /** Called, and awaited, after the log was read and before the read resolves. */
  beforeAnswer: (() => unknown) | undefined
  /** The runs to follow, in order. */
  readonly follows: FollowQuery[] = []

  /** Writes events and returns them with their numbers. */
  append(runId: string, events: readonly RunEvent[]): readonly LoggedRunEvent[] {
    const log = this.#runs.get(runId) ?? []
    this.#runs.set(runId, log)
    const logged = events.map((event, index) => {
      const seq = log.length + index
      return { ...event, runId, seq, id: `${runId}:${seq}` }
    })
    log.push(...logged)
    return logged
  }

  /** Loses the events of a run from `length` on. */
  truncate(runId: string, length: number): void {
    this.#runs.get(runId)?.splice(length)
  }

  /** Returns the number of the newest event of a run; -1 without events. */
  lastSeq(runId: string): number {
    return this.#runs.get(runId)?.at(-1)?.seq ?? -1
  }

  /** Deletes a run. */
  delete(runId: string): void {
    this.#runs.delete(runId)
  }

  async read(query: EventQuery): Promise<EventPage> {
    const { runId, from, limit, types } = query
    this.reads.push(query)
    const log = this.#runs.get(runId)
    const wanted = log?.slice(from).filter(({ type }) => types?.includes(type) ?? true) ?? []
    const page = { events: wanted.slice(0, limit), lastSeq: log && log.length - 1 }
    await this.#answer()
    return page
  }

  async follow(query: FollowQuery): Promise<readonly RunHead[]> {
    this.follows.push(query)
    const heads = [...this.#runs].flatMap(([runId, log]) => {
      const last = log.at(-1)
      if (last === undefined) return []
      const isWanted = query.runIds.includes(runId) || (query.all && last.type !== 'run_result')
      return isWanted ? [{ runId, lastSeq: last.seq }] : []
    })
    await this.#answer()
    return heads
  }

  async #answer(): Promise<void> {
    await turns(1)
    await this.beforeAnswer?.()
  }
}

/** Returns the last event of a run. */
export function resultEvent(runId: string): RunEventOf<'run_result'> {
  return {
    type: 'run_result',
    runId,
    status: 'COMPLETED',
    outputs: [],
    durationMs: 0,
    metrics: { totalTokens: 0, totalToolCalls: 0 },
  }
}
