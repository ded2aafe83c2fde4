/**
 * Reads token counts in the forms of all providers. Pure.
 *
 * LC-U1 A count is a non-negative safe integer or unknown. Fractions, negative numbers, text and NaN are unknown.
 * LC-U2 Counts in several events of one answer are snapshots: a later one replaces an earlier one and is never added to
 *    it. A later 0 does not replace a count: services send it as a placeholder.
 * LC-U3 Input includes the tokens of the cache, and output those of reasoning, also of services that count them
 *    separately. Nothing else is computed: the engine decides about counts that are missing, 0 or contradictory.
 */
import { readField, readObject } from './json.ts'

import type { ModelUsage } from '@tutti/ensemble/adapter'

/** Counts of one answer, as its service reported them; absent if unknown. */
export interface TokenCounts {
  readonly input?: number | undefined
  readonly output?: number | undefined
  readonly total?: number | undefined
  readonly cacheRead?: number | undefined
  readonly cacheWrite?: number | undefined
  readonly reasoning?: number | undefined
  /** Whether `input` does not include the tokens of the cache, as Anthropic counts. */
  readonly excludesCache?: boolean
}

/** Returns a valid count; undefined for anything else. */
export function readServiceCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

/** Reads the usage object of a service. */
export function readCounts(usage: unknown): TokenCounts {
  if (readObject(usage) === undefined) return {}
  const first = (...paths: readonly string[]): number | undefined =>
    paths
      .map((path) => readServiceCount(path.split('.').reduce(readField, usage)))
      .find((count) => count !== undefined)
  const written = sum(
    first('cache_creation.ephemeral_5m_input_tokens'),
    first('cache_creation.ephemeral_1h_input_tokens'),
  )
  const plain = first('prompt_tokens', 'prompt_eval_count')
  const input = first('input_tokens', 'inputTokens')
  const excludesCache =
    plain === undefined &&
    ['cache_read_input_tokens', 'cache_creation_input_tokens', 'cache_creation'].some(
      (key) => readField(usage, key) !== undefined,
    )
  return {
    input: plain ?? input ?? sum(first('promptTokenCount'), first('toolUsePromptTokenCount')),
    output:
      first('completion_tokens', 'output_tokens', 'outputTokens', 'eval_count') ??
      sum(first('candidatesTokenCount'), first('thoughtsTokenCount')),
    total: first('total_tokens', 'totalTokenCount', 'totalTokens'),
    cacheRead: first(
      'cache_read_input_tokens',
      'prompt_tokens_details.cached_tokens',
      'input_tokens_details.cached_tokens',
      'prompt_cache_hit_tokens',
      'cached_tokens',
      'cachedContentTokenCount',
    ),
    cacheWrite:
      first(
        'cache_creation_input_tokens',
        'prompt_tokens_details.cache_write_tokens',
        'input_tokens_details.cache_write_tokens',
      ) ?? written,
    reasoning: first(
      'completion_tokens_details.reasoning_tokens',
      'output_tokens_details.reasoning_tokens',
      'thoughtsTokenCount',
      'reasoning_tokens',
    ),
    ...(excludesCache ? { excludesCache } : {}),
  }
}

/** Returns whether `counts` has a count of input or output, or a total. */
export function hasCounts({ input, output, total }: TokenCounts): boolean {
  return input !== undefined || output !== undefined || total !== undefined
}

/** Merges the counts of a later event into `before`. [LC-U2] */
export function mergeCounts(before: TokenCounts, next: TokenCounts): TokenCounts {
  const splitsInput = next.input !== undefined && (sum(next.cacheRead, next.cacheWrite) ?? 0) > 0
  return {
    input: splitsInput ? next.input : later(before.input, next.input),
    output: later(before.output, next.output),
    total: later(before.total, next.total),
    cacheRead: later(before.cacheRead, next.cacheRead),
    cacheWrite: later(before.cacheWrite, next.cacheWrite),
    reasoning: later(before.reasoning, next.reasoning),
    ...(before.excludesCache === true || next.excludesCache === true
      ? { excludesCache: true }
      : {}),
  }
}

/** Returns counts whose input includes the tokens of the cache. [LC-U3] */
export function includeCache(counts: TokenCounts): TokenCounts {
  const { excludesCache, ...others } = counts
  if (excludesCache !== true || counts.input === undefined) return others
  return { ...others, input: sum(counts.input, counts.cacheRead, counts.cacheWrite) }
}

/** Returns the counts of an answer as usage, in which an unknown count is -1; undefined if all are unknown. [LC-U3] */
export function toModelUsage(counts: TokenCounts): ModelUsage | undefined {
  if (!hasCounts(counts)) return undefined
  const {
    input,
    output,
    total,
    cacheRead = 0,
    cacheWrite = 0,
    reasoning = 0,
  } = includeCache(counts)
  // xAI does not count reasoning as output, but includes it in the total.
  const isApart = output !== undefined && sum(input, output, reasoning) === total
  return {
    inputTokens: input ?? -1,
    outputTokens: isApart ? output + reasoning : (output ?? -1),
    ...(total === undefined ? {} : { totalTokens: total }),
    ...(cacheRead > 0 ? { cachedInputTokens: cacheRead } : {}),
    ...(cacheWrite > 0 ? { cacheWriteInputTokens: cacheWrite } : {}),
    ...(reasoning > 0 ? { reasoningTokens: reasoning } : {}),
  }
}

/** Returns the sum of the known counts; undefined if none is known, or if the sum is not safe. */
export function sum(...counts: readonly (number | undefined)[]): number | undefined {
  const known = counts.filter((count) => count !== undefined)
  return known.length === 0
    ? undefined
    : readServiceCount(known.reduce((total, count) => total + count, 0))
}

function later(before: number | undefined, next: number | undefined): number | undefined {
  return next === undefined || (next === 0 && before !== undefined) ? before : next
}
