/**
 * Calls MCP tools. Current servers ask questions in results, and the call is repeated with the answers; older servers
 * send questions as separate requests. Both look the same to the caller.
 *
 * MCP-S1 A call that ends early is cancelled in the way of its protocol era, and its exchange is closed.
 * MCP-S2 A question for anything other than values fails the call.
 * MCP-S3 An error of the caller's `ask` fails the call with that error.
 */
import type { Clock } from '@tutti/core'
import { backoffMs, MAX_TIMER_MS, sleep } from '@tutti/core/internal'

import { toRawArguments } from './exact-messages.ts'
import { McpError } from './mcp-error.ts'
import { raceAbort } from './race-abort.ts'

import type {
  CallToolResult,
  InputRequiredResult,
  Progress,
  Tool,
} from '@modelcontextprotocol/client'
import type { McpConnection } from './mcp-connection.ts'
import type { McpCallScope, McpForm, McpFormAnswer, OpenCalls } from './open-calls.ts'
import type { OpenMcpServer } from './open-server.ts'

export interface McpCallOptions {
  readonly tool: Tool
  readonly args: Readonly<Record<string, unknown>>
  /** Returns the `_meta` of each request. */
  readonly meta: () => Readonly<Record<string, unknown>>
  /** Ends the call immediately, with the signal's reason. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** W3C trace context, sent in a header of each request. @default none */
  readonly traceparent?: string | undefined
  readonly onProgress: (progress: Progress) => void
  /** Called when bytes arrive that may belong to the call. */
  readonly onBytes?: () => void
  /** Answers a question; `signal` aborts when the server no longer waits. */
  readonly ask: (form: McpForm, signal: AbortSignal) => Promise<McpFormAnswer>
  /** Called when a question was declined because it may belong to another call. */
  readonly onDeclined: (form: McpForm, reason: string) => void
}

/** Maximum number of repetitions with answers, because a server may ask forever. */
const MAX_ROUNDS = 100

/** Delays before a call that the server only wants repeated. */
const BACKOFF = { firstMs: 250, maxMs: 8_000 }

/** One call of a tool. Supports a single `run`. */
export class McpToolCall {
  readonly #options: McpCallOptions
  /** Aborts the request, which the SDK cancels in the way of its era. */
  readonly #request = new AbortController()
  /** Closes the exchanges of the call. */
  readonly #closing = new AbortController()
  readonly #failed = Promise.withResolvers<never>()
  readonly #scope: McpCallScope
  #calls: OpenCalls | undefined
  #cancelSent: Promise<void> = Promise.resolve()

