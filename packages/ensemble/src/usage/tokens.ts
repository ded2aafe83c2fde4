/** Pure: token counts; -1 on the wire means that a provider did not report them. */
import type { TokenTotals } from '@tutti/protocol/internal'

import type { ModelUsage } from '../model/chat-model.ts'

/** Returns the token counts of one model call. */
export function readTokens(usage: ModelUsage | undefined): TokenTotals {
  if (usage === undefined) return { inputTokens: -1, outputTokens: -1 }
  const { inputTokens, outputTokens } = usage
  return { inputTokens, outputTokens }
}
