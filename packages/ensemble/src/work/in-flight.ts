/**
 * What a run is doing: whether anything is in flight that must not be cut off lightly, and whether all
 * that it does is to wait for people.
 *
 *   task ─▶ works ─▶ rests (for a retry, a turn, a place) ─▶ works ─▶ at a gate ─▶ works ─▶ over
 *               └─▶ so many calls, each of its own: rests ─▶ works ─▶ over
 *
 * It counts threads of work: a task that runs is one, and so is each of the tool calls that a task waits
 * for. A thread works, rests, or is at a gate. It works from the moment at which something begins until
 * all that follows from it has been given to the journal, so that nothing is lost when no thread works.
 * A task that delegates lends its thread to the worker. A tool that asks from inside its body rests while it
 * asks, if its call is repeatable. Otherwise its thread goes on working, as its body must not be cut off.
 *
 * E17 A run that is to stand still begins no model call, tool, handler, guardrail, memory or reflection any
 *     more; what is in flight comes to its end and is kept.
 * E18 Whoever started the run is told each time it comes to do nothing but wait for reviewers.
 * E22 Whoever started the run is also told each time it begins, and ends, to wait for people with every thread,
 *     including threads of tools that ask from inside calls that must not be repeated.
 */
import { stoppedError } from './stopped-error.ts'

/** Both are called in a microtask, never from within a method. */
export interface InFlightOptions {
  /** Called when the run only waits for reviewers and can be released. */
  readonly onWaiting?: (() => void) | undefined
  /** Called when the run begins, and ends, to wait for people with every thread. */
  readonly onWaitingChange?: ((isWaiting: boolean) => void) | undefined
}

/** Counts the threads of one run. */
export class InFlight {
  readonly #options: InFlightOptions
  #threads = 0
  #working = 0
  #atGates = 0
  /** Open questions of bodies that must not be cut off, by call. */
  readonly #asking = new Map<string, number>()
  /** Decisions on their way to a gate. */
  #deciding = 0
  /** Whether it has been told that the run waits, and the run still does. */
  #told = false
  /** Last value passed to {@link InFlightOptions.onWaitingChange}. */
  #toldWaiting = false
  #isDue = false
  #still: PromiseWithResolvers<void> | undefined

  constructor(options: InFlightOptions = {}) {
    this.#options = options
  }

  /** Lets nothing begin any more; resolves when no thread works. */
  standStill(): Promise<void> {
    this.#still ??= Promise.withResolvers<void>()
    this.#changed()
    return this.#still.promise
  }

  /**
   * What somebody who is about to begin has to wait for: nothing, or, when the run is to stand still, the
   * abort of `signal`, which then is an error. `what` begins its message, such as `Model call`.
   */
  heldBack(signal: AbortSignal, what: string): Promise<never> | undefined {
    return this.#still === undefined ? undefined : this.#restUntilStopped(signal, what)
  }

  /** A task begins to run. */
  beginTask(): void {
    this.#threads += 1
    this.#working += 1
    this.#changed()
  }

  /** A task is over, and what follows from that has begun. */
  endTask(): void {
    this.#threads -= 1
    this.#working -= 1
    this.#changed()
  }

  /** A thread begins to wait for something that is not a reviewer. */
  rest(): void {
    this.#working -= 1
    this.#changed()
  }

  /** It goes on. */
  goOn(): void {
    this.#working += 1
  }

  /** A thread begins to wait for a reviewer. */
  toGate(): void {
    this.#atGates += 1
    this.rest()
  }

  /** It goes on. */
  fromGate(): void {
    this.#atGates -= 1
    this.#working += 1
    this.#changed()
  }

  /** The body of a call begins to wait for a reviewer and must not be cut off. */
  beginAsking(call: string): void {
    this.#asking.set(call, (this.#asking.get(call) ?? 0) + 1)
    this.#changed()
  }

