/**
 * One tool body in flight, against its time limit and its caller's signal, whichever ends first.
 *
 * CORE-R1 A throw of the tool body becomes a failed result; it never reaches the caller. Early exit and
 *    misconfiguration are told apart from it by the end of the outcome.
 * CORE-R2 A call ends at its time limit, also when the tool ignores its signal.
 * CORE-R3 When the caller's signal aborts, the tool's signal aborts at once; the outcome waits for the tool
 *    to stop, at most `graceMs` or what the tool says it needs, and says when it was abandoned.
 * CORE-R7 A call begins once, just before its body does anything, and the body waits until whoever is told of
 *    it has agreed; the time limit stands still meanwhile. A call that nobody needs any more does not
 *    begin, and one that was not let begin ends as if its body had thrown why.
 *
 * Most bodies are done at once. The timer and the listener on the caller's signal cost more than such
 * a call, so they are set when the body asks for its signal, or has not ended a few microtasks later:
 * before that nothing can have aborted without the body's knowing, and no time has passed.
 */
import { systemClock } from '../clock.ts'
import { errorMessage, TuttiError } from '../errors.ts'
import { isPromise } from '../is-promise.ts'
import { silentLogger } from '../logger.ts'
import { ToolResult } from '../tool-result.ts'
import { reportsOwnBegin } from './begin.ts'
import { Deadline } from './deadline.ts'
import { CANCEL_GRACE_MS, type RunToolOptions } from './options.ts'

import type { Limiter } from '../limiter.ts'
import type { LogFields } from '../logger.ts'
import type { AgentTool, Remaining, ToolContext } from '../tool.ts'
import type { ToolCall, ToolCallEnd, ToolCallOutcome } from './outcome.ts'

/** How a body ended: an outcome without its times. */
export type Ended = Pick<ToolCallOutcome, 'result' | 'end' | 'error'>

/** What is to be run. */
export interface CallToRun {
  readonly tool: AgentTool
  readonly call: ToolCall
  /** The parsed arguments. */
  readonly input: unknown
  readonly options: RunToolOptions
  /** The call that this one is a part of. */
  readonly parent?: RunningCall
}

/** A call that is being made; `run` makes it. */
export class RunningCall {
  readonly tool: AgentTool
  readonly call: ToolCall
  readonly input: unknown
  readonly options: RunToolOptions
  /** Steps in flight, by name: named when this call does not stop because of them. */
  readonly steps = new Map<string, string>()
  /** Steps made so far. */
  stepCount = 0
  /** Whether a step went on against its signal: this call then has not stopped either. */
  hasAbandonedStep = false
  readonly #parent: RunningCall | undefined
  readonly #deadline: Deadline
  #controller: AbortController | undefined
  #stopReason: { readonly value: unknown } | undefined
  #stopGrace: (() => void) | undefined
  #onEnd: ((ended: Ended) => void) | undefined
  #watching = false
  #begun = false
  #over = false

