/**
 * Makes the events and steps of all runs durable together, then tells their readers.
 *
 *   run A ─ emit ─┐                    ┌─▶ feed ─▶ readers
 *   run B ─ emit ─┼─▶ pending ─ tick ─▶ store.commit
 *   run C ─ commit┘                    └─▶ the commits that waited
 *
 * It knows nothing of what events and steps mean, but for tokens: they may wait `tickMs` and be joined;
 * anything else is written as soon as the present turn of the event loop ends.
 *
 * RUNS-G1 The events of a run are written in the order they were emitted, its steps in theirs; a step and the
 *    event that tells of it, in one write.
 * RUNS-G2 Readers are told of an event only after it is durable.
 * RUNS-G3 Tokens of one model call that follow one another are joined into one event; no text is lost.
 * RUNS-G4 A run whose write was fenced, or failed, writes nothing more and is told so once.
 * RUNS-G5 While the store cannot be reached everything waits, within bounds, and is written once when it is
 *    back.
 */
import { TuttiError, type Clock } from '@tutti/core'

import { PendingWrites, type PendingWritesOptions } from './pending-writes.ts'

import type { RunStore, RunWrite, WriteResult } from '../ports/run-store.ts'
import type { CommandAnswer } from '../ports/command-queue.ts'
import type { RunJournal } from '@tutti/ensemble'
import type { LoggedRunEvent } from '@tutti/protocol'

/** How long tokens may wait to be joined: below what a person sees as a pause. */
export const DEFAULT_TICK_MS = 25

/** How long to wait before a store that could not be reached is tried again. */
const RETRY_MS = 250

/** What a group commit works with. */
export interface GroupCommitOptions {
  readonly store: Pick<RunStore, 'commit'>
  /** Told of events when they are durable. */
  readonly onWritten: (runId: string, events: readonly LoggedRunEvent[]) => void
  readonly clock: Clock
  /** @default 25 */
  readonly tickMs?: number
}

/** The journal of one claimed run. */
export interface DurableJournal extends RunJournal {
  /** Takes the answer to a signal; it becomes durable with what was emitted just before. */
  answer(answer: CommandAnswer): void
  /** Resolves when everything emitted so far is durable; rejects when it can no longer become so. */
  flush(): Promise<void>
  /** Whether nothing waits to be written. */
  readonly isFlushed: boolean
  /** Lets go of the run: whatever is emitted from now on is dropped. */
  detach(reason: TuttiError): void
}

/** The one writer of run events in a process. */
export class GroupCommit {
  readonly #options: GroupCommitOptions
  readonly #dirty = new Set<PendingWrites>()
  #stopTick: (() => void) | undefined
  /** Present while the store is left alone after it could not be reached. */
  #stopRetry: (() => void) | undefined
  #flushing = false
  #scheduled = false
  #isStopped = false

  constructor(options: GroupCommitOptions) {
    this.#options = options
  }

  /** A journal for a run that was claimed. */
  journal(options: PendingWritesOptions): DurableJournal {
    const pending = new PendingWrites(options)
    const settled = async (): Promise<void> => {
      if (!pending.isEmpty) this.#markDirty(pending, true)
      await pending.settled()
    }
    return {
      emit: (event, step) => {
        const isToken = event.type === 'token' && step === undefined
        if (pending.add({ event, step })) this.#markDirty(pending, !isToken)
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
      detach: (reason) => {
        pending.lose(reason)
        this.#dirty.delete(pending)
      },
    }
  }

  /** Tries again at once what could not be written. */
  retry(): void {
    this.#stopRetry?.()
    this.#stopRetry = undefined
    if (this.#dirty.size > 0) this.#flushSoon()
  }

  /** Stops all timers; what waits is not written. */
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
        // Tokens that came meanwhile are joined as long as any others.
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
      return writes.map(() => ({ kind: isLost ? 'unavailable' : 'failed', error }))
    }
  }
}
