/**
 * Questions that an MCP server asks while one of its tools runs (elicitation, form mode). They go to the reviewer
 * of the run.
 *
 * E1 A question belongs to the call in whose exchange it arrives. On a connection that all calls share, it belongs
 *    to the only call under way; with several calls under way, it is declined.
 * E2 A server gets values only from a reviewer. A rejection declines the question, and silence cancels it.
 */
import { AsyncLocalStorage } from 'node:async_hooks'

import { ToolResult, TuttiError, type ToolContext, type ToolSchema } from '@tutti/core'

import type { ElicitRequestFormParams, ElicitResult } from '@modelcontextprotocol/client'

/** A question: its text and the schema of the values that it asks for. */
export type ElicitedForm = Pick<ElicitRequestFormParams, 'message' | 'requestedSchema'>

/** The answer that the server gets. */
export type Elicited = Pick<ElicitResult, 'action' | 'content'>

type AskingContext = Pick<ToolContext, 'hasReviewer' | 'logger' | 'requestAnswer' | 'signal'>

/** Characters of a declined question that a tool result quotes. */
const MAX_QUOTED = 200

/** Answers the questions of one call. */
export class McpQuestions {
  readonly #context: AskingContext
  readonly #failing = new AbortController()
  readonly #declined: string[] = []
  /** Aborts when the call ends, or when a question ends it. */
  readonly signal: AbortSignal

  constructor(context: AskingContext) {
    this.#context = context
    this.signal = AbortSignal.any([context.signal, this.#failing.signal])
  }

  /** Throws the error with which a question ended the call, such as EXIT_EARLY. */
  throwIfEnded(): void {
    this.#failing.signal.throwIfAborted()
  }

  /** Asks the reviewer. `signal` aborts when the server no longer waits for the answer. */
  async ask(form: ElicitedForm, signal: AbortSignal): Promise<Elicited> {
    if (!this.#context.hasReviewer) return this.decline(form, 'the run has no reviewer')
    try {
      return await this.#askReviewer(form, signal)
    } catch (error) {
      if (TuttiError.isInstance(error) && error.code === 'TOOL_REJECTED') {
        return { action: 'decline' }
      }
      if (signal.aborted) return { action: 'cancel' }
      this.#failing.abort(error)
      throw error
    }
  }

  /** Declines a question that no reviewer saw, and notes it for the result of the call. */
  decline({ message }: ElicitedForm, reason: string): Elicited {
    const quoted = message.length > MAX_QUOTED ? `${message.slice(0, MAX_QUOTED)}…` : message
    this.#declined.push(`[Declined a question of the MCP server, because ${reason}: "${quoted}"]`)
    this.#context.logger.warn(`Declined a question of an MCP server: ${reason}`)
    return { action: 'decline' }
  }

  /** Adds to a result the questions that were declined without a reviewer. */
  addDeclined(result: ToolResult): ToolResult {
    if (this.#declined.length === 0) return result
    const add = (text: string): string => [text, ...this.#declined].join('\n')
    if (result.success) return ToolResult.success(add(result.output), result.structured)
    const failure = ToolResult.failure(add(result.errorMessage ?? ''))
    return result.structured === undefined
      ? failure
      : Object.assign(failure, { structured: result.structured })
  }

  async #askReviewer(form: ElicitedForm, signal: AbortSignal): Promise<Elicited> {
    const { message, requestedSchema } = form
    // NOTE: the schema of a form is a JSON Schema, which is one of the kinds of a tool's schema.
    const schema = requestedSchema as unknown as ToolSchema
    const answer = await this.#context.requestAnswer(message, {
      schema,
      signal,
      onTimeout: 'CONTINUE',
    })
    if (answer.answered) return accepted(answer.value)
    // CONTINUE confirms a question without values; silence never does.
    const isConfirmation = Object.keys(requestedSchema.properties).length === 0
    return isConfirmation && !answer.timedOut ? accepted({}) : { action: 'cancel' }
  }
}

/** The calls under way over one connection, and the questions that belong to each. */
export class McpElicitations {
  readonly #storage = new AsyncLocalStorage<McpQuestions>()
  readonly #underWay = new Set<McpQuestions>()

  /** Makes a call, to which the questions belong that arrive for it. */
  async during<T>(questions: McpQuestions, call: () => Promise<T>): Promise<T> {
    this.#underWay.add(questions)
    try {
      return await this.#storage.run(questions, call)
    } finally {
      this.#underWay.delete(questions)
    }
  }

  /** Answers a question of the server. */
  async answer(form: ElicitedForm, signal: AbortSignal): Promise<Elicited> {
    const [first] = this.#underWay
    const asking = this.#storage.getStore() ?? (this.#underWay.size === 1 ? first : undefined)
    if (asking !== undefined) return asking.ask(form, signal)
    const reason = 'several calls are under way, and it does not name its call'
    for (const questions of this.#underWay) questions.decline(form, reason)
    return { action: 'decline' }
  }
}

function accepted(values: unknown): Elicited {
  // NOTE: the values were read by the schema of the form, whose properties have only these types.
  return { action: 'accept', content: values as NonNullable<ElicitResult['content']> }
}
