/**
 * Makes the events and steps of all runs durable together, then notifies their readers.
 *
 *   run A ─ emit ─┐                    ┌─▶ feed ─▶ readers
 *   run B ─ emit ─┼─▶ pending ─ tick ─▶ store.commit
 *   run C ─ commit┘                    └─▶ the commits that waited
 *
 * Only tokens are treated specially: they may wait `tickMs` and be joined. Everything else is written as soon as the
 * current turn of the event loop ends.
 *
 * RUNS-G1 The events of a run, and its steps, are written in the order in which they were emitted. A step and its event
 *    are in one write.
 * RUNS-G2 Readers receive an event only after it is durable.
 * RUNS-G3 Consecutive tokens of one model call are joined into one event, and so is its reasoning. No text is lost.
 * RUNS-G4 A run whose write was fenced writes nothing more, and is notified once.
 * RUNS-G6 A write that the store refuses is dropped with everything that waits behind it, and its run is notified. It
 *    does not affect other runs; the run may write its end.
 * RUNS-G5 While the store cannot be reached, everything waits, within bounds, and is written once when it is back.
 */
import { TuttiError, type Clock } from '@tutti/core'

import { isStreamedText, PendingWrites, type PendingWritesOptions } from './pending-writes.ts'

import type { RunStore, RunWrite, WriteResult } from '../ports/run-store.ts'
import type { CommandAnswer } from '../ports/command-queue.ts'
import type { RunJournal } from '@tutti/ensemble/internal'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Default time that tokens wait to be joined, in milliseconds: shorter than a pause that a person notices. */
export const DEFAULT_TICK_MS = 25

/** Time after which an unavailable store is tried again, in milliseconds. */
const RETRY_MS = 250

export interface GroupCommitOptions {
  readonly store: Pick<RunStore, 'commit'>
  /** Called with events after they become durable. */
  readonly onWritten: (runId: string, events: readonly LoggedRunEvent[]) => void
  readonly clock: Clock
  /** @default 25 */
  readonly tickMs?: number
}

/** The journal of one claimed run. */
export interface DurableJournal extends RunJournal {
  /** Writes the answer to a command; it becomes durable together with the data emitted just before. */
  answer(answer: CommandAnswer): void
  /** Resolves when everything emitted so far is durable; rejects when it can no longer become so. */
  flush(): Promise<void>
  /** Whether all data has been written. */
  readonly isFlushed: boolean
  /** Number of the last write that was sent; 0 before the first. */
  readonly lastWriteNo: number
  /** Stops writing the run: waiting and later data is dropped. */
  detach(reason: TuttiError): void
}

/** The only writer of run events in a process. */
export class GroupCommit {
  readonly #options: GroupCommitOptions
  readonly #dirty = new Set<PendingWrites>()
  #stopTick: (() => void) | undefined
  /** Present while a retry is pending because the store could not be reached. */
  #stopRetry: (() => void) | undefined
  #flushing = false
  #scheduled = false
  #isStopped = false

  constructor(options: GroupCommitOptions) {
    this.#options = options
  }

  /** Opens a journal for a claimed run. */
  journal(options: PendingWritesOptions): DurableJournal {
    const pending = new PendingWrites(options)
    const settled = (): Promise<void> => {
      if (!pending.isEmpty) this.#markDirty(pending, true)
      return pending.settled()
    }
    return {
      emit: (event, step) => {
        const canWait = isStreamedText(event) && step === undefined
        if (pending.add({ event, step })) this.#markDirty(pending, !canWait)
      },
      commit: (step, event) => {
        pending.add({ event, step })
        return settled()
      },
      answer: (answer) => {
        if (pending.add({ answer })) this.#markDirty(pending, true)
      },
      flush: settled,
      get isFlushed() {
        return pending.isEmpty
      },
      get lastWriteNo() {
        return pending.lastWriteNo
      },
      detach: (reason) => {
        pending.lose(reason)
        this.#dirty.delete(pending)
      },
    }
  }

  /** Retries writes at once that are waiting for the store. */
  retry(): void {
    this.#stopRetry?.()
    this.#stopRetry = undefined
    if (this.#dirty.size > 0) this.#flushSoon()
  }

  /** Stops all timers and drops waiting data. */
  stop(): void {
    this.#isStopped = true
    this.#stopTick?.()
    this.#stopRetry?.()
    this.#dirty.clear()
  }

  #markDirty(pending: PendingWrites, urgent: boolean): void {
    if (this.#isStopped) return
    this.#dirty.add(pending)
    if (urgent) this.#flushSoon()
    else this.#flushOnTick()
  }

  #flushOnTick(): void {
    if (this.#stopRetry !== undefined) return
    this.#stopTick ??= this.#options.clock.after(this.#options.tickMs ?? DEFAULT_TICK_MS, () => {
      this.#flushSoon()
    })
  }

  #flushSoon(): void {
    if (this.#scheduled || this.#flushing || this.#stopRetry !== undefined) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#stopTick?.()
      this.#stopTick = undefined
      this.#flushing = true
      void this.#flush().finally(() => {
        this.#flushing = false
        if (this.#dirty.size === 0) return
        // Tokens that arrived in the meantime wait as long as any others.
        if ([...this.#dirty].some(({ isUrgent }) => isUrgent)) this.#flushSoon()
        else this.#flushOnTick()
      })
    })
  }

  async #flush(): Promise<void> {
    const batch = [...this.#dirty].flatMap((pending) => {
      const write = pending.take()
      return write === undefined ? [] : [{ pending, write }]
    })
    this.#dirty.clear()
    if (batch.length === 0) return
    const results = await this.#commit(batch.map(({ write }) => write))
    for (const [index, { pending }] of batch.entries()) {
      const result = results[index]
      if (result?.kind === 'written' && result.events.length > 0) {
        this.#options.onWritten(pending.runId, result.events)
      }
      pending.settle(result)
      if (!pending.isEmpty) this.#dirty.add(pending)
      if (result?.kind === 'unavailable') this.#retryLater()
    }
  }

  #retryLater(): void {
    if (this.#isStopped) return
    this.#stopRetry ??= this.#options.clock.after(RETRY_MS, () => {
      this.retry()
    })
  }

  async #commit(writes: readonly RunWrite[]): Promise<readonly WriteResult[]> {
    try {
      return await this.#options.store.commit(writes)
    } catch (error) {
      const isLost = TuttiError.isInstance(error) && error.code === 'STORE_UNAVAILABLE'
      if (isLost) return writes.map(() => ({ kind: 'unavailable', error }))
      if (writes.length === 1) return [{ kind: 'failed', error }]
      // One of the writes may be the cause.
      const results: WriteResult[] = []
      for (const write of writes) results.push(...(await this.#commit([write])))
      return results
    }
  }
}
