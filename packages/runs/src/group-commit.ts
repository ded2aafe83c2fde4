/**
 * Makes the events and steps of all runs durable together, then tells their readers.
 *
 *   run A ─ emit ─┐                    ┌─▶ bus ─▶ readers
 *   run B ─ emit ─┼─▶ pending ─ tick ─▶ store.commit
 *   run C ─ commit┘                    └─▶ the commits that waited
 *
 * It knows nothing of what events and steps mean, but for tokens: they may wait `tickMs` and be joined;
 * anything else is written as soon as the present turn of the event loop ends.
 *
 * G1 The events of a run are written in the order they were emitted, its steps in theirs; a step and the
 *    event that tells of it, in one write.
 * G2 Readers are told of an event only after it is durable.
 * G3 Tokens of one model call that follow one another are joined into one event; no text is lost.
 * G4 A run whose write was fenced, or failed, writes nothing more and is told so once.
 */
import { errorMessage, TuttiError, type Clock } from '@tutti/core'

import type { EventBus } from './event-bus.ts'
import type { RunStore, RunWrite, WriteResult } from './ports/run-store.ts'
import type { RunJournal, RunStep } from '@tutti/ensemble'
import type { RunEvent, RunEventOf } from '@tutti/protocol'

/** How long tokens may wait to be joined: below what a person sees as a pause. */
export const DEFAULT_TICK_MS = 25

/** What a group commit works with. */
export interface GroupCommitOptions {
  readonly store: RunStore
  readonly bus: EventBus
  readonly clock: Clock
  /** @default 25 */
  readonly tickMs?: number
}

/** The journal of one claimed run. */
export interface DurableJournal extends RunJournal {
  /** Resolves when everything emitted so far is durable; rejects when it can no longer become so. */
  flush(): Promise<void>
  /** Lets go of the run: whatever is emitted from now on is dropped. */
  detach(reason: TuttiError): void
}

/** Which run a journal writes, and under which claim. */
export interface JournalOptions {
  readonly runId: string
  readonly epoch: number
  /** Called once when the run may write nothing more. */
  readonly onLost: (reason: TuttiError) => void
}

/** The one writer of run events in a process. */
export class GroupCommit {
  readonly #options: GroupCommitOptions
  readonly #dirty = new Set<PendingWrites>()
  #stopTick: (() => void) | undefined
  #flushing: Promise<void> | undefined
  #scheduled = false

  constructor(options: GroupCommitOptions) {
    this.#options = options
  }

  /** A journal for a run that was claimed. */
  journal(options: JournalOptions): DurableJournal {
    const pending = new PendingWrites(options)
    const settled = async (): Promise<void> => {
      if (!pending.empty) this.#markDirty(pending, true)
      await pending.settled()
    }
    return {
      emit: (event, step) => {
        const isToken = event.type === 'token' && step === undefined
        if (pending.add(event, step)) this.#markDirty(pending, !isToken)
      },
      commit: (step, event) => {
        pending.add(event, step)
        return settled()
      },
      flush: settled,
      detach: (reason) => {
        pending.lose(reason)
      },
    }
  }

  #markDirty(pending: PendingWrites, urgent: boolean): void {
    this.#dirty.add(pending)
    if (urgent) this.#flushSoon()
    else {
      this.#stopTick ??= this.#options.clock.after(this.#options.tickMs ?? DEFAULT_TICK_MS, () => {
        this.#flushSoon()
      })
    }
  }

  #flushSoon(): void {
    if (this.#scheduled || this.#flushing !== undefined) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.#stopTick?.()
      this.#stopTick = undefined
      this.#flushing = this.#flush().finally(() => {
        this.#flushing = undefined
        if (this.#dirty.size > 0) this.#flushSoon()
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
        this.#options.bus.publish(pending.runId, result.events)
      }
      pending.settle(result)
    }
  }

  async #commit(writes: readonly RunWrite[]): Promise<readonly WriteResult[]> {
    try {
      return await this.#options.store.commit(writes)
    } catch (error) {
      return writes.map(() => ({ kind: 'failed', error }))
    }
  }
}

interface Waiter {
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/** What one run has emitted and nobody has written yet. */
class PendingWrites {
  readonly runId: string
  readonly #options: JournalOptions
  #events: RunEvent[] = []
  #steps: RunStep[] = []
  /** Where in `#events` the open token event of each task is. */
  readonly #openTokens = new Map<number, number>()
  /** Who waits for events that are not being written yet. */
  #waiters: Waiter[] = []
  /** Who waits for the write that is under way. */
  #taken: Waiter[] = []
  #writing = false
  lost: TuttiError | undefined

  constructor(options: JournalOptions) {
    this.#options = options
    this.runId = options.runId
  }

  get empty(): boolean {
    return this.#events.length === 0 && this.#steps.length === 0
  }

  /** Takes an event, a step, or both; false when they are dropped as the run may write nothing more. */
  add(event: RunEvent | undefined, step: RunStep | undefined): boolean {
    if (this.lost !== undefined) return false
    if (step !== undefined) this.#steps.push(step)
    if (event === undefined) return true
    if (event.type === 'token') this.#addToken(event)
    else {
      this.#openTokens.clear()
      this.#events.push(event)
    }
    return true
  }

  #addToken(event: RunEventOf<'token'>): void {
    const at = this.#openTokens.get(event.taskIndex)
    const open = at === undefined ? undefined : this.#events[at]
    if (at !== undefined && open?.type === 'token' && continues(open, event)) {
      this.#events[at] = { ...open, token: open.token + event.token }
    } else {
      this.#openTokens.set(event.taskIndex, this.#events.push(event) - 1)
    }
  }

  /** Resolves when everything added so far is written; rejects when it can no longer be. */
  settled(): Promise<void> {
    if (this.lost !== undefined) return Promise.reject(this.lost)
    if (this.empty && !this.#writing) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const waiters = this.empty ? this.#taken : this.#waiters
      waiters.push({ resolve, reject })
    })
  }

  /** Everything that waits, to be written now. */
  take(): RunWrite | undefined {
    if (this.lost !== undefined) return undefined
    const { runId, epoch } = this.#options
    const events = this.#events
    const steps = this.#steps
    this.#events = []
    this.#steps = []
    this.#openTokens.clear()
    this.#taken = this.#waiters
    this.#waiters = []
    this.#writing = true
    return { runId, epoch, events, steps }
  }

  settle(result: WriteResult | undefined): void {
    this.#writing = false
    const taken = this.#taken
    this.#taken = []
    if (result?.kind === 'written') {
      for (const { resolve } of taken) resolve()
      return
    }
    this.#waiters = [...taken, ...this.#waiters]
    this.lose(lossOf(this.runId, result))
  }

  lose(reason: TuttiError): void {
    if (this.lost !== undefined) return
    this.lost = reason
    this.#events = []
    this.#steps = []
    const waiters = [...this.#taken, ...this.#waiters]
    this.#taken = []
    this.#waiters = []
    for (const { reject } of waiters) reject(reason)
    this.#options.onLost(reason)
  }
}

function continues(open: RunEventOf<'token'>, next: RunEventOf<'token'>): boolean {
  return open.attempt === next.attempt && open.iterationIndex === next.iterationIndex
}

function lossOf(runId: string, result: WriteResult | undefined): TuttiError {
  if (result?.kind === 'failed') {
    return new TuttiError(
      'STORE_UNAVAILABLE',
      `Cannot write the events of ${runId}: ${errorMessage(result.error)}`,
      { cause: result.error, retryable: true },
    )
  }
  return new TuttiError('FENCED', `Run ${runId} was taken over by another owner`)
}
