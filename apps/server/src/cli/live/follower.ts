/**
 * Follows a run: shows its progress, asks for decisions on its reviews, and handles the keyboard and signals.
 *
 *     events ─▶ RunState ─▶ display          keys, signals ─▶ cancel · leave · ask
 *                  └─▶ open reviews
 *
 * Other modules define the look of a run (`display.ts`), the prompt of a review (`./review-prompt.ts`), and the exit
 * code of an end (`follow-command.ts`).
 *
 * SERVER-W1 However the command ends, the terminal is restored, and no listener or timer is left.
 * SERVER-W2 A run is cancelled only on request: with `y`, or by a signal when the command cannot prompt. A lost
 *    connection, a closed pipe or a closed terminal does not cancel it.
 * SERVER-W3 A cancel that could not be sent is sent again when the server is back; the run is followed until it is
 *    over.
 * SERVER-W4 The command asks about a review only while it is open: not about a past one, and no longer about one that
 *    another reviewer decides meanwhile.
 */
import { RunStateFold, type LoggedRunEvent, type RunState } from '@tutti/protocol'
import { TuttiClientError, type ConnectionState, type TuttiClient } from '@tutti/client'

import { CommandError } from '../command-error.ts'
import { toTerminalJson, writeOut } from '../../terminal/print.ts'
import { Cancelling } from './cancelling.ts'
import { Keys, stopJob, type Key } from './keys.ts'
import { ReviewQueue } from './review-queue.ts'

import type { CommandIo } from '../../terminal/command-io.ts'
import type { Display } from './display.ts'
import type { SignalInbox } from '../../terminal/signal-inbox.ts'

/** Run to follow, and how. */
export interface FollowerOptions {
  readonly client: TuttiClient
  readonly io: CommandIo
  readonly runId: string
  readonly display: Display
  /** Whether the user has a keyboard and a live view. */
  readonly isInteractive: boolean
  /** Effect of Ctrl-C and signals: cancel the run that this command has started, or only leave. */
  readonly onSignal: 'cancel' | 'leave'
  /** Whether to leave when the run can only wait for a review. */
  readonly leavesAtReview: boolean
  /** `seq` of the first event to write to standard output; undefined for none. */
  readonly eventsFrom: number | undefined
  /** `seq` of the first new event; reviews of earlier events may have been decided. */
  readonly liveFrom: number
  readonly maxReconnects: number
  readonly signals: SignalInbox
}

/** Reason why following stopped: the run ended, or the viewer left earlier. */
export type FollowEnd =
  | { readonly kind: 'over'; readonly state: RunState }
  | { readonly kind: Leaving; readonly state: RunState }

/** Reason to leave before the run is over: on request, or because a review cannot be decided here. */
export type Leaving = 'left' | 'waiting'

/** Follows the run until it is over or the user leaves. @throws {TuttiClientError} when the server refuses a request. */
export async function followToEnd(request: FollowerOptions): Promise<FollowEnd> {
  return new Follower(request).follow()
}

class Follower {
  readonly #request: FollowerOptions
  readonly #leaving = new AbortController()
  readonly #keys: Keys
  readonly #reviews: ReviewQueue
  readonly #cancelling: Cancelling
  readonly #run = new RunStateFold()
  /** Ids of the open reviews. */
  readonly #open = new Set<string>()
  #isLive = false
  #left: Leaving | undefined
  #isAsking = false
  #forgetStop = (): void => {}

