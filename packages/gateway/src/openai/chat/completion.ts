/**
 * Pure: maps the events of a run to a chat completion.
 *
 * GW-K3 A completion is a part of a run: from its start, or from the results of tools, to its end or to the next calls
 *    of tools of the client. The id of a call contains its review, and the review its run, so no table is needed.
 * GW-K4 The content is the output of the output task. It is streamed as the model writes it. The protocol cannot take
 *    back text: text of a turn that begins again is sent only where it continues the sent text, and an output that is
 *    not the text that was sent follows it after an empty line. With a response format, only the output is sent.
 * GW-K12 Text before calls of the server's tools is not part of the content, streamed or not. If the output task has such
 *    tools, the text of each of its turns is sent when the turn has ended: as `reasoning_content` if it calls one.
 * GW-K10 The readable reasoning of the output task is `reasoning_content`, in deltas and in the message. OpenAI's own API
 *    has no such field; other providers do, and clients of theirs show it. OpenAI's libraries pass it on.
 * GW-K5 Reviews are for reviewers: a completion waits for them, and only calls of the client's tools end it.
 * GW-K6 Refused, filtered and truncated answers end with their reason; any other failure and a cancel are errors.
 * GW-K7 Equal requests for an answered call give the same completion, also after the end of the run.
 */
import { readRunOutput, addEventUsage, NO_RUN_USAGE, type RunUsage } from '@tutti/protocol'

import { RunWaits } from '../../service/run-waits.ts'
import { toCompletionCallId } from './request.ts'
import { SentText } from './sent-text.ts'

import type { CompletionCall, CompletionDelta, CompletionFinish, CompletionUsage } from './wire.ts'
import type { WaitingReview } from '../../service/run-waits.ts'
import type { LoggedRunEvent, RunEventOf } from '@tutti/protocol'

/** The end of a completion. */
export type CompletionEnd =
  | {
      readonly kind: 'message'
      readonly finish: CompletionFinish
      /** Output of the output task, or the text that was written before the end. */
      readonly content: string
      readonly refusal?: string
      readonly calls: readonly CompletionCall[]
    }
  | { readonly kind: 'failure'; readonly code: string; readonly message: string }

/** Options of a completion. */
export interface CompletionOptions {
  /** Ids of the reviews that the request has decided; the completion begins with the first decision. @default none */
  readonly answered: readonly string[]
  /** Whether text is sent while the model writes it. */
  readonly streamsText: boolean
  /** Whether the output task can call tools of the server. @default false */
  readonly callsTools?: boolean
  /** Names of the tools of the client. @default none */
  readonly clientTools?: readonly string[]
}

/** A completion from the events of its run, in order from the first one. */
export class Completion {
  readonly #answered: ReadonlySet<string>
  readonly #streamsText: boolean
  readonly #callsTools: boolean
  readonly #clientTools: readonly string[]
  readonly #waits = new RunWaits()
  #usage: RunUsage = NO_RUN_USAGE
  /** Usage before the completion. */
  #usageBefore: RunUsage = NO_RUN_USAGE
  #hasBegun: boolean
  #parts = 0
  #wasWaiting = false
  #outputTask = ''
  readonly #text = new SentText()
  readonly #reasoning = new SentText()
  #refusal = ''
  #finishReason: string | undefined
  #output: string | undefined
  #end: CompletionEnd | undefined

  constructor({ answered, streamsText, callsTools = false, clientTools = [] }: CompletionOptions) {
    this.#answered = new Set(answered)
    this.#streamsText = streamsText
    this.#callsTools = callsTools
    this.#clientTools = clientTools
    this.#hasBegun = answered.length === 0
  }

  /** The end; undefined before it. */
  get end(): CompletionEnd | undefined {
    return this.#end
  }

  /** Number of completions of the run before this one. */
  get part(): number {
    return this.#parts
  }

