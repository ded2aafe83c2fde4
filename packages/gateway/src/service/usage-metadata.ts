/** Pure: formats the usage of a run as the usage extension does. */
import { readRunCost, USAGE_EXTENSION, type RunUsage } from '@tutti/protocol/internal'

/** Returns metadata with the usage so far and, with `before`, the cost since then. */
export function toUsageMetadata(
  now: RunUsage,
  before?: RunUsage,
): Readonly<Record<string, unknown>> {
  const total = readRunCost(now)
  const earlier = before === undefined ? undefined : readRunCost(before)
  return {
    [USAGE_EXTENSION]: {
      total_tokens: now.tokens,
      ...(total === undefined ? {} : { total_cost_usd: total }),
      ...(total === undefined || earlier === undefined ? {} : { cost_usd: total - earlier }),
    },
  }
}
