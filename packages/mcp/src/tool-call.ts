/**
 * A call of an MCP tool. It is repeated with answers as long as its server asks questions in results, as servers of
 * today do; older servers send questions as requests of their own. Both look the same to the caller.
 *
 * S1 A call that ends early is cancelled as its protocol era does it, and its exchange is closed.
 * S2 A question for anything but values fails the call.
 * S3 A question that its caller fails to answer fails the call with that error.
 */
import { sleep, type Clock } from '@tutti/core'

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

/** A call of a tool. */
export interface McpCallOptions {
  readonly tool: Tool
  readonly args: Readonly<Record<string, unknown>>
  /** Returns `_meta` of each request. */
  readonly meta: () => Readonly<Record<string, unknown>>
  /** Ends the call at once, with its reason. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** W3C trace context for a header of each request. @default none */
  readonly traceparent?: string | undefined
  readonly onProgress: (progress: Progress) => void
  /** Called when bytes arrive that may be for the call. */
  readonly onBytes?: () => void
  /** Answers a question; `signal` aborts when the server no longer waits. */
  readonly ask: (form: McpForm, signal: AbortSignal) => Promise<McpFormAnswer>
  /** Called when a question was declined because it may have been for another call. */
  readonly onDeclined: (form: McpForm, reason: string) => void
}

/** Maximum number of repetitions with answers, as a server may never have enough. */
const MAX_ROUNDS = 100

/** Delay before a call that a server only wants repeated, in milliseconds; it doubles up to the maximum. */
const FIRST_PAUSE_MS = 250
const MAX_PAUSE_MS = 8_000

/** The call has its own limit, and that of the SDK would end it after 60 s. */
const LONGEST_TIMER_MS = 2_147_483_647

/** One call, for a single `run`. */
export class McpToolCall {
  readonly #options: McpCallOptions
  /** Cancels the request as its era does it. */
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
   * Makes the call.
   *
   * @throws {McpError} for every outcome that is not a result.
   * @throws the reason of the signal, and the error of a question that could not be answered.
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

  /** Tells the server to stop, and waits until that was sent, at most until `signal` aborts. Never rejects. */
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
      const inputResponses = await this.#answersTo(inputRequests)
      if (inputResponses === undefined) {
        const pauseMs = Math.min(MAX_PAUSE_MS, FIRST_PAUSE_MS * 2 ** round)
        await sleep(clock, pauseMs, this.#request.signal)
      }
      answers = {
        ...(inputResponses === undefined ? {} : { inputResponses }),
        ...(requestState === undefined ? {} : { requestState }),
      }
    }
    const message = `MCP tool "${tool.name}" wanted to be called more than ${MAX_ROUNDS} times for one answer`
    throw new McpError('invalid_response', message)
  }

  async #callOnce(
    { client, callsAnswer }: OpenMcpServer,
    answers: Readonly<Record<string, unknown>>,
  ): Promise<CallToolResult | InputRequiredResult> {
    const { tool, args, meta, onProgress } = this.#options
    // Output is checked by the caller's schema, not by what the tool declares.
    const { name, outputSchema: _unchecked, ...described } = tool
    const params = { name, arguments: args, _meta: { ...meta() }, ...answers }
    // With `allowInputRequired` the result may also be a question.
    return client.callTool(params, {
      signal: this.#request.signal,
      onprogress: onProgress,
      resetTimeoutOnProgress: true,
      timeout: LONGEST_TIMER_MS,
      maxTotalTimeout: LONGEST_TIMER_MS,
      ...(callsAnswer ? { allowInputRequired: true } : {}),
      // Names the arguments that the server wants in headers too (`x-mcp-header`).
      toolDefinition: { ...described, name },
    })
  }

  /** Answers the questions of a result one after the other; undefined when there are none. */
  async #answersTo(
    requests: NonNullable<InputRequiredResult['inputRequests']>,
  ): Promise<Readonly<Record<string, McpFormAnswer>> | undefined> {
    const answers: Record<string, McpFormAnswer> = {}
    for (const [key, { method, params }] of Object.entries(requests)) {
      const isForm = method === 'elicitation/create' && 'requestedSchema' in params
      if (!isForm) throw cannotAnswer(this.#options.tool.name, method, params)
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

function cannotAnswer(name: string, method: string, params: unknown): McpError {
  const isUrl = typeof params === 'object' && params !== null && 'url' in params
  const what = isUrl ? 'that a page be opened' : method
  const message = `MCP tool "${name}" asks for ${what}, which it cannot have; only values are given`
  return new McpError('input_required', message)
}

function isInputRequired(
  result: CallToolResult | InputRequiredResult,
): result is InputRequiredResult {
  return 'resultType' in result && result.resultType === 'input_required'
}
