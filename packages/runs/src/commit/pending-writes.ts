/** What one run has emitted and nobody has written yet, in the order of emission. */
import { errorMessage, TuttiError } from '@tutti/core'

import type { RunWrite, WriteResult } from '../ports/run-store.ts'
import type { CommandAnswer } from '../ports/command-queue.ts'
import type { RunStep } from '@tutti/ensemble'
import type { RunEvent, RunEventOf } from '@tutti/protocol'

/**
 * Events of one run that may wait for a store that cannot be reached: the tools and the model calls in
 * flight rarely write a hundred before the engine waits for them to be durable.
 */
export const MAX_PENDING_EVENTS = 10_000

/** Which run is written, and under which claim. */
export interface PendingWritesOptions {
  readonly runId: string
  readonly epoch: number
  /** Called once when the run may write nothing more. */
  readonly onLost: (reason: TuttiError) => void
}

/** What is emitted together. */
export interface PendingEntry {
  readonly event?: RunEvent | undefined
  readonly step?: RunStep | undefined
  readonly answer?: CommandAnswer | undefined
}

interface Waiter {
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

/** The writes of one run under one claim. */
export class PendingWrites {
  readonly runId: string
  readonly #options: PendingWritesOptions
  #events: RunEvent[] = []
  #steps: RunStep[] = []
  #answers: CommandAnswer[] = []
  /** Where in `#events` the open token event of each task is. */
  readonly #openTokens = new Map<number, number>()
  /** The write that was sent, until it is known to be kept. */
  #sent: RunWrite | undefined
  #writeNo = 0
  /** Who waits for what is not sent yet. */
  #waiters: Waiter[] = []
  /** Who waits for the write that was sent. */
  #sentWaiters: Waiter[] = []
  #lost: TuttiError | undefined

  constructor(options: PendingWritesOptions) {
    this.#options = options
    this.runId = options.runId
  }

  /** Whether nothing waits to be sent, or to be sent again. */
  get isEmpty(): boolean {
    return this.#sent === undefined && this.#hasNothingNew
  }

  /** Whether anything waits that is more than tokens, or that somebody waits for. */
  get isUrgent(): boolean {
    return (
      this.#waiters.length > 0 ||
      this.#steps.length > 0 ||
      this.#answers.length > 0 ||
      this.#events.some(({ type }) => type !== 'token')
    )
  }

  /** Takes what was emitted; false when it is dropped as the run may write nothing more. */
  add({ event, step, answer }: PendingEntry): boolean {
    if (this.#lost !== undefined) return false
    if (step !== undefined) this.#steps.push(step)
    if (answer !== undefined) this.#answers.push(answer)
    if (event?.type === 'token') this.#addToken(event)
    else if (event !== undefined) {
      this.#openTokens.clear()
      this.#events.push(event)
    }
    if (this.#events.length > MAX_PENDING_EVENTS) {
      this.lose(
        new TuttiError(
          'STORE_UNAVAILABLE',
          `Run ${this.runId} has more than ${MAX_PENDING_EVENTS} events that cannot be written`,
          { retryable: true },
        ),
      )
      return false
    }
    return true
  }

  /** Resolves when everything added so far is kept; rejects when it can no longer be. */
  settled(): Promise<void> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost)
    if (this.isEmpty) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const waiters = this.#hasNothingNew ? this.#sentWaiters : this.#waiters
      waiters.push({ resolve, reject })
    })
  }

  /** The write to send now: the one whose fate is not known, else all that waits. */
  take(): RunWrite | undefined {
    if (this.#lost !== undefined) return undefined
    if (this.#sent !== undefined) return this.#sent
    if (this.#hasNothingNew) return undefined
    this.#writeNo += 1
    this.#sent = {
      runId: this.runId,
      epoch: this.#options.epoch,
      writeNo: this.#writeNo,
      events: this.#events,
      steps: this.#steps,
      ...(this.#answers.length === 0 ? {} : { answers: this.#answers }),
    }
    this.#events = []
    this.#steps = []
    this.#answers = []
    this.#openTokens.clear()
    this.#sentWaiters = this.#waiters
    this.#waiters = []
    return this.#sent
  }

  /** Learns what became of the write that was sent. One whose fate is not known is sent again. */
  settle(result: WriteResult | undefined): void {
    if (this.#lost !== undefined || result?.kind === 'unavailable') return
    if (result?.kind !== 'written') {
      this.lose(lossOf(this.runId, result))
      return
    }
    this.#sent = undefined
    const waiters = this.#sentWaiters
    this.#sentWaiters = []
    for (const { resolve } of waiters) resolve()
  }

  /** Drops what waits, and takes nothing more. */
  lose(reason: TuttiError): void {
    if (this.#lost !== undefined) return
    this.#lost = reason
    this.#sent = undefined
    this.#events = []
    this.#steps = []
    this.#answers = []
    const waiters = [...this.#sentWaiters, ...this.#waiters]
    this.#sentWaiters = []
    this.#waiters = []
    for (const { reject } of waiters) reject(reason)
    this.#options.onLost(reason)
  }

  get #hasNothingNew(): boolean {
    return this.#events.length === 0 && this.#steps.length === 0 && this.#answers.length === 0
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
