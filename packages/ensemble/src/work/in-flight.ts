/**
 * Tracks what a run is doing: whether work is in flight that must not be interrupted, and whether the run
 * only waits for people.
 *
 *   task ─▶ works ─▶ pauses (for a retry, a turn, a slot) ─▶ works ─▶ in review ─▶ works ─▶ ended
 *               └─▶ several calls, each its own thread: pauses ─▶ works ─▶ ended
 *
 * It counts threads of work: a running task is one, and so is each tool call that a task waits for. A thread
 * works, pauses, or is in review. It works from the moment at which something begins until the journal has
 * received everything that follows, so that the run can be interrupted without loss when no thread works. A delegating task gives
 * its thread to the worker. A tool that asks from inside its body pauses while it asks, if its call is repeatable. Otherwise its
 * thread keeps working, because its body must not be interrupted.
 *
 * ENS-E17 A draining run begins no model call, tool, handler, guardrail, memory access or reflection; work in
 *    flight ends and is recorded.
 * ENS-E18 The caller is notified each time the run only waits for reviewers.
 * ENS-E22 The caller is also notified each time the run starts or stops waiting for people with all its
 *    threads, including threads of tools that ask from inside non-repeatable calls.
 * ENS-E28 The caller is also notified each time the run starts or stops waiting with all its threads for people or for
 *    agents of other processes. Such an agent may be a run that needs what this run occupies.
 */
import { stoppedError } from './stopped-error.ts'

/** Listeners, which are called in a microtask, never from within a method. */
export interface InFlightOptions {
  /** Called when the run only waits for reviewers and can be released. */
  readonly onWaiting?: (() => void) | undefined
  /** Called when every thread of the run begins to wait for people, and when one continues. */
  readonly onWaitingChange?: ((isWaiting: boolean) => void) | undefined
  /** Called when every thread waits for a person or another agent, at least one for an agent, and when one continues. */
  readonly onAgentWaitChange?: ((isWaiting: boolean) => void) | undefined
}

/** Counts the threads of one run. */
export class InFlight {
  readonly #options: InFlightOptions
  #threads = 0
  #working = 0
  #inReview = 0
  /** Number of open questions from bodies that must not be interrupted, by call. */
  readonly #asking = new Map<string, number>()
  /** Calls of agents of other processes. */
  readonly #agentCalls = new Set<string>()
  /** Number of decisions that have not reached their review yet. */
  #deciding = 0
  /** Whether `onWaiting` has been called for the current wait. */
  #reported = false
  /** Last value passed to {@link InFlightOptions.onWaitingChange}. */
  #reportedWaiting = false
  /** Last value passed to {@link InFlightOptions.onAgentWaitChange}. */
  #reportedAgentWait = false
  #isDue = false
  #drained: PromiseWithResolvers<void> | undefined

  constructor(options: InFlightOptions = {}) {
    this.#options = options
  }

  /** Whether no further work may begin. */
  get isDraining(): boolean {
    return this.#drained !== undefined
  }

  /** Prevents further work from beginning; resolves when no thread works. */
  drain(): Promise<void> {
    this.#drained ??= Promise.withResolvers<void>()
    this.#changed()
    return this.#drained.promise
  }

  /**
   * Returns undefined while work may begin. In a draining run, returns a promise that rejects when `signal`
   * aborts; `what` begins its message, such as `Model call`.
   */
  waitIfDraining(signal: AbortSignal, what: string): Promise<never> | undefined {
    return this.isDraining ? this.#pauseUntilStopped(signal, what) : undefined
  }

  /** Counts a task that begins. */
  beginTask(): void {
    this.#threads += 1
    this.#working += 1
    this.#changed()
  }

  /** Counts a task that has ended, after its followers have begun. */
  endTask(): void {
    this.#threads -= 1
    this.#working -= 1
    this.#changed()
  }

  /** Counts a thread that begins to wait for something other than a reviewer. */
  pause(): void {
    this.#working -= 1
    this.#changed()
  }

  /** Counts a paused thread that continues. */
  resume(): void {
    this.#working += 1
  }

  /** Counts a thread that waits for something other than a reviewer, until the promise resolves. */
  async pauseUntil(end: Promise<void>): Promise<void> {
    this.pause()
    await end
    this.resume()
  }

  /** Counts a thread that begins to wait for a reviewer. */
  toReview(): void {
    this.#inReview += 1
    this.pause()
  }

  /** Counts a thread that continues after a review. */
  fromReview(): void {
    this.#inReview -= 1
    this.#working += 1
    this.#changed()
  }

  /** Counts a question from the body of a call that must not be interrupted. */
  beginAsking(call: string): void {
    this.#asking.set(call, (this.#asking.get(call) ?? 0) + 1)
    this.#changed()
  }

