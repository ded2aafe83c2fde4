/**
 * Recovers from answers that ended early, and from empty ones, within one agent loop.
 *
 * ENS-L32 An empty last answer is requested once more per attempt; if it is empty again, the loop ends with OUTPUT_EMPTY,
 *    unless the task allows an empty output. Text that the model writes with tool calls stays in the conversation, and the
 *    error has the last one.
 */
import { TuttiError } from '@tutti/core'

import { resolveOnUnfinished } from '../definition/on-unfinished.ts'
import {
  CONTINUE_REQUEST,
  decideRecovery,
  EMPTY_ANSWER_REQUEST,
  emptyAnswerError,
  unfinishedError,
  type UnfinishedReason,
} from './unfinished.ts'

import type { ModelReply } from '../model/chat-model.ts'
import type { TaskScope } from '../scope/task-scope.ts'
import type { ModelChain } from './model-chain.ts'

/** An answer that ended early. */
export interface CutAnswer {
  readonly reason: UnfinishedReason
  readonly reply: ModelReply
  /** Label of the model that returned the answer. */
  readonly model: string
}

/** Part of a conversation that a recovery writes. */
export interface ContinuedConversation {
  /** Adds the text of an unfinished answer. */
  addPart(text: string): void
  addRequest(content: string): void
}

/** Extra calls of one loop. */
export class Recovery {
  readonly #scope: TaskScope
  readonly #models: ModelChain
  #text = ''
  #extraCalls = 0
  #cut: CutAnswer | undefined
  #maxOutputTokens: number | undefined
  #extraTurns = 0
  /** Model of the empty answer that was requested once more; undefined if there was none. */
  #emptyFrom: string | undefined
  #isAskingAgain = false
  #textWithCalls = ''

  constructor(scope: TaskScope, models: ModelChain) {
    this.#scope = scope
    this.#models = models
  }

  /** Number of extra calls of the whole loop; they do not count against `maxIterations`. */
  get extraTurns(): number {
    return this.#extraTurns
  }

  /** Whether the next call is an extra call. */
  get isExtra(): boolean {
    return this.#cut !== undefined || this.#isAskingAgain
  }

  /** Output limit of the next call: that of the task, or a higher one after an answer was cut. */
  get maxOutputTokens(): number | undefined {
    return this.#maxOutputTokens ?? this.#scope.task.maxOutputTokens
  }

  /**
   * Prepares an extra call, or returns the text of a cut answer that the options accept.
   *
   * @throws {TuttiError} MODEL_REFUSED, CONTENT_FILTERED or OUTPUT_TRUNCATED if no extra call may follow.
   */
  take(cut: CutAnswer, conversation: ContinuedConversation): string | undefined {
    const { reason, reply } = cut
    const { task, run } = this.#scope
    const recovery = decideRecovery({
      reason,
      reply,
      options: resolveOnUnfinished([
        task.onUnfinished,
        task.maxOutputTokens === undefined ? undefined : { length: 'fail' },
        task.agent.onUnfinished,
        run.ensemble.onUnfinished,
      ]),
      structured: task.outputReader !== undefined,
      extraCalls: this.#extraCalls,
      maxOutputTokens: this.maxOutputTokens,
    })
    switch (recovery.kind) {
      case 'accept':
        return this.finish(reply.text)
      case 'continue':
        this.#text += reply.text
        conversation.addPart(reply.text)
        conversation.addRequest(CONTINUE_REQUEST)
        break
      case 'retry':
        this.#maxOutputTokens = recovery.maxOutputTokens
        break
      case 'fallback':
        if (this.#models.next() === undefined) throw this.#error(cut)
        this.#maxOutputTokens = undefined
        break
      case 'fail':
        throw this.#error(cut)
    }
    this.#cut = cut
    this.#extraTurns += 1
    if (reason === 'length') this.#extraCalls += 1
    return undefined
  }

  /**
   * Requests an empty answer once more.
   *
   * @throws {TuttiError} OUTPUT_EMPTY if the attempt has had an empty answer before.
   */
  takeEmpty(model: string, conversation: ContinuedConversation): void {
    if (this.#emptyFrom !== undefined) throw this.#emptyError(model)
    this.#emptyFrom = model
    this.#isAskingAgain = true
    this.#extraTurns += 1
    conversation.addRequest(EMPTY_ANSWER_REQUEST)
  }

  /** Records a reply with tool calls: it is not a part of an answer. */
  beginCalls({ text }: Pick<ModelReply, 'text'>): void {
    this.finish('')
    if (text.trim() !== '') this.#textWithCalls = text
  }

  /** Returns the whole text of an answer whose last part is `text`. */
  finish(text: string): string {
    const whole = this.#text + text
    this.#text = ''
    this.#extraCalls = 0
    this.#cut = undefined
    this.#isAskingAgain = false
    return whole
  }

  /**
   * Returns the error of a failed call. If the provider rejected the higher output limit, or the request for an
   * answer after an empty one, that is the error of the answer before it.
   */
  toError(error: unknown): unknown {
    const isRejected =
      TuttiError.isInstance(error) && error.code === 'MODEL_FAILED' && !error.retryable
    if (!isRejected) return error
    const cut = this.#cut
    if (cut?.reason === 'length' && this.#maxOutputTokens !== undefined) {
      return this.#error(cut, error)
    }
    return this.#isAskingAgain && this.#emptyFrom !== undefined
      ? this.#emptyError(this.#emptyFrom, error)
      : error
  }

  #emptyError(model: string, cause?: unknown): TuttiError {
    const taskName = this.#scope.identity.taskName
    return emptyAnswerError({ taskName, model, textWithCalls: this.#textWithCalls }, cause)
  }

  #error({ reason, reply, model }: CutAnswer, cause?: unknown): TuttiError {
    const extraCalls = this.#extraCalls
    const text = this.#text + reply.text
    return unfinishedError({ reason, reply, extraCalls }, { model, text, cause })
  }
}