  constructor(request: FollowerOptions) {
    this.#request = request
    const { isInteractive, leavesAtReview, ...parts } = request
    this.#keys = new Keys(parts.io, (key) => this.#onKey(key))
    this.#reviews = new ReviewQueue({
      ...parts,
      canAsk: isInteractive && !leavesAtReview,
      suspend: () => this.#suspend(),
      resume: () => this.#resume(),
    })
    this.#cancelling = new Cancelling(request, () => this.#leave('left'))
  }

  async follow(): Promise<FollowEnd> {
    const { isInteractive, signals } = this.#request
    if (isInteractive) this.#keys.open()
    signals.listen((signal) => this.#onSignal(signal))
    try {
      await this.#read()
    } finally {
      signals.hold()
      this.#forgetStop()
      this.#cancelling.stop()
      await this.#reviews.close()
      this.#keys.close()
      this.#request.display.end(
        this.#left === undefined && isOver(this.#run.state) ? 'over' : 'left',
      )
    }
    return { kind: this.#left ?? 'over', state: this.#run.state }
  }

  async #read(): Promise<void> {
    const { client, runId } = this.#request
    const events = client.runs.events(runId, {
      signal: this.#leaving.signal,
      onConnection: (state) => this.#onConnection(state),
    })
    try {
      for await (const event of events) await this.#apply(event)
    } catch (error) {
      if (this.#left === undefined) throw error
    }
  }

  async #apply(event: LoggedRunEvent): Promise<void> {
    const { io, display, eventsFrom, liveFrom, leavesAtReview } = this.#request
    this.#run.take(event)
    display.show(event, this.#run)
    if (eventsFrom !== undefined && event.seq >= eventsFrom) {
      await writeOut(io, `${toTerminalJson(event)}\n`)
    }
    if (event.type === 'run_result') this.#ask(undefined)
    const hasChanged = this.#trackReview(event)
    if (event.seq < liveFrom) return
    // Reviews of earlier events may be open.
    if (hasChanged || !this.#isLive) this.#reviews.update(this.#run.state)
    this.#isLive = true
    const mayWait = leavesAtReview && this.#open.size > 0
    if (mayWait && this.#run.state.status === 'WAITING_REVIEW') this.#leave('waiting')
  }

  /** Returns whether the event opens or closes a review. */
  #trackReview(event: LoggedRunEvent): boolean {
    switch (event.type) {
      case 'review_requested':
        this.#open.add(event.reviewId)
        return true
      case 'review_decided':
      case 'review_timed_out':
      case 'review_withdrawn':
        this.#open.delete(event.reviewId)
        return true
      default:
        return false
    }
  }

  #onConnection(state: ConnectionState): void {
    const { display, maxReconnects } = this.#request
    display.connection(state)
    if (state.status !== 'reconnecting' || state.attempt <= maxReconnects) return
    throw new CommandError(
      'UNREACHABLE',
      `Lost the connection to the server: ${state.error.message}`,
      [`When the server is back: tutti watch ${this.#request.runId}`],
    )
  }

  #onKey(key: Key): void {
    if (key === 'ctrl-c') this.#onInterrupt()
    else if (key === 'ctrl-z') this.#stopJob()
    else if (this.#isAsking) this.#onAnswer(key)
    else if (key === 'r') this.#reviews.askAgain(this.#run.state)
  }

  /** Handles Ctrl-C: asks whether to cancel the run, or leaves if there is no question to ask. */
  #onInterrupt(): void {
    const { onSignal } = this.#request
    if (onSignal === 'leave' || this.#isAsking || this.#cancelling.isRequested) this.#leave('left')
    else this.#ask('Cancel the run?  [y]es  [n]o, continue  [l]eave it running')
  }

  #onAnswer(key: Key): void {
    const answer = key.toLowerCase()
    if (answer === 'l') return this.#leave('left')
    if (answer === 'y') this.#cancelling.begin()
    if (answer === 'y' || answer === 'n' || answer === 'escape') this.#ask(undefined)
  }

  #ask(question: string | undefined): void {
    this.#isAsking = question !== undefined
    this.#request.display.question(question)
  }

  #onSignal(signal: 'SIGINT' | 'SIGTERM'): void {
    const { isInteractive, onSignal } = this.#request
    // In an open editor, Ctrl-C is a key of the editor.
    if (signal === 'SIGINT' && this.#reviews.isAsking) return
    if (onSignal === 'leave') this.#leave('left')
    else if (signal === 'SIGINT' && isInteractive) this.#onInterrupt()
    else this.#cancelling.beginBySignal()
  }

  /** Suspends this process as a job of the shell, and continues the view afterwards. */
  #stopJob(): void {
    if (process.platform === 'win32') return
    this.#forgetStop()
    this.#suspend()
    this.#forgetStop = stopJob(() => this.#resume())
  }

  #suspend(): void {
    this.#request.display.suspend()
    this.#keys.close()
  }

  #resume(): void {
    if (this.#request.isInteractive) this.#keys.open()
    this.#request.display.resume()
  }

  #leave(reason: Leaving): void {
    this.#left ??= reason
    this.#leaving.abort(new TuttiClientError('ABORTED', 'Left'))
  }
}

function isOver({ status }: RunState): boolean {
  return status === 'COMPLETED' || status === 'FAILED' || status === 'CANCELLED'
}
