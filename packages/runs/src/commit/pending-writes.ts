/** The events, steps and answers of one run that are not written yet, in the order of emission. */
import { TuttiError } from '@tutti/core'

import { storeRefused } from '../domain/refusals.ts'
import { StoredValues } from '../log/stored-values.ts'

import type { RunWrite, WriteResult } from '../ports/run-store.ts'
import type { CommandAnswer } from '../ports/command-queue.ts'
import type { RunStep } from '@tutti/ensemble/internal'
import type { RunEvent, RunEventOf } from '@tutti/protocol'

/**
 * Maximum number of events of one run that wait while the store cannot be reached. The calls in flight rarely emit a
 * hundred before the engine waits until they are durable.
 */
export const MAX_PENDING_EVENTS = 10_000

/** A run to write, and the claim under which it is written. */
export interface PendingWritesOptions {
  readonly runId: string
  /** The fencing token of the claim. */
  readonly token: string
  /** Called once, when the run may no longer write. */
  readonly onLost: (reason: TuttiError) => void
  /**
   * Called when the store refused a write. The write is dropped with everything behind it. The run may then write
   * its end.
   */
  readonly onRefused: (reason: TuttiError) => void
}

/** Data that is emitted together. */
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
  /** Index in `#events` of the event of each step; see `RunWrite.stepEvents`. */
  #stepEvents: number[] = []
  #answers: CommandAnswer[] = []
  /** Index in `#events` of the event of each task to which streamed text is joined. */
  readonly #openTexts = new Map<number, number>()
  readonly #stored = new StoredValues()
  /** The write that was sent, until the store confirms it. */
  #sent: RunWrite | undefined
  #writeNo = 0
  /** Callers that wait for unsent data. */
  #waiters: Waiter[] = []
  /** Callers that wait for the sent write. */
  #sentWaiters: Waiter[] = []
  #lost: TuttiError | undefined

  constructor(options: PendingWritesOptions) {
    this.#options = options
    this.runId = options.runId
  }

  /** Number of the last write that was sent; 0 before the first. */
  get lastWriteNo(): number {
    return this.#writeNo
  }

  /** Whether there is no data to send or to send again. */
  get isEmpty(): boolean {
    return this.#sent === undefined && this.#hasNothingNew
  }

  /** Whether there is data other than streamed text, or a caller that waits. */
  get isUrgent(): boolean {
    return (
      this.#waiters.length > 0 ||
      this.#steps.length > 0 ||
      this.#answers.length > 0 ||
      !this.#events.every(isStreamedText)
    )
  }

  /** Adds emitted data. Returns false when it is dropped because the run may no longer write. */
  add({ event, step, answer }: PendingEntry): boolean {
    if (this.#lost !== undefined) return false
    if (step !== undefined) {
      this.#steps.push(step)
      this.#stepEvents.push(this.#events.length)
    }
    if (answer !== undefined) this.#answers.push(answer)
    if (event !== undefined) this.#addEvent(event)
    if (this.#events.length > MAX_PENDING_EVENTS) {
      this.lose(
        new TuttiError(
          'STORE_UNAVAILABLE',
          `Run ${this.runId} has more than ${MAX_PENDING_EVENTS} unwritten events because the store is unavailable`,
          { retryable: true },
        ),
      )
      return false
    }
    return true
  }

  /** Resolves when everything added so far is stored; rejects when it can no longer be. */
  settled(): Promise<void> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost)
    if (this.isEmpty) return Promise.resolve()
    return new Promise((resolve, reject) => {
      const waiters = this.#hasNothingNew ? this.#sentWaiters : this.#waiters
      waiters.push({ resolve, reject })
    })
  }

  /** Returns the write to send now: the unconfirmed one, otherwise one with all waiting data. */
  take(): RunWrite | undefined {
    if (this.#lost !== undefined) return undefined
    if (this.#sent !== undefined) return this.#sent
    if (this.#hasNothingNew) return undefined
    this.#writeNo += 1
    this.#sent = {
      runId: this.runId,
      token: this.#options.token,
      writeNo: this.#writeNo,
      events: this.#events,
      steps: this.#steps,
      stepEvents: this.#stepEvents,
      ...(this.#answers.length === 0 ? {} : { answers: this.#answers }),
      stored: this.#stored,
    }
    this.#events = []
    this.#steps = []
    this.#stepEvents = []
    this.#answers = []
    this.#openTexts.clear()
    this.#sentWaiters = this.#waiters
    this.#waiters = []
    return this.#sent
  }

  /** Processes the result of the write that was sent. An unconfirmed write is sent again. */
  settle(result: WriteResult | undefined): void {
    if (this.#lost !== undefined || result?.kind === 'unavailable') return
    if (result?.kind === 'failed') {
      this.#refuse(storeRefused(this.runId, result.error))
      return
    }
    if (result?.kind !== 'written') {
      this.lose(new TuttiError('FENCED', `Run ${this.runId} was taken over by another owner`))
      return
    }
    this.#sent = undefined
    this.#stored.confirm()
    const waiters = this.#sentWaiters
    this.#sentWaiters = []
    for (const { resolve } of waiters) resolve()
  }

  /** Drops all waiting data and accepts no more. */
  lose(reason: TuttiError): void {
    if (this.#lost !== undefined) return
    this.#lost = reason
    this.#drop(reason)
    this.#options.onLost(reason)
  }

  /** Drops the refused write and everything behind it. Its number is free for the next write. */
  #refuse(reason: TuttiError): void {
    this.#writeNo -= 1
    this.#drop(reason)
    this.#options.onRefused(reason)
  }

  #drop(reason: TuttiError): void {
    this.#sent = undefined
    this.#events = []
    this.#steps = []
    this.#stepEvents = []
    this.#answers = []
    this.#openTexts.clear()
    const waiters = [...this.#sentWaiters, ...this.#waiters]
    this.#sentWaiters = []
    this.#waiters = []
    for (const { reject } of waiters) reject(reason)
  }

  get #hasNothingNew(): boolean {
    return this.#events.length === 0 && this.#steps.length === 0 && this.#answers.length === 0
  }

  #addEvent(event: RunEvent): void {
    if (isStreamedText(event)) {
      this.#addText(event)
      return
    }
    this.#openTexts.clear()
    this.#events.push(event)
  }

  #addText(event: StreamedText): void {
    const at = this.#openTexts.get(event.taskIndex)
    const open = at === undefined ? undefined : this.#events[at]
    const joined = open === undefined ? undefined : joinTexts(open, event)
    if (at !== undefined && joined !== undefined) this.#events[at] = joined
    else this.#openTexts.set(event.taskIndex, this.#events.push(event) - 1)
  }
}

/** An event with a part of a text that a model streams. */
export type StreamedText = RunEventOf<'token' | 'reasoning'>

/** Whether an event is a part of a streamed text, which waits to be joined with the next parts. */
export function isStreamedText(event: RunEvent): event is StreamedText {
  return event.type === 'token' || event.type === 'reasoning'
}

/** Returns the event of both parts; undefined when the second does not continue the first. */
function joinTexts(open: RunEvent, next: StreamedText): StreamedText | undefined {
  if (!isStreamedText(open)) return undefined
  if (open.attempt !== next.attempt || open.iterationIndex !== next.iterationIndex) return undefined
  if (open.type === 'token' && next.type === 'token') {
    return { ...open, token: open.token + next.token }
  }
  if (open.type === 'reasoning' && next.type === 'reasoning') {
    return { ...open, text: open.text + next.text }
  }
  return undefined
}
