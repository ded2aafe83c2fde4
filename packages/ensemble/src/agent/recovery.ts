/** Recovers from the answers of one agent loop that ended early, as `unfinished.ts` decides. */
import { TuttiError } from '@tutti/core'

import { resolveOnUnfinished, type ResolvedOnUnfinished } from '../definition/on-unfinished.ts'
import {
  CONTINUE_REQUEST,
  decideRecovery,
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
  /** Label of the model that gave it. */
  readonly model: string
}

/** The part of a conversation that a recovery writes. */
export interface ContinuedConversation {
  /** Adds a text that the model has not finished. */
  addPart(text: string): void
  say(content: string): void
}

/** The extra calls of one loop. */
export class Recovery {
  readonly #models: ModelChain
  readonly #options: ResolvedOnUnfinished
  readonly #structured: boolean
  #text = ''
  #extraCalls = 0
  #cut: CutAnswer | undefined
  #maxOutputTokens: number | undefined
  #extraTurns = 0

  constructor({ task, run }: TaskScope, models: ModelChain) {
    this.#models = models
    this.#structured = task.outputReader !== undefined
    this.#options = resolveOnUnfinished([
      task.onUnfinished,
      task.agent.onUnfinished,
      run.ensemble.onUnfinished,
    ])
  }

  /** Extra calls of the whole loop; they do not count against `maxIterations`. */
  get extraTurns(): number {
    return this.#extraTurns
  }

  /** Whether the next call is an extra one. */
  get isExtra(): boolean {
    return this.#cut !== undefined
  }

  /** Limit of the next calls, when an answer was cut at that of the model. */
  get maxOutputTokens(): number | undefined {
    return this.#maxOutputTokens
  }

  /**
   * Prepares an extra call, or returns the text that counts as the answer although it was cut.
   *
   * @throws {TuttiError} MODEL_REFUSED, CONTENT_FILTERED or OUTPUT_TRUNCATED when nothing may follow.
   */
  take(cut: CutAnswer, conversation: ContinuedConversation): string | undefined {
    const { reason, reply } = cut
    const recovery = decideRecovery({
      reason,
      reply,
      options: this.#options,
      structured: this.#structured,
      extraCalls: this.#extraCalls,
      maxOutputTokens: this.#maxOutputTokens,
    })
    switch (recovery.kind) {
      case 'accept':
        return this.finish(reply.text)
      case 'continue':
        this.#text += reply.text
        conversation.addPart(reply.text)
        conversation.say(CONTINUE_REQUEST)
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

  /** The whole text of an answer that ends with `text`. */
  finish(text: string): string {
    const whole = this.#text + text
    this.#text = ''
    this.#extraCalls = 0
    this.#cut = undefined
    return whole
  }

  /**
   * The error when a call failed with `error`: a provider that does not accept the higher limit leaves the
   * answer cut, and that is what the task failed of.
   */
  errorOf(error: unknown): unknown {
    const cut = this.#cut
    if (cut?.reason !== 'length' || this.#maxOutputTokens === undefined) return error
    const isRejected =
      TuttiError.isInstance(error) && error.code === 'MODEL_FAILED' && !error.retryable
    return isRejected ? this.#error(cut, error) : error
  }

  #error({ reason, reply, model }: CutAnswer, cause?: unknown): TuttiError {
    const extraCalls = this.#extraCalls
    const text = this.#text + reply.text
    return unfinishedError({ reason, reply, extraCalls }, { model, text, cause })
  }
}
