/**
 * Creates the spans of a run that this process executes: first from the log up to the claim, then from the events that
 * this process writes.
 *
 *   claimed ─▶ log up to the claim ─▶ events written here meanwhile ─▶ events written here now
 *
 * TEL-F1 Spans that are open at the claim have their true start and parent, even if another process wrote these events.
 * TEL-F2 A span that ended under an earlier owner is not sent again. A span that ended while the run was unowned,
 *    because a decision was written to the store, is sent by the next owner.
 * TEL-F3 If the log cannot be read, only the spans of this run are lost.
 */
import { RunTracer, type RunTracerRun } from './run-tracer.ts'

import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'
import type { ResolvedTraceRunsOptions } from './options.ts'

/** Reads events of a run from its log. */
export type ReadEvents = (query: {
  readonly runId: string
  readonly from: number
  readonly limit: number
  readonly types: readonly RunEvent['type'][]
}) => Promise<readonly LoggedRunEvent[]>

/** A run when it is claimed. */
export interface FollowedRunStart extends RunTracerRun {
  /** The newest event before the claim. */
  readonly lastSeq: number
  /** Whether an earlier owner was lost without releasing the run. */
  readonly wasLost: boolean
}

/** Number of events read at a time. */
const PAGE = 500

/** Types of the events that define spans. Events that only report progress are not read from the log. */
const TYPES = [
  'run_queued',
  'run_resumed',
  'run_cancelling',
  'ensemble_started',
  'task_started',
  'llm_iteration_started',
  'llm_iteration_completed',
  'llm_iteration_failed',
  'tool_called',
  'agent_tool_invoked',
  'agent_tool_turn',
  'agent_tool_completed',
  'agent_tool_terminated',
  'agent_tool_error',
  'delegation_started',
  'delegation_completed',
  'delegation_failed',
  'task_completed',
  'task_attempt_failed',
  'task_failed',
  'task_skipped',
  'review_requested',
  'review_timed_out',
  'review_decided',
  'review_withdrawn',
  'directive_active',
  'directive_delivered',
  'model_switched',
] as const satisfies readonly RunEvent['type'][]

/** Types of the events that can be written to an unowned run. */
const UNOWNED_EVENTS: ReadonlySet<RunEvent['type']> = new Set([
  'run_cancelling',
  'review_timed_out',
  'review_decided',
  'directive_active',
  'model_switched',
])

/** Creates the spans of a run that this process executes. */
export class FollowedRun {
  /** Resolves when the events before the claim have been read. Never rejects. */
  readonly caughtUp: Promise<void>
  readonly #start: FollowedRunStart
  readonly #tracer: RunTracer
  readonly #options: ResolvedTraceRunsOptions
  /** Events written here while the log is read. */
  #waiting: LoggedRunEvent[] | undefined = []
  #isLost = false

  constructor(start: FollowedRunStart, options: ResolvedTraceRunsOptions, read: ReadEvents) {
    this.#start = start
    this.#options = options
    this.#tracer = new RunTracer(start, options)
    this.caughtUp = this.#catchUp(read)
  }

  /** Whether the run makes no further spans. */
  get isOver(): boolean {
    return this.#isLost || (this.#waiting === undefined && this.#tracer.isOver)
  }

  /** Takes events that were written here. */
  take(events: readonly LoggedRunEvent[]): void {
    if (this.#isLost) return
    if (this.#waiting === undefined) for (const event of events) this.#tracer.take(event)
    else this.#waiting.push(...events)
  }

  async #catchUp(read: ReadEvents): Promise<void> {
    try {
      this.#replay(await this.#earlier(read))
      const waiting = this.#waiting ?? []
      this.#waiting = undefined
      this.take(waiting)
    } catch (error) {
      this.#isLost = true
      this.#waiting = undefined
      this.#options.onError(error)
    }
  }

  async #earlier(read: ReadEvents): Promise<readonly LoggedRunEvent[]> {
    const { runId, lastSeq } = this.#start
    const earlier: LoggedRunEvent[] = []
    for (let from = 0; from <= lastSeq;) {
      const page = await read({ runId, from, limit: PAGE, types: TYPES })
      earlier.push(...page.filter(({ seq }) => seq <= lastSeq))
      const last = page.at(-1)
      if (last === undefined || page.length < PAGE) break
      from = last.seq + 1
    }
    return earlier
  }

  #replay(events: readonly LoggedRunEvent[]): void {
    const owned = this.#start.wasLost
      ? -1
      : events.findLastIndex(({ type }) => !UNOWNED_EVENTS.has(type))
    for (const [index, event] of events.entries()) {
      this.#tracer.isMuted = this.#start.wasLost || index <= owned
      this.#tracer.take(event)
    }
    this.#tracer.isMuted = false
  }
}