  constructor(options: McpCallOptions) {
    const { traceparent, onBytes = () => undefined, onDeclined } = options
    this.#options = options
    this.#failed.promise.catch(() => undefined)
    this.#scope = {
      closing: this.#closing.signal,
      traceparent,
      onBytes,
      onDeclined,
      ask: (form, signal) => this.#ask(form, signal),
      fail: (error) => {
        this.#failed.reject(error)
      },
      onCancelSent: (sending) => {
        this.#cancelSent = sending
      },
    }
  }

  /**
   * Runs the call.
   *
   * @throws {McpError} for every outcome that is not a result.
   * @throws the reason of the signal when it aborts, or the error of `ask`.
   */
  async run(connection: McpConnection): Promise<CallToolResult> {
    const { signal } = this.#options
    const onAbort = (): void => {
      this.#abortRequest()
      this.#closing.abort()
      this.#failed.reject(signal.reason)
    }
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await connection.use(signal, (open) => this.#runOver(open))
    } catch (error) {
      this.#closing.abort()
      throw error
    } finally {
      signal.removeEventListener('abort', onAbort)
    }
  }

  /** Cancels the call and waits until the cancellation was sent or `signal` aborts. Never rejects. */
  async cancel(signal: AbortSignal): Promise<void> {
    this.#abortRequest()
    await raceAbort(this.#cancelSent, signal).catch(() => undefined)
    this.#closing.abort()
  }

  #abortRequest(): void {
    const abort = (): void => this.#request.abort(new Error('The call was cancelled'))
    if (this.#calls === undefined) abort()
    else this.#calls.within(this.#scope, abort)
  }

  #runOver(open: OpenMcpServer): Promise<CallToolResult> {
    this.#calls = open.calls
    return open.calls.run(this.#scope, async () => {
      await raceAbort(open.listen(), this.#request.signal)
      return Promise.race([this.#callInRounds(open), this.#failed.promise])
    })
  }

  async #callInRounds(open: OpenMcpServer): Promise<CallToolResult> {
    const { tool, clock } = this.#options
    let answers: Readonly<Record<string, unknown>> = {}
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      const result = await this.#callOnce(open, answers)
      if (!isInputRequired(result)) return result
      const { inputRequests = {}, requestState } = result
      const inputResponses = await this.#answerAll(inputRequests)
      if (inputResponses === undefined) {
        await sleep(clock, backoffMs(round, BACKOFF), this.#request.signal)
      }
      answers = {
        ...(inputResponses === undefined ? {} : { inputResponses }),
        ...(requestState === undefined ? {} : { requestState }),
      }
    }
    const message = `MCP tool "${tool.name}" requested input more than ${MAX_ROUNDS} times in one call`
    throw new McpError('invalid_response', message)
  }

  async #callOnce(
    { client, callsAnswer }: OpenMcpServer,
    answers: Readonly<Record<string, unknown>>,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { tool, args, meta, onProgress } = this.#options
    // The caller checks the output; the SDK would check it against the declared schema.
    const { name, outputSchema: _unchecked, ...described } = tool
    const params = { name, arguments: toRawArguments(args), _meta: { ...meta() }, ...answers }
    // With `allowInputRequired` the result may also be a question.
    return client.callTool(params, {
      signal: this.#request.signal,
      onprogress: onProgress,
      resetTimeoutOnProgress: true,
      // Disables the time limit of the SDK, which is 60 s; the caller limits the call with its signal.
      timeout: MAX_TIMER_MS,
      maxTotalTimeout: MAX_TIMER_MS,
      ...(callsAnswer ? { allowInputRequired: true } : {}),
      // Lists the arguments that the server also expects in headers (`x-mcp-header`).
      toolDefinition: { ...described, name },
    })
  }

  /** Answers the questions of a result one after the other; returns undefined when there are none. */
  async #answerAll(
    requests: NonNullable<InputRequiredResult['inputRequests']>,
  ): Promise<Readonly<Record<string, McpFormAnswer>> | undefined> {
    const answers: Record<string, McpFormAnswer> = {}
    for (const [key, { method, params }] of Object.entries(requests)) {
      const isForm = method === 'elicitation/create' && 'requestedSchema' in params
      if (!isForm) throw unsupportedInputError(this.#options.tool.name, method, params)
      answers[key] = await this.#ask(params, this.#request.signal)
    }
    return Object.keys(answers).length === 0 ? undefined : answers
  }

  async #ask(form: McpForm, signal: AbortSignal): Promise<McpFormAnswer> {
    try {
      return await this.#options.ask(form, signal)
    } catch (error) {
      if (signal.aborted) return { action: 'cancel' }
      this.#failed.reject(error)
      throw error
    }
  }
}

function unsupportedInputError(name: string, method: string, params: unknown): McpError {
  const isUrl = typeof params === 'object' && params !== null && 'url' in params
  const what = isUrl ? 'a web page to be opened' : method
  const message = `MCP tool "${name}" requires ${what}, which is not supported; it can request only values`
  return new McpError('input_required', message)
}

function isInputRequired(
  result: CallToolResult | InputRequiredResult,
): result is InputRequiredResult {
  return 'resultType' in result && result.resultType === 'input_required'
}
