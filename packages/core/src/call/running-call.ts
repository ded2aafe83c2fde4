/**
 * Tool body in flight, with its time limit and the signal of its caller.
 *
 * CORE-R1 An error that the tool body throws becomes a failed result and never reaches the caller. Early exit and
 *    misconfiguration are distinguished by the end of the outcome.
 * CORE-R2 A call ends at its time limit, even when the tool ignores its signal.
 * CORE-R3 When the caller's signal aborts, the tool's signal aborts at once. The outcome waits for the tool to stop, up to
 *    the larger of `graceMs` of the options and of the tool, and says whether the call was abandoned.
 * CORE-R7 A call begins once, just before its body acts, and the body waits until the `onBegin` listener has agreed; the
 *    time limit is paused meanwhile. A call that was cancelled or has ended does not begin. A call that the listener
 *    refuses ends as if its body had thrown the error.
 *
 * Most bodies end at once. The timer and the listener on the caller's signal cost more than such a call, so they are set up
 * only when the body reads its signal or has not ended after a few microtasks. Before that, only the body itself could have
 * caused an abort, and no time has passed.
 */
import { previewOf } from '@tutti/protocol/internal'

import { systemClock } from '../clock.ts'
import { errorMessage, TuttiError } from '../errors.ts'
import { isPromise } from '../is-promise.ts'
import { silentLogger } from '../logger.ts'
import { isToolResult, ToolResult } from '../tool/tool-result.ts'
import { describeJson } from './model-text.ts'
import { reportsOwnBegin } from '../tool/begin.ts'
import { Deadline } from './deadline.ts'
import { takePartialOutput } from './partial-output.ts'
import { CANCEL_GRACE_MS, type RunToolOptions } from './options.ts'

import type { Limiter } from '../limiter.ts'
import type { LogFields } from '../logger.ts'
import type { AgentTool, Remaining, ToolContext } from '../tool/tool.ts'
import type { EditedInput, ToolCall, ToolCallEnd, ToolCallOutcome } from '../tool/outcome.ts'

/** Outcome without its times. */
export type Ended = Pick<ToolCallOutcome, 'result' | 'end' | 'error' | 'edits'>

export interface CallToRun {
  readonly tool: AgentTool
  readonly call: ToolCall
  /** The parsed arguments. */
  readonly input: unknown
  readonly options: RunToolOptions
  readonly idempotencyKey: string
  /** Call that this one is a step of. */
  readonly parent?: RunningCall
  /** Called with the outcome before its slots are returned. Must not throw. */
  readonly onOutcome?: ((outcome: ToolCallOutcome) => void) | undefined
}

/** Call in flight; started by `run`. */
export class RunningCall {
  readonly tool: AgentTool
  readonly call: ToolCall
  readonly input: unknown
  readonly options: RunToolOptions
  readonly idempotencyKey: string
  /** Number of steps started so far. */
  stepCount = 0
  /** Tool names of the steps in flight, by step name; listed when this call does not stop because of them. */
  #steps: Map<string, string> | undefined
  /** Whether a step ignored its signal: then this call has not stopped either. */
  #hasAbandonedStep = false
  #edits: EditedInput[] | undefined
  readonly #parent: RunningCall | undefined
  readonly #deadline: Deadline
  #controller: AbortController | undefined
  #stopReason: { readonly value: unknown } | undefined
  #stopGrace: (() => void) | undefined
  #onEnd: ((ended: Ended) => void) | undefined
  #watching = false
  #begun = false
  #over = false

