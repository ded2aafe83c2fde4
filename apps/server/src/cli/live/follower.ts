/**
 * Follows a run: shows its progress, has its reviews answered, and heeds the keyboard and signals.
 *
 *     events ─▶ RunState ─▶ display          keys, signals ─▶ cancel · leave · ask
 *                  └─▶ reviews to be asked about
 *
 * It leaves to its neighbours how a run looks (`display.ts`), how a review is asked about (`../review-prompt.ts`), and
 * what its end means for the exit code (`follow-command.ts`).
 *
 * W1 Whatever way it ends, the terminal is as it was before, and no listener or timer is left.
 * W2 A run is cancelled only when somebody said so: with `y`, or by a signal where nobody can be asked. A lost
 *    connection, a closed pipe or a closed terminal cancels nothing.
 * W3 A cancel that could not be sent is sent again when the server is back; the run is followed until it is over.
 * W4 A review is asked about only while it is open: one of the past is not, nor one that somebody else decides meanwhile.
 */
import { applyRunEvent, emptyRunState, type LoggedRunEvent, type RunState } from '@tutti/protocol'
import { TuttiClientError, type ConnectionState, type TuttiClient } from '@tutti/client'

import { CommandError } from '../command-error.ts'
import { toTerminalJson, writeOut } from '../text/print.ts'
import { Cancelling } from './cancelling.ts'
import { Keys, stopJob, type Key } from './keys.ts'
import { ReviewQueue } from './review-queue.ts'

import type { CommandIo } from '../command-io.ts'
import type { Display } from './display.ts'
import type { SignalInbox } from './signal-inbox.ts'

/** What to follow, and how. */
export interface FollowerOptions {
  readonly client: TuttiClient
  readonly io: CommandIo
  readonly runId: string
  readonly display: Display
  /** Whether somebody is at a keyboard, and looks at a live view. */
  readonly isInteractive: boolean
  /** What Ctrl-C and signals do: end the run that this command has started, or only leave. */
  readonly onSignal: 'cancel' | 'leave'
  /** Whether to leave when the run can only wait for a review. */
  readonly leavesAtReview: boolean
  /** Whether each event goes to standard output, from which one on. */
  readonly eventsFrom: number | undefined
  /** First event that happens while it follows; reviews of before it may be decided. */
  readonly liveFrom: number
  readonly maxReconnects: number
  readonly signals: SignalInbox
}

/** How it ended: with the run, or before it. */
export type FollowEnd =
  | { readonly kind: 'over'; readonly state: RunState }
  | { readonly kind: Leaving; readonly state: RunState }

/** Why it ended before the run: asked to, or a review that nobody here gives. */
export type Leaving = 'left' | 'waiting'

/** Follows the run to its end, or until somebody leaves. @throws what the server refuses. */
export async function followToEnd(request: FollowerOptions): Promise<FollowEnd> {
  return new Follower(request).follow()
}

class Follower {
  readonly #request: FollowerOptions
  readonly #leaving = new AbortController()
  readonly #keys: Keys
  readonly #reviews: ReviewQueue
  readonly #cancelling: Cancelling
  #state = emptyRunState()
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
      this.#request.display.end(this.#left === undefined && isOver(this.#state) ? 'over' : 'left')
    }
    return { kind: this.#left ?? 'over', state: this.#state }
  }

  async #read(): Promise<void> {
    const { client, runId } = this.#request
    const events = client.runs.events(runId, {
      signal: this.#leaving.signal,
      onConnection: (state) => this.#onConnection(state),
    })
    try {
      for await (const event of events) await this.#take(event)
    } catch (error) {
      if (this.#left === undefined) throw error
    }
  }

  async #take(event: LoggedRunEvent): Promise<void> {
    const { io, display, eventsFrom, liveFrom, leavesAtReview } = this.#request
    this.#state = applyRunEvent(this.#state, event)
    display.show(event, this.#state)
    if (eventsFrom !== undefined && event.seq >= eventsFrom) {
      await writeOut(io, `${toTerminalJson(event)}\n`)
    }
    if (isOver(this.#state)) this.#ask(undefined)
    if (event.seq < liveFrom) return
    this.#reviews.look(this.#state)
    if (leavesAtReview && this.#state.status === 'WAITING_REVIEW') this.#leave('waiting')
  }

  #onConnection(state: ConnectionState): void {
    const { display, maxReconnects } = this.#request
    display.connection(state)
    if (state.status !== 'reconnecting' || state.attempt <= maxReconnects) return
    throw new CommandError('UNREACHABLE', `The server is away: ${state.error.message}`, [
      `When it is back: tutti watch ${this.#request.runId}`,
    ])
  }

  #onKey(key: Key): void {
    if (key === 'ctrl-c') this.#onInterrupt()
    else if (key === 'ctrl-z') this.#stopJob()
    else if (this.#isAsking) this.#onAnswer(key)
    else if (key === 'r') this.#reviews.askAgain(this.#state)
  }

  /** Ctrl-C: a question when there is something to ask, else the way out. */
  #onInterrupt(): void {
    const { onSignal } = this.#request
    if (onSignal === 'leave' || this.#isAsking || this.#cancelling.isAsked) this.#leave('left')
    else this.#ask('Cancel the run?  [y]es  [n]o, go on  [l]eave it running')
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
    // While somebody edits, Ctrl-C is a key of the editor.
    if (signal === 'SIGINT' && this.#reviews.isAsking) return
    if (onSignal === 'leave') this.#leave('left')
    else if (signal === 'SIGINT' && isInteractive) this.#onInterrupt()
    else this.#cancelling.beginBySignal()
  }

  /** Stops as a job of the shell, and goes on where it was. */
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

  #leave(why: Leaving): void {
    this.#left ??= why
    this.#leaving.abort(new TuttiClientError('ABORTED', 'Left'))
  }
}

function isOver({ status }: RunState): boolean {
  return status === 'COMPLETED' || status === 'FAILED' || status === 'CANCELLED'
}