  /** Usage of this completion. */
  get usage(): CompletionUsage {
    const [now, before] = [this.#usage, this.#usageBefore]
    const input = now.inputTokens - before.inputTokens
    const output = now.outputTokens - before.outputTokens
    const reasoning = now.reasoningTokens - before.reasoningTokens
    return {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: { cached_tokens: now.cachedInputTokens - before.cachedInputTokens },
      ...(reasoning === 0 ? {} : { completion_tokens_details: { reasoning_tokens: reasoning } }),
    }
  }

  /** Takes the next event, and returns the changes of the message. */
  take(event: LoggedRunEvent): readonly CompletionDelta[] {
    if (this.#end !== undefined) return []
    if (!this.#hasBegun && this.#isAnswer(event)) {
      this.#hasBegun = true
      this.#usageBefore = this.#usage
    }
    this.#waits.take(event)
    this.#usage = addEventUsage(this.#usage, event)
    const deltas = this.#translate(event)
    this.#pause()
    const isEnd = this.#end !== undefined
    return this.#hasBegun ? [...deltas, ...(isEnd ? this.#endDeltas() : [])] : []
  }

  #isAnswer(event: LoggedRunEvent): boolean {
    return event.type === 'review_decided' && this.#answered.has(event.reviewId)
  }

  /** Ends the completion where the run waits for tools of the client. */
  #pause(): void {
    const calls = this.#waits.reviews.filter(({ kind }) => kind === 'CLIENT_TOOL')
    const isLeft = calls.some(({ reviewId }) => this.#answered.has(reviewId))
    const isWaiting = this.#waits.isWaiting && calls.length > 0
    if (isWaiting && this.#hasBegun && !isLeft) {
      const finish = 'tool_calls'
      this.#end = { kind: 'message', finish, content: this.#text.written, calls: calls.map(toCall) }
    }
    if (isWaiting && !this.#wasWaiting && !this.#hasBegun) this.#parts += 1
    this.#wasWaiting = isWaiting
  }

  #translate(event: LoggedRunEvent): readonly CompletionDelta[] {
    switch (event.type) {
      case 'ensemble_started':
        this.#outputTask = event.outputTask
        return []
      case 'run_resumed':
        this.#outputTask = event.outputTask
        return []
      case 'llm_iteration_started':
        if (event.taskName === this.#outputTask) {
          this.#text.begin()
          this.#reasoning.begin()
        }
        return []
      case 'reasoning':
        return event.taskName === this.#outputTask ? this.#reason(event.text) : []
      case 'token':
        return event.taskName === this.#outputTask ? this.#write(event.token) : []
      case 'llm_iteration_completed': {
        const { taskName, responseText = '', toolRequests = [], reasoning = '' } = event
        if (taskName !== this.#outputTask) return []
        const thought = reasoning === '' ? [] : this.#sendReasoning(reasoning)
        this.#reasoning.end()
        const isOfServer = toolRequests.some(({ name }) => !this.#clientTools.includes(name))
        if (this.#callsTools && isOfServer) {
          return [...thought, ...this.#sendComment(this.#text.written || responseText)]
        }
        const deltas = this.#text.written === '' ? this.#write(responseText) : []
        const held = this.#callsTools ? this.#sendWritten() : []
        // The next turn continues after the calls.
        if (toolRequests.length > 0) this.#text.end()
        return [...thought, ...deltas, ...held]
      }
      case 'task_completed':
        if (event.taskName !== this.#outputTask) return []
        this.#finishReason = event.finishReason
        return this.#complete(event.output)
      case 'task_failed':
        if (event.taskName === this.#outputTask) this.#refusal = event.refusal ?? ''
        return []
      case 'run_result':
        this.#end = this.#toEnd(event)
        return []
      default:
        return []
    }
  }

  #write(text: string): readonly CompletionDelta[] {
    const continues = this.#text.write(text)
    return continues && !this.#callsTools ? this.#sendWritten() : []
  }

  #sendWritten(): readonly CompletionDelta[] {
    return this.#streamsText ? this.#send(this.#text.written) : []
  }

  /** Sends the text before calls of the server's tools. */
  #sendComment(text: string): readonly CompletionDelta[] {
    this.#text.begin()
    const deltas = this.#sendReasoning(text)
    this.#reasoning.end()
    return deltas
  }

  #reason(text: string): readonly CompletionDelta[] {
    return this.#reasoning.write(text) ? this.#sendReasoning(this.#reasoning.written) : []
  }

  #sendReasoning(text: string): readonly CompletionDelta[] {
    const rest = this.#hasBegun ? this.#reasoning.send(text) : ''
    return rest === '' ? [] : [{ reasoning_content: rest }]
  }

  /** Sends what follows the text that has been sent. */
  #send(text: string): readonly CompletionDelta[] {
    const rest = this.#hasBegun ? this.#text.send(text) : ''
    return rest === '' ? [] : [{ content: rest }]
  }

  #complete(output: string): readonly CompletionDelta[] {
    this.#output = output
    return this.#send(output)
  }

  #toEnd(event: RunEventOf<'run_result'>): CompletionEnd {
    const { status, code = '', error = '' } = event
    if (status === 'CANCELLED') {
      return { kind: 'failure', code: 'CANCELLED', message: 'The run was cancelled' }
    }
    const message = (finish: CompletionFinish, content: string): CompletionEnd => ({
      kind: 'message',
      finish,
      content,
      calls: [],
    })
    // The output of a run that a reviewer ended early is that of another task.
    const output = this.#output ?? readRunOutput(event) ?? ''
    if (status === 'COMPLETED') {
      return message(this.#finishReason === 'length' ? 'length' : 'stop', output)
    }
    switch (code) {
      case 'MODEL_REFUSED': {
        const refusal = this.#refusal === '' ? error : this.#refusal
        return { kind: 'message', finish: 'stop', content: '', refusal, calls: [] }
      }
      case 'CONTENT_FILTERED':
        return message('content_filter', this.#text.written)
      case 'OUTPUT_TRUNCATED':
        return message('length', this.#text.written)
      default:
        return { kind: 'failure', code, message: error }
    }
  }

  #endDeltas(): readonly CompletionDelta[] {
    const end = this.#end
    if (end?.kind !== 'message') return []
    if (end.refusal !== undefined) return [{ refusal: end.refusal }]
    const text = this.#output === undefined && end.calls.length === 0 ? this.#send(end.content) : []
    const calls = end.calls.map((call, index) => ({ index, ...call }))
    return calls.length === 0 ? text : [...text, { tool_calls: calls }]
  }
}

function toCall({ reviewId, toolName = '', toolInput }: WaitingReview): CompletionCall {
  const called = { name: toolName, arguments: JSON.stringify(toolInput ?? {}) }
  return { id: toCompletionCallId(reviewId), type: 'function', function: called }
}
