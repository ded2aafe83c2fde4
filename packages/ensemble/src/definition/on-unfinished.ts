/** Options for answers that a model ends early. */
import { findChoiceProblems, findUnknownOptions, type OptionNames } from '@tutti/core'

/** Reactions to an answer that a model ended early. */
export interface OnUnfinished {
  /**
   * After an answer that was cut at the output limit of the model: `continue` asks for the rest of a
   * text, and requests a tool call or structured output again with a higher limit; `retry` requests any
   * answer again with a higher limit; `accept` takes a cut text as the answer; `fail` fails the task
   * with OUTPUT_TRUNCATED. @default 'continue'
   */
  readonly length?: 'continue' | 'retry' | 'accept' | 'fail'
  /** Extra model calls for one cut answer, at least 1. @default 3 */
  readonly maxExtraCalls?: number
  /** After a refusal: asks the next fallback model, or fails with MODEL_REFUSED. @default 'fallback' */
  readonly refusal?: 'fallback' | 'fail'
  /** After a blocked answer: the same, or fails with CONTENT_FILTERED. @default 'fallback' */
  readonly contentFilter?: 'fallback' | 'fail'
}

/** Options with nothing left open. */
export type ResolvedOnUnfinished = Required<OnUnfinished>

const CHOICES = {
  length: ['continue', 'retry', 'accept', 'fail'],
  refusal: ['fallback', 'fail'],
  contentFilter: ['fallback', 'fail'],
} as const satisfies { readonly [K in keyof OnUnfinished]: readonly OnUnfinished[K][] }

const NAMES = {
  length: true,
  maxExtraCalls: true,
  refusal: true,
  contentFilter: true,
} as const satisfies OptionNames<OnUnfinished>

const DEFAULTS: ResolvedOnUnfinished = {
  length: 'continue',
  /** A text of four times the limit, or a limit of eight times the model's. */
  maxExtraCalls: 3,
  refusal: 'fallback',
  contentFilter: 'fallback',
}

/** The first value of each option; the sources come in the order of their precedence. */
export function resolveOnUnfinished(
  sources: readonly (OnUnfinished | undefined)[],
): ResolvedOnUnfinished {
  return sources.toReversed().reduce<ResolvedOnUnfinished>(
    (resolved, source = {}) => ({
      length: source.length ?? resolved.length,
      maxExtraCalls: source.maxExtraCalls ?? resolved.maxExtraCalls,
      refusal: source.refusal ?? resolved.refusal,
      contentFilter: source.contentFilter ?? resolved.contentFilter,
    }),
    DEFAULTS,
  )
}

/** The problems of the options, one sentence each. */
export function findOnUnfinishedProblems(options: OnUnfinished = {}): readonly string[] {
  const { maxExtraCalls = 1 } = options
  const problems = [
    ...findUnknownOptions(options, NAMES, 'onUnfinished'),
    ...Object.entries(CHOICES).flatMap(([name, choices]) =>
      findChoiceProblems(
        `onUnfinished.${name}`,
        new Map(Object.entries(options)).get(name),
        choices,
      ),
    ),
  ]
  if (!(Number.isInteger(maxExtraCalls) && maxExtraCalls >= 1)) {
    problems.push(`onUnfinished.maxExtraCalls must be an integer >= 1, got ${maxExtraCalls}`)
  }
  return problems
}