  /** Counts the end of a question from such a call. */
  endAsking(call: string): void {
    const left = (this.#asking.get(call) ?? 0) - 1
    if (left > 0) this.#asking.set(call, left)
    else this.#asking.delete(call)
    this.#changed()
  }

  /** Counts a call of an agent of another process: the thread of the call waits for it. */
  beginAgentCall(call: string): void {
    this.#agentCalls.add(call)
    this.#changed()
  }

  /** Counts the ends of all agent calls whose names begin with `prefix`. */
  endAgentCalls(prefix: string): void {
    for (const call of this.#agentCalls) {
      if (call.startsWith(prefix)) this.#agentCalls.delete(call)
    }
    this.#changed()
  }

  /** Counts a decision that is being made. */
  beginDecision(): void {
    this.#deciding += 1
  }

  /** Counts a decision that was made or rejected. */
  endDecision(): void {
    this.#deciding -= 1
    this.#changed()
  }

  /** Splits a thread into this number of tool calls, at least one. */
  calls<Call extends object>(count: number): CallsInFlight<Call> {
    this.#threads += count - 1
    this.pause()
    return new CallsInFlight(this, count)
  }

  /** Counts the end of a tool call. The thread of the last call continues as that of their task. */
  endCall({ hadBegun, isLast }: { readonly hadBegun: boolean; readonly isLast: boolean }): void {
    if (hadBegun) this.#working -= 1
    if (isLast) this.#working += 1
    else this.#threads -= 1
    this.#changed()
  }

  async #pauseUntilStopped(signal: AbortSignal, what: string): Promise<never> {
    this.pause()
    try {
      return await rejectWhenStopped(signal, what)
    } finally {
      this.resume()
    }
  }

  #changed(): void {
    if (this.#working === 0) this.#drained?.resolve()
    if (!this.#isReleasable) this.#reported = false
    const hasChanged =
      this.#isWaiting !== this.#reportedWaiting ||
      this.#waitsForAgents !== this.#reportedAgentWait ||
      (this.#isReleasable && !this.#reported)
    if (hasChanged && !this.#isDue) this.#reportSoon()
  }

  /** Whether every thread is in review, so that the run can be released. */
  get #isReleasable(): boolean {
    return this.#inReview > 0 && this.#inReview === this.#threads
  }

  /** Whether every thread waits for a person. */
  get #isWaiting(): boolean {
    const waiting = this.#inReview + this.#asking.size
    return waiting > 0 && waiting === this.#threads
  }

  /**
   * Whether every thread waits for a person or an agent. A thread with several calls, or with a question from its call,
   * is counted several times, so a run that only waits is never missed.
   */
  get #waitsForAgents(): boolean {
    const waiting = this.#inReview + this.#asking.size + this.#agentCalls.size
    return this.#agentCalls.size > 0 && waiting >= this.#threads
  }

  /** Reports in a microtask, because the wait may end synchronously. */
  #reportSoon(): void {
    this.#isDue = true
    queueMicrotask(() => {
      this.#isDue = false
      const isWaiting = this.#isWaiting && this.#deciding === 0
      if (isWaiting !== this.#reportedWaiting) {
        this.#reportedWaiting = isWaiting
        this.#options.onWaitingChange?.(isWaiting)
      }
      const waitsForAgents = this.#waitsForAgents
      if (waitsForAgents !== this.#reportedAgentWait) {
        this.#reportedAgentWait = waitsForAgents
        this.#options.onAgentWaitChange?.(waitsForAgents)
      }
      if (!isWaiting || !this.#isReleasable || this.#reported) return
      this.#reported = true
      this.#options.onWaiting?.()
    })
  }
}

/** Tool calls of one thread. Each pauses until its body begins. */
export class CallsInFlight<Call extends object> {
  readonly #inFlight: InFlight
  readonly #begun = new Set<Call>()
  #left: number

  constructor(inFlight: InFlight, count: number) {
    this.#inFlight = inFlight
    this.#left = count
  }

  /** Counts a body that begins. In a draining run, returns a promise like {@link InFlight.waitIfDraining}. */
  begin(call: Call, signal: AbortSignal): Promise<never> | undefined {
    if (this.#inFlight.isDraining) return rejectWhenStopped(signal, 'Tool call')
    this.#begun.add(call)
    this.#inFlight.resume()
    return undefined
  }

  /** Counts the recorded end of a call, whether its body began or not. */
  end(call: Call): void {
    this.#left -= 1
    this.#inFlight.endCall({ hadBegun: this.#begun.has(call), isLast: this.#left === 0 })
  }
}

/** Rejects with the reason of the stop when `signal` aborts. */
function rejectWhenStopped(signal: AbortSignal, what: string): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = (): void => {
      reject(stoppedError(signal, what))
    }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
}
