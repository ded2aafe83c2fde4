/**
 * A call of an MCP tool as a conversation. The call stays open while the tool asks something: its question ends
 * a turn, and the next turn answers it.
 *
 *   turn ─tools/call─▶ progress … ─question─▶ end of the turn ─next turn─▶ … ─▶ result
 *
 * S1 A question ends the turn in a conversation, and where the author of the tool answers; else the reviewer is
 *    asked at once, in the form that the tool wants. Where nobody can be asked, and when the reviewer will not answer, the tool is told so, and goes on.
 * S2 Questions come in two ways, as requests of the server and as results that want the call made again with
 *    answers; they look the same from here. What asks for anything but values fails the call.
 * S3 A call that is ended is cancelled by what its era has for it, and its exchange is closed.
 */
import { TuttiError } from '@tutti/core'

import { Arrivals } from './arrivals.ts'
import { callInRounds, type RoundsOptions } from './call-in-rounds.ts'
import {
  accepted,
  elicitedBy,
  questionOf,
  type Elicited,
  type ElicitedForm,
} from './elicitation.ts'
import { untilAborted, type McpConnection } from './mcp-connection.ts'
import { usageIn } from './mcp-usage.ts'
import { toolAnswer } from './tool-answer.ts'
import { propertiesOf, toolArguments } from './tool-arguments.ts'

import type { AgentCall, AgentSession, AgentTurn, AgentUpdate } from '@tutti/agent-call'
import type { Progress, Tool } from '@modelcontextprotocol/client'
import type { ToolSchema } from '@tutti/core'
import type { CallScope, OpenCalls } from './open-calls.ts'

interface Question {
  readonly form: ElicitedForm
  readonly answer: (elicited: Elicited) => void
}

type Arrival = AgentUpdate | { readonly kind: 'question'; readonly question: Question }

/** What a session is about. */
export interface McpSessionOptions {
  readonly connection: McpConnection
  readonly tool: Tool
}

/** One call of one tool. */
export class McpSession implements AgentSession {
  readonly protocol = 'mcp'
  readonly #options: McpSessionOptions
  readonly #call: AgentCall
  readonly #arrivals = new Arrivals<Arrival>()
  /** Ends the request as its era has it. */
  readonly #request = new AbortController()
  /** Closes what is open for it. */
  readonly #wire = new AbortController()
  readonly #failed = Promise.withResolvers<never>()
  #calls: OpenCalls | undefined
  #scope: CallScope | undefined
  #isUnderWay = false
  #question: Question | undefined
  #cancelSent: Promise<void> = Promise.resolve()