  constructor({ tool, call, input, options, idempotencyKey, parent }: CallToRun) {
    this.tool = tool
    this.call = call
    this.input = input
    this.options = options
    this.idempotencyKey = idempotencyKey
    this.#parent = parent
    this.#deadline = new Deadline(options.clock ?? systemClock, tool.timeoutMs, () => {
      this.#timeOut()
    })
  }

  /** Whether the call has its outcome; anything that the body does afterwards is ignored. */
  get over(): boolean {
    return this.#over
  }

  /** Whether the body of this call, or of the call that it is a step of, has begun. */
  get hasBegun(): boolean {
    return this.#parent?.hasBegun ?? this.#begun
  }

  /** Whether the call can be interrupted now and repeated without repeating a step of another tool. */
  get isRepeatable(): boolean {
    return this.tool.idempotent && this.#parent === undefined && this.stepCount === 0
  }

  /** Signal of the body, created on first use. */
  get signal(): AbortSignal {
    this.#watch()
    if (this.#controller === undefined) {
      this.#controller = new AbortController()
      if (this.#stopReason !== undefined) this.#controller.abort(this.#stopReason.value)
    }
    return this.#controller.signal
  }

  /** Whether this call, or one that it is a step of, holds a slot of the limiter. */
  holds(limiter: Limiter): boolean {
    return this.tool.limiter === limiter || this.#parent?.holds(limiter) === true
  }

  /** Records a step in flight. */
  beginStep(name: string, tool: AgentTool): void {
    this.#steps ??= new Map()
    this.#steps.set(name, tool.name)
  }

  /** Records the end of a step. A step that ignored its signal is still in flight. */
  endStep(name: string, { end }: ToolCallOutcome): void {
    if (end === 'abandoned') this.#hasAbandonedStep = true
    else this.#steps?.delete(name)
  }

  /** Records an input with which a reviewer replaced that of this call; it is also an edit of the whole call. */
  recordEdit(input: unknown): void {
    if (!isSameJson(input, this.input))
      this.#addEdit({ toolName: this.tool.name, isStep: false, input })
  }

  #addEdit(edit: EditedInput): void {
    this.#edits ??= []
    this.#edits.push(edit)
    if (this.#parent !== undefined) this.#parent.#addEdit({ ...edit, isStep: true })
  }

  /** Pauses the time limits of this call and of those that it is a step of; returns the function that resumes them. */
  pause(): () => void {
    this.#deadline.pause()
    const resumeParent = this.#parent?.pause()
    return () => {
      this.#deadline.resume()
      resumeParent?.()
    }
  }

  /** Returns the remaining limits of the call, its task and its run, within its time limit and that of its parent. */
  remaining(): Remaining {
    const { timeMs, costUsd, tokens } = this.#parent?.remaining() ?? this.#remainingOutside()
    return { timeMs: Math.min(timeMs, this.#deadline.leftMs()), costUsd, tokens }
  }

  #remainingOutside(): Remaining {
    return this.options.remaining?.() ?? NO_LIMIT
  }

  /**
   * Notifies `onBegin`, once, that the body is about to act; the body waits for the returned promise. Steps of another
   * call do not notify.
   */
  begin(): Promise<void> | undefined {
    if (this.#begun) return undefined
    this.#begun = true
    const { onBegin } = this.options
    if (onBegin === undefined || this.#parent !== undefined) return undefined
    this.#assertWanted()
    const listening = onBegin(this.call, this.tool)
    return isPromise(listening) ? this.#awaitListener(listening) : undefined
  }

  /** Runs the call and passes its end to `onEnd`, once. Never throws. */
  run(context: ToolContext, onEnd: (ended: Ended) => void): void {
    if (this.#isCancelled) {
      onEnd(this.#cancelled('cancelled'))
      return
    }
    this.#onEnd = onEnd
    this.#callBody(context).then(
      (result) => {
        this.#finish(this.#isCancelled ? this.#cancelled('cancelled') : this.#returned(result))
      },
      (error: unknown) => {
        if (this.#over) this.#logThrow(error)
        this.#finish(this.#isCancelled ? this.#cancelled('cancelled') : this.#thrown(error))
      },
    )
    void this.#superviseLater()
  }

  /** Sets up the timer and the listener unless the call ends within a few microtasks. */
  async #superviseLater(): Promise<void> {
    for (let turn = 0; turn < 4; turn += 1) {
      if (this.#over) return
      await NEXT_MICROTASK
    }
    this.#deadline.start()
    this.#watch()
  }

  /** Handles the abort of the caller's signal; an `EventListener` object avoids a closure for each call. */
  handleEvent(): void {
    const { signal, clock = systemClock, graceMs = CANCEL_GRACE_MS } = this.options
    const { graceMs: needed = 0 } = this.tool
    this.#deadline.end()
    this.#stop(signal?.reason)
    this.#stopGrace = clock.after(Math.max(graceMs, needed), () => {
      this.#finish(this.#cancelled('abandoned'))
    })
  }

  /** Starts to listen for an abort of the caller's signal. */
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

  async #awaitListener(listening: PromiseLike<void>): Promise<void> {
    const resume = this.pause()
    try {
      await listening
    } finally {
      resume()
    }
    this.#assertWanted()
  }

  /** Throws when the call was cancelled or has ended, so that its body does not run. */
  #assertWanted(): void {
    this.options.signal?.throwIfAborted()
    if (this.#over) throw new DOMException('The call has ended', 'AbortError')
  }

  #timeOut(): void {
    const { name, timeoutMs } = this.tool
    const message = `Tool "${name}" timed out after ${timeoutMs} ms${this.#stepsInFlight()}`
    const reason = new DOMException(message, 'TimeoutError')
    this.#stop(reason)
    const output = takePartialOutput(reason)
    const shown = output === '' ? message : `${message}. Output until then:\n${output}`
    this.#finish({ result: ToolResult.failure(shown), end: 'timed_out' })
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
    this.#onEnd?.(this.#edits === undefined ? ended : { ...ended, edits: this.#edits })
  }

  /** NOTE: a tool that `defineTool` did not create can return anything. */
  #returned(result: unknown): Ended {
    if (isToolResult(result)) return { result, end: 'finished' }
    const message = `Tool "${this.tool.name}" returned no result, got ${previewOf(result)}`
    return { result: ToolResult.failure(message), end: 'threw' }
  }

  #thrown(error: unknown): Ended {
    const result = ToolResult.failure(errorMessage(error))
    if (TuttiError.isInstance(error)) {
      const end = findEnd(error)
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
    const end = this.#hasAbandonedStep ? 'abandoned' : stopped
    const how =
      end === 'abandoned'
        ? `was abandoned: it ignored its signal${this.#stepsInFlight()}`
        : 'was cancelled'
    return { result: ToolResult.failure(`Tool "${this.tool.name}" ${how}`), end }
  }

  #stepsInFlight(): string {
    const names = [...(this.#steps?.values() ?? [])].map((name) => `"${name}"`)
    return names.length === 0 ? '' : ` (in flight: ${names.join(', ')})`
  }
}

function isSameJson(one: unknown, other: unknown): boolean {
  return describeJson(one) === describeJson(other)
}

const NO_LIMIT: Remaining = { timeMs: Infinity, costUsd: Infinity, tokens: Infinity }

const NEXT_MICROTASK = Promise.resolve()

/** End of a call whose body throws an error with one of these codes; with any other code it is `threw`. */
const ENDS: Readonly<Partial<Record<TuttiError['code'], ToolCallEnd>>> = {
  EXIT_EARLY: 'exit_early',
  TOOL_CONFIGURATION: 'misconfigured',
  TOOL_REJECTED: 'finished',
  TOOL_INPUT_INVALID: 'finished',
}

/** Returns the end of a call whose body threw the error; undefined for any other code. */
function findEnd(error: TuttiError): ToolCallEnd | undefined {
  try {
    return ENDS[error.code]
  } catch {
    // NOTE: the brand does not prove the class, so the code can be a getter that throws.
    return undefined
  }
}

/** Logs a warning; a logger that throws must not fail the call. */
function logWarning(
  { logger = silentLogger }: RunToolOptions,
  message: string,
  fields: LogFields,
): void {
  try {
    logger.warn(message, fields)
  } catch {
    // The error cannot be logged anywhere.
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