  constructor({ tool, call, input, options, parent }: CallToRun) {
    this.tool = tool
    this.call = call
    this.input = input
    this.options = options
    this.#parent = parent
    this.#deadline = new Deadline(options.clock ?? systemClock, tool.timeoutMs, () => {
      this.#timeOut()
    })
  }

  /** Whether the call has its outcome: what the body does after that is nobody's business. */
  get over(): boolean {
    return this.#over
  }

  /** Whether the body, or that of the call which this one is a part of, has begun to do something. */
  get hasBegun(): boolean {
    return this.#parent?.hasBegun ?? this.#begun
  }

  /** Whether the call can be cut off now and made again without repeating the step of another tool. */
  get isRepeatable(): boolean {
    return this.tool.idempotent && this.#parent === undefined && this.stepCount === 0
  }

  /** The signal of the body, made when the body first asks for it. */
  get signal(): AbortSignal {
    this.#watch()
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#stopReason !== undefined) this.#controller.abort(this.#stopReason.value)
    }
    return this.#controller.signal
  }

  /** Whether this call, or one that it is a part of, has a turn of the limiter. */
  holds(limiter: Limiter): boolean {
    return this.tool.limiter === limiter || this.#parent?.holds(limiter) === true
  }

  /** Stops the time limits of this call and of those it is a part of; the returned function undoes it. */
  pause(): () => void {
    this.#deadline.pause()
    const resumeParent = this.#parent?.pause()
    return () => {
      this.#deadline.resume()
      resumeParent?.()
    }
  }

  /** What the call may still use: what its surroundings leave it, within its time and that of the whole. */
  remaining(): Remaining {
    const { timeMs, costUsd, tokens } = this.#parent?.remaining() ?? this.#surroundingsLeave()
    return { timeMs: Math.min(timeMs, this.#deadline.leftMs()), costUsd, tokens }
  }

  #surroundingsLeave(): Remaining {
    return this.options.remaining?.() ?? NO_LIMIT
  }

  /**
   * Tells, once, that the body is about to do something; the body waits for what this returns. A part of
   * another call tells nothing.
   */
  begin(): Promise<void> | undefined {
    if (this.#begun) return undefined
    this.#begun = true
    const { onBegin } = this.options
    if (onBegin === undefined || this.#parent !== undefined) return undefined
    this.#assertWanted()
    const telling = onBegin(this.call, this.tool)
    return isPromise(telling) ? this.#permitted(telling) : undefined
  }

  /** Makes the call, and tells how it ended, once. Never throws. */
  run(context: ToolContext, onEnd: (ended: Ended) => void): void {
    if (this.#isCancelled) {
      onEnd(this.#cancelled('cancelled'))
      return
    }
    this.#onEnd = onEnd
    this.#callBody(context).then(
      (result) => {
        this.#finish(this.#isCancelled ? this.#cancelled('cancelled') : { result, end: 'finished' })
      },
      (error: unknown) => {
        if (this.#over) this.#logThrow(error)
        this.#finish(this.#isCancelled ? this.#cancelled('cancelled') : this.#thrown(error))
      },
    )
    afterMicrotasks(4, () => {
      this.#deadline.start()
      this.#watch()
    })
  }

  /** The caller's signal aborted; an `EventListener` needs no closure for each call. */
  handleEvent(): void {
    const { signal, clock = systemClock, graceMs = CANCEL_GRACE_MS } = this.options
    const { graceMs: needed = 0 } = this.tool
    this.#deadline.end()
    this.#stop(signal?.reason)
    this.#stopGrace = clock.after(Math.max(graceMs, needed), () => {
      this.#finish(this.#cancelled('abandoned'))
    })
  }

  /** Sees to it that an abort of the caller's signal arrives, from now on. */
  #watch(): void {
    const { signal } = this.options
    if (this.#watching || this.#over || signal === undefined) return
    this.#watching = true
    if (signal.aborted) this.handleEvent()
    else signal.addEventListener('abort', this, { once: true })
  }

  get #isCancelled(): boolean {
    return this.options.signal?.aborted === true
  }

  #callBody(context: ToolContext): Promise<ToolResult> {
    try {
      const beginning = reportsOwnBegin(this.tool) ? undefined : this.begin()
      return beginning === undefined
        ? Promise.resolve(this.tool.call(this.input, context))
        : beginning.then(() => this.tool.call(this.input, context))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  async #permitted(telling: PromiseLike<void>): Promise<void> {
    const resume = this.pause()
    try {
      await telling
    } finally {
      resume()
    }
    this.#assertWanted()
  }

  /** Keeps a body from running whose call was cancelled, or is over. */
  #assertWanted(): void {
    this.options.signal?.throwIfAborted()
    if (this.#over) throw new DOMException('The call has ended', 'AbortError')
  }

  #timeOut(): void {
    const { name, timeoutMs } = this.tool
    const message = `Tool "${name}" timed out after ${timeoutMs} ms${this.#stepsInFlight()}`
    this.#stop(new DOMException(message, 'TimeoutError'))
    this.#finish({ result: ToolResult.failure(message), end: 'timed_out' })
  }

  #stop(reason: unknown): void {
    this.#stopReason = { value: reason }
    this.#controller?.abort(reason)
  }

  #finish(ended: Ended): void {
    if (this.#over) return
    this.#over = true
    this.#deadline.end()
    this.#stopGrace?.()
    if (this.#watching) this.options.signal?.removeEventListener('abort', this)
    this.#onEnd?.(ended)
  }

  #thrown(error: unknown): Ended {
    const result = ToolResult.failure(errorMessage(error))
    if (TuttiError.isInstance(error)) {
      const end = ENDS[error.code]
      if (end === 'finished') return { result, end }
      if (end !== undefined) return { result, end, error }
    }
    this.#logThrow(error)
    return { result, end: 'threw' }
  }

  #logThrow(error: unknown): void {
    logWarning(this.options, 'Tool threw', { tool: this.tool.name, callId: this.call.id, error })
  }

  #cancelled(stopped: 'cancelled' | 'abandoned'): Ended {
    const end = this.hasAbandonedStep ? 'abandoned' : stopped
    const how =
      end === 'abandoned'
        ? `was abandoned: it ignored its signal${this.#stepsInFlight()}`
        : 'was cancelled'
    return { result: ToolResult.failure(`Tool "${this.tool.name}" ${how}`), end }
  }

  #stepsInFlight(): string {
    const names = [...this.steps.values()].map((name) => `"${name}"`)
    return names.length === 0 ? '' : ` (in flight: ${names.join(', ')})`
  }
}

const NO_LIMIT: Remaining = { timeMs: Infinity, costUsd: Infinity, tokens: Infinity }

function afterMicrotasks(count: number, callback: () => void): void {
  queueMicrotask(() => {
    if (count === 1) callback()
    else afterMicrotasks(count - 1, callback)
  })
}

/** How a call ends that throws an error of these codes; with any other the tool broke. */
const ENDS: Readonly<Partial<Record<TuttiError['code'], ToolCallEnd>>> = {
  EXIT_EARLY: 'exit_early',
  TOOL_CONFIGURATION: 'misconfigured',
  TOOL_REJECTED: 'finished',
  TOOL_INPUT_INVALID: 'finished',
}

/** Warns of something; a logger that throws is no reason to fail. */
function logWarning(
  { logger = silentLogger }: RunToolOptions,
  message: string,
  fields: LogFields,
): void {
  try {
    logger.warn(message, fields)
  } catch {
    // There is nowhere left to say it.
  }
}

/** Calls a listener. An error that it throws is logged and ignored; `name` is the listener in the log. */
export function callListener(options: RunToolOptions, name: string, listener: () => void): void {
  try {
    listener()
  } catch (error) {
    logWarning(options, 'Listener threw', { listener: name, error })
  }
}