  constructor(options: McpSessionOptions, call: AgentCall) {
    this.#options = options
    this.#call = call
    this.#failed.promise.catch(() => undefined)
    call.signal.addEventListener('abort', () => this.#letGo(), { once: true })
  }

  async *send({ input }: AgentTurn): AsyncGenerator<AgentUpdate> {
    this.#call.signal.throwIfAborted()
    const question = this.#question
    if (question !== undefined) {
      const elicited = elicitedBy(input, question.form)
      if (elicited === undefined) {
        yield endOf(question, 'The answer does not fit. ')
        return
      }
      this.#question = undefined
      question.answer(elicited)
    } else if (!this.#isUnderWay) {
      this.#isUnderWay = true
      void this.#work(input)
    }
    for (;;) {
      const arrival = await this.#arrivals.next()
      if (arrival.kind !== 'question') {
        yield arrival
        if (arrival.kind === 'end') return
      } else {
        this.#question = arrival.question
        yield endOf(arrival.question)
        return
      }
    }
  }

  /** Has the tool stop, and waits until that is said. */
  async cancel(signal: AbortSignal): Promise<void> {
    this.#abortRequest()
    await untilAborted(this.#cancelSent, signal).catch(() => undefined)
    this.#wire.abort()
  }

  #letGo(): void {
    this.#abortRequest()
    this.#wire.abort()
    this.#failed.reject(this.#call.signal.reason)
  }

  #abortRequest(): void {
    const abort = (): void => this.#request.abort(new Error('The call was cancelled'))
    if (this.#calls === undefined || this.#scope === undefined) abort()
    else this.#calls.within(this.#scope, abort)
  }

  async #work(input: unknown): Promise<void> {
    const { connection, tool } = this.#options
    try {
      const args = toolArguments(input, tool)
      const result = await connection.use(this.#call.signal, async ({ client, calls, listen }) => {
        const scope = this.#scopeOf()
        this.#calls = calls
        this.#scope = scope
        return calls.run(scope, async () => {
          await untilAborted(listen(), this.#request.signal)
          return Promise.race([
            callInRounds({ client, tool, args, ...this.#surroundings() }),
            this.#failed.promise,
          ])
        })
      })
      // What was used counts also when the tool failed, which is no answer that could say it.
      const usage = result.isError === true ? usageIn(result._meta) : undefined
      if (usage !== undefined) this.#arrivals.push({ kind: 'usage', usage })
      this.#arrivals.push(toolAnswer(result, tool.name))
    } catch (error) {
      this.#wire.abort()
      this.#arrivals.fail(error)
    }
  }

  #surroundings(): Pick<RoundsOptions, 'call' | 'signal' | 'ask' | 'onProgress'> {
    return {
      call: this.#call,
      signal: this.#request.signal,
      ask: (form, signal) => this.#ask(form, signal),
      onProgress: (progress) => {
        this.#progressed(progress)
      },
    }
  }

  #scopeOf(): CallScope {
    const { onBytes, logger, traceparent } = this.#call
    return {
      onBytes,
      logger,
      traceparent,
      wire: this.#wire.signal,
      ask: (form, signal) => this.#ask(form, signal),
      fail: (error) => {
        this.#failed.reject(error)
      },
      onCancelSent: (sending) => {
        this.#cancelSent = sending
      },
    }
  }

  #progressed({ progress, total, message, ...rest }: Progress): void {
    this.#call.onBytes()
    const usage = usageIn((rest as { readonly _meta?: unknown })._meta)
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

  async #ask(form: ElicitedForm, signal: AbortSignal): Promise<Elicited> {
    const { mode, hasReply } = this.#call
    if (mode === 'conversational' || hasReply) return this.#askByTurn(form, signal)
    if (!this.#call.hasReviewer) return { action: 'decline' }
    try {
      return await this.#askReviewer(form)
    } catch (error) {
      if (TuttiError.isInstance(error) && error.code === 'TOOL_REJECTED') {
        return { action: 'decline' }
      }
      this.#failed.reject(error)
      throw error
    }
  }

  #askByTurn(form: ElicitedForm, signal: AbortSignal): Promise<Elicited> {
    return new Promise((resolve) => {
      const question: Question = { form, answer: resolve }
      this.#arrivals.push({ kind: 'question', question })
      signal.addEventListener(
        'abort',
        () => {
          resolve({ action: 'cancel' })
        },
        { once: true },
      )
    })
  }

  async #askReviewer(form: ElicitedForm): Promise<Elicited> {
    const { message, requestedSchema } = form
    // NOTE: a form is described by a JSON Schema, which is one of the kinds of schema of a tool.
    const schema = requestedSchema as unknown as ToolSchema
    const answer = await this.#call.requestAnswer(message, { schema, onTimeout: 'CONTINUE' })
    if (answer.answered) return accepted(answer.value)
    // To let it go on is a yes where only that is asked; silence never is.
    const isConfirmation = Object.keys(propertiesOf(requestedSchema)).length === 0
    return isConfirmation && !answer.timedOut ? accepted({}) : { action: 'cancel' }
  }
}

function endOf({ form }: Question, before = ''): AgentUpdate {
  const { message, requestedSchema } = form
  return {
    kind: 'end',
    state: 'input_required',
    output: { message, requestedSchema },
    text: message,
    question: before + questionOf(form),
    ...(Object.keys(propertiesOf(requestedSchema)).length < 2
      ? {}
      : { questionSchema: requestedSchema }),
  }
}
