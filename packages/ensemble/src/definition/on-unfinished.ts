/** Options for answers that a model ended early. */
import { findChoiceProblems, findOptionProblems, type OptionNames } from '@tutti/core/internal'

/** Reactions to an answer that a model ended early. */
export interface OnUnfinished {
  /**
   * After an answer that was cut at the output limit of the model: `continue` asks for the rest of a
   * text, and requests a tool call or structured output again with a higher limit; `retry` requests any
   * answer again with a higher limit; `accept` takes a cut text as the answer; `fail` fails the task
   * with OUTPUT_TRUNCATED. @default 'continue'
   */
  readonly length?: 'continue' | 'retry' | 'accept' | 'fail'
  /** Maximum number of extra model calls for one cut answer, at least 1. @default 3 */
  readonly maxExtraCalls?: number
  /**
   * After a refusal: `fallback` calls the next fallback model, `fail` fails with MODEL_REFUSED. @default
   * 'fallback'
   */
  readonly refusal?: 'fallback' | 'fail'
  /**
   * After a blocked answer: `fallback` calls the next fallback model, `fail` fails with CONTENT_FILTERED.
   * @default 'fallback'
   */
  readonly contentFilter?: 'fallback' | 'fail'
}

/** Options with all defaults filled in. */
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
  /** Enough for a text four times as long as the model's output limit, or to double the limit three times. */
  maxExtraCalls: 3,
  refusal: 'fallback',
  contentFilter: 'fallback',
}

/** Returns the first value of each option; `sources` are in order of precedence. */
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

/** Returns the problems of the options, one text each. */
export function findOnUnfinishedProblems(options: OnUnfinished = {}): readonly string[] {
  const { maxExtraCalls = 1 } = options
  const problems = [
    ...findOptionProblems(options, NAMES, 'onUnfinished'),
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
