/** Cost and limits over MCP, which has no word for them: in `_meta`, as over A2A. Pure. */
import { USAGE_EXTENSION } from '@tutti/protocol'

import { limitsMetadata } from '../a2a/usage.ts'
import { isObject } from './tool-arguments.ts'

import type { AgentCall, AgentUsageReport } from '@tutti/agent-call'

/** `_meta` of a request: the limits that there are, and the trace. */
export function requestMeta({
  remaining,
  traceparent,
}: Pick<AgentCall, 'remaining' | 'traceparent'>): Record<string, unknown> {
  return { ...limitsMetadata(remaining()), ...(traceparent === undefined ? {} : { traceparent }) }
}

/** What `_meta` of a result or of progress says was used; undefined when it says nothing. */
export function usageIn(meta: unknown): AgentUsageReport | undefined {
  if (!isObject(meta)) return undefined
  const extension = meta[USAGE_EXTENSION]
  const fields = isObject(extension) ? extension : {}
  const said = {
    ...amount('costUsd', fields['cost_usd'] ?? meta['cost_usd']),
    ...amount('totalCostUsd', fields['total_cost_usd']),
    ...amount('totalTokens', fields['total_tokens']),
  }
  return Object.keys(said).length === 0 ? undefined : said
}

function amount(name: string, value: unknown): Readonly<Record<string, number>> {
  return typeof value === 'number' ? { [name]: value } : {}
}
