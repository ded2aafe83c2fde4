/**
 * Pure: decides what follows when a model ends an answer early, and creates the errors if nothing can follow.
 *
 *   length          text ─▶ ask to continue, join the texts          ─┐
 *                   tool call, JSON, no text ─▶ again, higher limit  ─┴─▶ OUTPUT_TRUNCATED
 *   refusal         ─▶ next fallback model ─▶ MODEL_REFUSED
 *   content_filter  ─▶ next fallback model ─▶ CONTENT_FILTERED
 */
import { TuttiError } from '@tutti/core'
import { MAX_AMOUNT, previewOf, type FinishReason } from '@tutti/protocol/internal'

import { CHARACTERS_PER_TOKEN } from '../usage/budget.ts'
import { readTokens } from '../usage/tokens.ts'

import type { ResolvedOnUnfinished } from '../definition/on-unfinished.ts'
import type { ModelReply } from '../model/chat-model.ts'

/** Finish reason of an answer that ended early. */
export type UnfinishedReason = Extract<FinishReason, 'length' | 'refusal' | 'content_filter'>

/** Returns the reason why `reply` is unfinished; undefined if it is finished. */
export function findUnfinishedReason({
  finishReason,
}: Pick<ModelReply, 'finishReason'>): UnfinishedReason | undefined {
  return finishReason === 'length' ||
    finishReason === 'refusal' ||
    finishReason === 'content_filter'
    ? finishReason
    : undefined
}

/** Next step after an answer that ended early. */
export type RecoveryStep =
  | { readonly kind: 'continue' }
  | { readonly kind: 'retry'; readonly maxOutputTokens: number }
  | { readonly kind: 'accept' }
  | { readonly kind: 'fallback' }
  | { readonly kind: 'fail' }

/** An answer that ended early, and the options of its task. */
export interface Unfinished {
  readonly reason: UnfinishedReason
  readonly reply: ModelReply
  readonly options: ResolvedOnUnfinished
  /** Whether the answer must match a schema; such a text cannot be continued. */
  readonly structured: boolean
  /** Number of extra calls that were made for this answer. */
  readonly extraCalls: number
  /** Output limit of the cut call, if one was set. */
  readonly maxOutputTokens: number | undefined
}

/**
 * Decides what follows. A cut answer without text cannot be continued, because all its tokens went into
 * reasoning.
 */
export function decideRecovery(unfinished: Unfinished): RecoveryStep {
  const { reason, reply, options, structured, extraCalls } = unfinished
  if (reason === 'refusal') return { kind: options.refusal }
  if (reason === 'content_filter') return { kind: options.contentFilter }
  const isText = reply.toolCalls.length === 0 && !structured && reply.text.trim() !== ''
  if (options.length === 'accept' && isText) return { kind: 'accept' }
  if (options.length === 'fail' || extraCalls >= options.maxExtraCalls) return { kind: 'fail' }
  if (options.length === 'continue' && isText) return { kind: 'continue' }
  return { kind: 'retry', maxOutputTokens: computeHigherLimit(unfinished) }
}

/**
 * Lowest output limit of a repeated call, because the default of some providers is only a few hundred tokens.
 */
const MIN_HIGHER_LIMIT = 2_048

/**
 * Returns twice the number of output tokens of the cut answer; they are estimated if the provider does not
 * report them.
 */
function computeHigherLimit({ reply, maxOutputTokens = 0 }: Unfinished): number {
  const written = reply.text.length + reply.toolCalls.reduce(addLength, 0)
  const { outputTokens } = readTokens(reply.usage)
  const used = outputTokens === -1 ? Math.ceil(written / CHARACTERS_PER_TOKEN) : outputTokens
  return Math.min(MAX_AMOUNT, Math.max(MIN_HIGHER_LIMIT, 2 * Math.max(used, maxOutputTokens)))
}

function addLength(sum: number, call: ModelReply['toolCalls'][number]): number {
  return sum + call.arguments.length
}

/** Asks the model for the rest of a text that was cut. */
export const CONTINUE_REQUEST =
  'Your answer was cut off at the output limit. Continue exactly where it stopped, without repeating ' +
  'anything and without a comment.'

/** Asks the model for its last answer once more after an empty one. */
export const EMPTY_ANSWER_REQUEST =
  'Your last answer was empty. Write your complete final answer now. If you wrote it together with a ' +
  'tool call, write it again in full.'

/** The model that answered with an empty text, and the texts of its task. */
export interface EmptyAnswer {
  readonly taskName: string
  /** Label of the model. */
  readonly model: string
  /** Text that the model wrote with its last tool calls; empty if there is none. */
  readonly textWithCalls: string
}

/** Returns the error of a task whose last answer was empty twice. */
export function emptyAnswerError(
  { taskName, model, textWithCalls }: EmptyAnswer,
  cause?: unknown,
): TuttiError {
  const written =
    textWithCalls === '' ? '' : `; with its last tool calls it wrote: ${previewOf(textWithCalls)}`
  return new TuttiError(
    'OUTPUT_EMPTY',
    `The last answer of task "${taskName}" by ${model} was empty, also when it was requested again${written}`,
    {
      retryable: true,
      details: { model, ...(textWithCalls === '' ? {} : { textWithCalls }) },
      ...(cause === undefined ? {} : { cause }),
    },
  )
}

/** Returns the error of a task whose model ended its answer early. */
export function unfinishedError(
  { reason, reply, extraCalls }: Pick<Unfinished, 'reason' | 'reply' | 'extraCalls'>,
  {
    model,
    text,
    cause,
  }: { readonly model: string; readonly text: string; readonly cause?: unknown },
): TuttiError {
  const { refusal, providerFinishReason } = reply
  const [code, message] = describeUnfinished({ reason, reply, extraCalls }, model)
  const fields = { finishReason: reason, providerFinishReason, model, text, refusal }
  return new TuttiError(code, message, {
    retryable: false,
    details: Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)),
    ...(cause === undefined ? {} : { cause }),
  })
}

type Described = Pick<Unfinished, 'reason' | 'reply' | 'extraCalls'>

function describeUnfinished(
  { reason, reply, extraCalls }: Described,
  model: string,
): readonly [TuttiError['code'], string] {
  const { refusal = reply.text, providerFinishReason } = reply
  const explanation = refusal.trim() === '' ? '' : `: ${previewOf(refusal)}`
  const named = providerFinishReason === undefined ? '' : ` (${providerFinishReason})`
  switch (reason) {
    case 'refusal':
      return ['MODEL_REFUSED', `Model ${model} refused to answer${explanation}`]
    case 'content_filter':
      return [
        'CONTENT_FILTERED',
        `A content filter of ${model} blocked the answer${named}${explanation}`,
      ]
    case 'length': {
      const what = reply.toolCalls.length > 0 ? 'tool call' : 'answer'
      const after = extraCalls === 0 ? '' : `, after ${extraCalls} extra calls`
      return ['OUTPUT_TRUNCATED', `The ${what} of ${model} was cut at its output limit${after}`]
    }
  }
}
