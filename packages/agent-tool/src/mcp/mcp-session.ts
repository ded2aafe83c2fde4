/**
 * A call of an MCP tool as a conversation. The call stays open while the tool asks: its question ends a turn, and
 * the next turn answers it.
 *
 *   turn ─tools/call─▶ progress … ─question─▶ end of the turn ─next turn─▶ … ─▶ result
 *
 * AGENT-S1 A question ends the turn in a conversation, and where the tool's author answers questions. Otherwise the
 *    reviewer is asked with the form of the tool. Without a reviewer, or after a rejection, the tool gets a refusal
 *    and continues.
 */
import { askReviewer, McpToolCall, type McpForm, type McpFormAnswer } from '@tutti/mcp/internal'

import { readUsageMetadata } from '../usage-metadata.ts'
import { toFormAnswer, formatQuestion } from './elicitation.ts'
import { toAgentError } from './mcp-failure.ts'
import { schemaProperties, toMcpArguments } from './tool-arguments.ts'
import { requestMeta, toMcpAnswer } from './tool-answer.ts'

import type { AgentCall, AgentSession, AgentTurn, AgentUpdate } from '@tutti/agent-call/internal'
import type { McpConnection, McpProgress, McpTool } from '@tutti/mcp/internal'

interface Question {
  readonly form: McpForm
  readonly answer: (answer: McpFormAnswer) => void
}

type Arrival = AgentUpdate | { readonly kind: 'question'; readonly question: Question }

/** One call of one tool. */
export class McpSession implements AgentSession {
  readonly protocol = 'mcp'
  readonly #connection: McpConnection
  readonly #tool: McpTool
  readonly #call: AgentCall
  readonly #arrivals = new ArrivalQueue()
  #toolCall: McpToolCall | undefined
  #question: Question | undefined

  constructor(connection: McpConnection, tool: McpTool, call: AgentCall) {
    this.#connection = connection
    this.#tool = tool
    this.#call = call
  }

  async *send({ input }: AgentTurn): AsyncGenerator<AgentUpdate> {
    this.#call.signal.throwIfAborted()
    const question = this.#question
    if (question !== undefined) {
      const answer = toFormAnswer(input, question.form)
      if (answer === undefined) {
        yield toEnd(question, 'The answer is not valid. ')
        return
      }
      this.#question = undefined
      question.answer(answer)
    } else if (this.#toolCall === undefined) {
      void this.#run(input)
    }
    for (;;) {
      const arrival = await this.#arrivals.next()
      if (arrival.kind === 'question') {
        this.#question = arrival.question
        yield toEnd(arrival.question)
        return
      }
      yield arrival
      if (arrival.kind === 'end') return
    }
  }

  async cancel(signal: AbortSignal): Promise<void> {
    await this.#toolCall?.cancel(signal)
  }

  async #run(input: unknown): Promise<void> {
    const { signal, clock, traceparent, onBytes, logger } = this.#call
    const tool = this.#tool
    try {
      this.#toolCall = new McpToolCall({
        tool,
        args: toMcpArguments(input, tool),
        meta: () => requestMeta(this.#call),
        signal,
        clock,
        traceparent,
        onBytes,
        onProgress: (progress) => this.#progressed(progress),
        ask: (form, asking) => this.#ask(form, asking),
        onDeclined: (_, reason) => {
          logger.warn(`Declined a question of an MCP server: ${reason}`)
        },
      })
      const result = await this.#toolCall.run(this.#connection)
      // Usage also counts when the tool failed, so that no answer carries it.
      const usage = result.isError === true ? readUsageMetadata(result._meta) : undefined
      if (usage !== undefined) this.#arrivals.push({ kind: 'usage', usage })
      this.#arrivals.push(toMcpAnswer(result, tool.name))
    } catch (error) {
      this.#arrivals.fail(toAgentError(error))
    }
  }

  #progressed({ progress, total, message, ...rest }: McpProgress): void {
    this.#call.onBytes()
    const usage = readUsageMetadata((rest as { readonly _meta?: unknown })._meta)
    this.#arrivals.push({
      kind: 'chunk',
      chunk: {
        progress,
        ...(total === undefined ? {} : { total }),
        ...(message === undefined ? {} : { message }),
      },
      ...(usage === undefined ? {} : { usage }),
    })
  }

  async #ask(form: McpForm, signal: AbortSignal): Promise<McpFormAnswer> {
    const { mode, hasReply, hasReviewer, requestAnswer } = this.#call
    if (mode === 'conversational' || hasReply) return this.#askByTurn(form, signal)
    return hasReviewer ? askReviewer(requestAnswer, form, signal) : { action: 'decline' }
  }

  #askByTurn(form: McpForm, signal: AbortSignal): Promise<McpFormAnswer> {
    return new Promise((resolve) => {
      this.#arrivals.push({ kind: 'question', question: { form, answer: resolve } })
      const cancel = (): void => resolve({ action: 'cancel' })
      signal.addEventListener('abort', cancel, { once: true })
    })
  }
}

/** Arrivals for one reader; ends with an error once everything before it was read. */
class ArrivalQueue {
  readonly #arrivals: Arrival[] = []
  #end: { readonly error: unknown } | undefined
  #wake: (() => void) | undefined

  push(arrival: Arrival): void {
    this.#arrivals.push(arrival)
    this.#wake?.()
  }

  fail(error: unknown): void {
    this.#end ??= { error }
    this.#wake?.()
  }

  /** Returns the next arrival, waiting for it if necessary. One reader at a time. */
  async next(): Promise<Arrival> {
    for (;;) {
      const arrival = this.#arrivals.shift()
      if (arrival !== undefined) return arrival
      if (this.#end !== undefined) throw this.#end.error
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }
}

function toEnd({ form }: Question, before = ''): AgentUpdate {
  const { message, requestedSchema } = form
  return {
    kind: 'end',
    state: 'input_required',
    output: { message, requestedSchema },
    text: message,
    question: before + formatQuestion(form),
    ...(Object.keys(schemaProperties(requestedSchema)).length < 2
      ? {}
      : { questionSchema: requestedSchema }),
  }
}
