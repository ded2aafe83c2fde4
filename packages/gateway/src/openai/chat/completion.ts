/**
 * No I/O: maps the events of a run to a chat completion.
 *
 * GW-K3 A completion is a part of a run: from its start, or from the results of tools, to its end or to the next calls
 *    of tools of the client. The id of a call contains its review, and the review its run, so no table is needed.
 * GW-K4 The content is the output of the output task. It is streamed as the model writes it. The protocol cannot take
 *    back text: text of a turn that begins again is sent only where it continues the sent text, and an output that
 *    differs from the sent text follows it after an empty line. With a response format, only the output is sent.
 * GW-K12 Text before calls to server tools is not in the content, streamed or not. If the output task has such
 *    tools, the text of each of its turns is sent when the turn has ended: as `reasoning_content` if it calls one.
 * GW-K10 The readable reasoning of the output task is `reasoning_content`, in deltas and in the message. OpenAI's own API
 *    has no such field; other providers do, and clients of theirs show it. OpenAI's libraries pass it on.
 * GW-K5 Reviews are for reviewers: a completion waits for them, and only calls of the client's tools end it.
 * GW-K6 Refused, filtered and truncated answers end with their reason; any other failure and a cancel are errors.
 * GW-K7 Equal requests for an answered call give the same completion, also after the end of the run.
 */
import { RunProjection } from '@tutti/protocol'
import { NO_RUN_USAGE } from '@tutti/protocol/internal'

import { toCompletionCallId } from './request.ts'
import { SentText } from './sent-text.ts'

import type { CompletionCall, CompletionDelta, CompletionFinish, CompletionUsage } from './wire.ts'
import type { LoggedRunEvent, RunOperation } from '@tutti/protocol'
import type {
  BlockClosed,
  BlockGrown,
  WaitingReview,
  OutputBlock,
  RunEnded,
} from '@tutti/protocol/internal'

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

export interface CompletionOptions {
  /** Ids of the reviews that the request has decided; the completion begins with the first decision. @default none */
  readonly answered: readonly string[]
  /** Whether text is sent while the model writes it. */
  readonly streamsText: boolean
  /** Whether the output task can call tools of the server. @default false */
  readonly callsTools?: boolean
  /** Names of the client's tools. @default none */
  readonly clientTools?: readonly string[]
}

/** A completion from the events of its run, in order from the first one. */
export class Completion {
  readonly #answered: ReadonlySet<string>
  readonly #streamsText: boolean
  readonly #callsTools: boolean
  readonly #clientTools: readonly string[]
  readonly #run = new RunProjection()
  /** Usage before the completion. */
  #usageBefore = NO_RUN_USAGE
  #hasBegun: boolean
  #parts = 0
  #wasWaiting = false
  readonly #text = new SentText()
  readonly #reasoning = new SentText()
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
    const [now, before] = [this.#run.usage, this.#usageBefore]
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
      this.#usageBefore = this.#run.usage
    }
    const deltas = this.#run.take(event).flatMap((operation) => this.#translate(operation))
    this.#pause()
    const isEnd = this.#end !== undefined
    return this.#hasBegun ? [...deltas, ...(isEnd ? this.#endDeltas() : [])] : []
  }

  #isAnswer(event: LoggedRunEvent): boolean {
    return event.type === 'review_decided' && this.#answered.has(event.reviewId)
  }

  /** Ends the completion where the run waits for tools of the client. */
  #pause(): void {
    const open = this.#run.isWaiting ? this.#run.reviews : []
    const calls = open.filter(({ kind }) => kind === 'CLIENT_TOOL')
    const isLeft = calls.some(({ reviewId }) => this.#answered.has(reviewId))
    const isWaiting = calls.length > 0
    if (isWaiting && this.#hasBegun && !isLeft) {
      const finish = 'tool_calls'
      this.#end = { kind: 'message', finish, content: this.#text.written, calls: calls.map(toCall) }
    }
    if (isWaiting && !this.#wasWaiting && !this.#hasBegun) this.#parts += 1
    this.#wasWaiting = isWaiting
  }

  #translate(operation: RunOperation): readonly CompletionDelta[] {
    switch (operation.type) {
      case 'turn_started':
        this.#text.begin()
        this.#reasoning.begin()
        return []
      case 'block_opened':
        this.#sentText(operation.block).begin(operation.block.before)
        return []
      case 'block_grown':
        return this.#grow(operation)
      case 'block_closed':
        return this.#close(operation)
      case 'output':
        return this.#send(this.#text, operation.text)
      case 'ended':
        this.#end = this.#toEnd(operation)
        return []
      default:
        return []
    }
  }

  #sentText({ kind }: OutputBlock): SentText {
    return kind === 'reasoning' ? this.#reasoning : this.#text
  }

  #grow({ block, delta }: BlockGrown): readonly CompletionDelta[] {
    const text = this.#sentText(block)
    text.write(delta)
    const isHeld = block.kind !== 'reasoning' && (this.#callsTools || !this.#streamsText)
    return text.continues && !isHeld ? this.#send(text, text.written) : []
  }

  #close({ block, toolNames }: BlockClosed): readonly CompletionDelta[] {
    const text = this.#sentText(block)
    if (text === this.#reasoning) {
      const deltas = this.#send(text, text.written)
      text.end()
      return deltas
    }
    const isOfServer = toolNames.some((name) => !this.#clientTools.includes(name))
    if (this.#callsTools && isOfServer) return this.#sendComment()
    const isComment = toolNames.length > 0
    // Another answer is sent when the task accepts it.
    const isSent = this.#streamsText && (isComment || this.#callsTools || text.continues)
    const deltas = isSent ? this.#send(text, text.written) : []
    // The next turn continues after the calls.
    if (isComment) text.end()
    return deltas
  }

  /** Sends the text before calls of the server's tools. */
  #sendComment(): readonly CompletionDelta[] {
    const deltas = this.#send(this.#reasoning, this.#text.written)
    this.#text.begin()
    this.#reasoning.end()
    return deltas
  }

  /** Sends what follows the text that has been sent. */
  #send(sent: SentText, text: string): readonly CompletionDelta[] {
    const rest = this.#hasBegun ? sent.send(text) : ''
    if (rest === '') return []
    return [sent === this.#reasoning ? { reasoning_content: rest } : { content: rest }]
  }

  #toEnd({ status, reason, refusal, error, code, output = '' }: RunEnded): CompletionEnd {
    const end = { kind: 'message', calls: [] } as const
    const content = status === 'COMPLETED' ? output : this.#text.written
    switch (reason) {
      case 'cancelled':
        return { kind: 'failure', code: 'CANCELLED', message: 'The run was cancelled' }
      case 'failed':
        return { kind: 'failure', code, message: error }
      case 'refusal':
        return { ...end, finish: 'stop', content: '', refusal }
      default:
        return { ...end, finish: reason, content }
    }
  }

  #endDeltas(): readonly CompletionDelta[] {
    const end = this.#end
    if (end?.kind !== 'message') return []
    if (end.refusal !== undefined) return [{ refusal: end.refusal }]
    if (end.calls.length === 0) return this.#send(this.#text, end.content)
    return [{ tool_calls: end.calls.map((call, index) => ({ index, ...call })) }]
  }
}

function toCall({ reviewId, toolName = '', toolInput }: WaitingReview): CompletionCall {
  const called = { name: toolName, arguments: JSON.stringify(toolInput ?? {}) }
  return { id: toCompletionCallId(reviewId), type: 'function', function: called }
}
