/** Pure: limits of a caller on the usage of a task, as the usage extension defines them. */
import { Type, type Static } from '@tutti/core'
import { decode } from '@tutti/protocol'
import {
  MAX_COST_USD,
  MAX_COUNT,
  MAX_DURATION_MS,
  type Problem,
  USAGE_EXTENSION,
} from '@tutti/protocol/internal'

import type { RunUsage } from '@tutti/protocol/internal'
import type { RunSubmission } from '@tutti/runs'

/** Limits of a caller, in the fields of the usage extension. */
export const UsageLimits = Type.Object({
  max_cost_usd: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: MAX_COST_USD })),
  max_tokens: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: MAX_COUNT })),
  deadline_ms: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: MAX_DURATION_MS })),
})
export type UsageLimits = Static<typeof UsageLimits>

/** Limits in metadata, or every problem with its path in the metadata. */
export type ReadLimits =
  | { readonly ok: true; readonly limits: UsageLimits }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Reads the limits in the metadata of a request. */
export function readLimits(metadata: Readonly<Record<string, unknown>> | undefined): ReadLimits {
  const decoded = decode(UsageLimits, metadata?.[USAGE_EXTENSION] ?? {})
  if (decoded.ok) return { ok: true, limits: decoded.value }
  const pointer = `/${USAGE_EXTENSION.replaceAll('/', '~1')}`
  const problems = decoded.problems.map((one) => ({ ...one, path: `${pointer}${one.path}` }))
  return { ok: false, problems }
}

/** Returns the limits on cost and tokens as the budget of a run. */
export function toRunBudget({
  max_cost_usd: maxCostUsd,
  max_tokens: maxTokens,
}: UsageLimits): Pick<RunSubmission, 'budget' | 'isAllowance'> {
  if (maxCostUsd === undefined && maxTokens === undefined) return {}
  return {
    isAllowance: true,
    budget: {
      ...(maxCostUsd === undefined ? {} : { maxCostUsd }),
      ...(maxTokens === undefined ? {} : { maxTokens }),
    },
  }
}

/** Limits of one request on a run; Infinity for no limit. */
export interface RunLimits {
  readonly maxCostUsd: number
  readonly maxTokens: number
  /** In milliseconds since 1970. */
  readonly deadlineAt: number
}

/** Resolves the limits of a request that arrives at `now`. */
export function resolveLimits(
  { max_cost_usd, max_tokens, deadline_ms }: UsageLimits,
  now: number,
): RunLimits {
  return {
    maxCostUsd: max_cost_usd ?? Infinity,
    maxTokens: max_tokens ?? Infinity,
    deadlineAt: now + (deadline_ms ?? Infinity),
  }
}

/** Describes the exceeded limit on cost or tokens; undefined when none is. Reaching a limit does not exceed it. */
export function describeExceededLimit(
  { maxCostUsd, maxTokens }: Pick<RunLimits, 'maxCostUsd' | 'maxTokens'>,
  { knownCostUsd: costUsd = 0, tokens }: Pick<RunUsage, 'knownCostUsd' | 'tokens'>,
): string | undefined {
  if (costUsd > maxCostUsd) {
    return `The run was cancelled: its cost of ${costUsd} USD exceeded max_cost_usd ${maxCostUsd}`
  }
  if (tokens > maxTokens) {
    return `The run was cancelled: its ${tokens} tokens exceeded max_tokens ${maxTokens}`
  }
  return undefined
}