  /** One of its questions is closed. */
  endAsking(call: string): void {
    const left = (this.#asking.get(call) ?? 0) - 1
    if (left > 0) this.#asking.set(call, left)
    else this.#asking.delete(call)
    this.#changed()
  }

  /** A decision is on its way. */
  beginDecision(): void {
    this.#deciding += 1
  }

  /** It has arrived, or was refused. */
  endDecision(): void {
    this.#deciding -= 1
    this.#changed()
  }

  /** A thread waits for that many tool calls, at least one. */
  calls<Call extends object>(count: number): CallsInFlight<Call> {
    this.#threads += count - 1
    this.rest()
    return new CallsInFlight(count, {
      isOpen: () => this.#still === undefined,
      onBegin: () => {
        this.#working += 1
      },
      onEnd: ({ hadBegun, isLast }) => {
        if (hadBegun) this.#working -= 1
        if (isLast) this.#working += 1
        else this.#threads -= 1
        this.#changed()
      },
    })
  }

  async #restUntilStopped(signal: AbortSignal, what: string): Promise<never> {
    this.rest()
    try {
      return await untilStopped(signal, what)
    } finally {
      this.goOn()
    }
  }

  #changed(): void {
    if (this.#working === 0) this.#still?.resolve()
    if (!this.#onlyRests) this.#told = false
    const isNews = this.#isWaiting !== this.#toldWaiting || (this.#onlyRests && !this.#told)
    if (isNews && !this.#isDue) this.#tellSoon()
  }

  /** Whether every thread rests at a gate, so that the run can be released. */
  get #onlyRests(): boolean {
    return this.#atGates > 0 && this.#atGates === this.#threads
  }

  /** Whether every thread waits for a person. */
  get #isWaiting(): boolean {
    const waiting = this.#atGates + this.#asking.size
    return waiting > 0 && waiting === this.#threads
  }

  /** What happens at the same moment may end the wait. */
  #tellSoon(): void {
    this.#isDue = true
    queueMicrotask(() => {
      this.#isDue = false
      const isWaiting = this.#isWaiting && this.#deciding === 0
      if (isWaiting !== this.#toldWaiting) {
        this.#toldWaiting = isWaiting
        this.#options.onWaitingChange?.(isWaiting)
      }
      if (!isWaiting || !this.#onlyRests || this.#told) return
      this.#told = true
      this.#options.onWaiting?.()
    })
  }
}

interface CallsOptions {
  readonly isOpen: () => boolean
  readonly onBegin: () => void
  readonly onEnd: (end: { readonly hadBegun: boolean; readonly isLast: boolean }) => void
}

/** The tool calls that one thread waits for. Each rests until its body begins. */
export class CallsInFlight<Call extends object> {
  readonly #options: CallsOptions
  readonly #begun = new Set<Call>()
  #left: number

  constructor(count: number, options: CallsOptions) {
    this.#left = count
    this.#options = options
  }

  /**
   * A body is about to begin. Gives what it has to wait for when the run is to stand still: see
   * {@link InFlight.heldBack}.
   */
  begin(call: Call, signal: AbortSignal): Promise<never> | undefined {
    const { isOpen, onBegin } = this.#options
    if (!isOpen()) return untilStopped(signal, 'Tool call')
    this.#begun.add(call)
    onBegin()
    return undefined
  }

  /** A call has come to its end, whether it began or not, and the end is kept. */
  end(call: Call): void {
    this.#left -= 1
    this.#options.onEnd({ hadBegun: this.#begun.has(call), isLast: this.#left === 0 })
  }
}

/** Rejects with the reason when `signal` aborts. */
function untilStopped(signal: AbortSignal, what: string): Promise<never> {
  return new Promise((_, reject) => {
    const onAbort = (): void => {
      reject(stoppedError(signal, what))
    }
    if (signal.aborted) onAbort()
    else signal.addEventListener('abort', onAbort, { once: true })
  })
}
