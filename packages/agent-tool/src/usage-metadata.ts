/** Limits and usage in the metadata of A2A, MCP and the `/tasks` wire, under the usage extension. Pure. */
import {
  isJsonObject,
  readCostUsd,
  readTokenCount,
  USAGE_EXTENSION,
} from '@tutti/protocol/internal'

import type { AgentUsageReport } from '@tutti/agent-call/internal'
import type { Remaining } from '@tutti/core/internal'

/** Returns the limits for the metadata of a request; undefined when there are none. */
export function toLimitsMetadata({
  timeMs,
  costUsd,
  tokens,
}: Remaining): Readonly<Record<string, unknown>> | undefined {
  const limits = {
    ...(Number.isFinite(costUsd) ? { max_cost_usd: costUsd } : {}),
    ...(Number.isFinite(tokens) ? { max_tokens: Math.floor(tokens) } : {}),
    ...(Number.isFinite(timeMs) && timeMs > 0 ? { deadline_ms: Math.ceil(timeMs) } : {}),
  }
  return Object.keys(limits).length === 0 ? undefined : { [USAGE_EXTENSION]: limits }
}

/** Usage in metadata: the cost since the last report, and totals of a task. */
export type UsageInMetadata = Pick<AgentUsageReport, 'costUsd' | 'totalCostUsd' | 'totalTokens'>

/** Reads the usage that metadata reports; undefined when it reports none. */
export function readUsageMetadata(metadata: unknown): UsageInMetadata | undefined {
  if (!isJsonObject(metadata)) return undefined
  const extension = metadata[USAGE_EXTENSION]
  const fields = isJsonObject(extension) ? extension : {}
  const costUsd = readCostUsd(fields['cost_usd']) ?? readCostUsd(metadata['cost_usd'])
  const totalCostUsd = readCostUsd(fields['total_cost_usd'])
  const totalTokens = readTokenCount(fields['total_tokens'])
  const usage = {
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(totalCostUsd === undefined ? {} : { totalCostUsd }),
    ...(totalTokens === undefined ? {} : { totalTokens }),
  }
  return Object.keys(usage).length === 0 ? undefined : usage
}
