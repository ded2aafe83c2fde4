/** Pure: token counts; -1 on the wire means that a provider did not report them. */
import { addAmounts } from '@tutti/protocol'

import type { ModelUsage } from '../model/chat-model.ts'

/** Input and output tokens; -1 if unknown. */
export interface TokenTotals {
  readonly inputTokens: number
  readonly outputTokens: number
}

/** Token counts of work that has not begun. */
export const NO_TOKENS: TokenTotals = { inputTokens: 0, outputTokens: 0 }

/** Returns the sum of counts; unknown if any count is. */
export function addTokens(counts: readonly TokenTotals[]): TokenTotals {
  let inputTokens = 0
  let outputTokens = 0
  for (const count of counts) {
    inputTokens = addKnown(inputTokens, count.inputTokens)
    outputTokens = addKnown(outputTokens, count.outputTokens)
  }
  return { inputTokens, outputTokens }
}

/** Returns the token counts of one model call. */
export function readTokens(usage: ModelUsage | undefined): TokenTotals {
  if (usage === undefined) return { inputTokens: -1, outputTokens: -1 }
  const { inputTokens, outputTokens } = usage
  return { inputTokens, outputTokens }
}

/** Returns the total number of tokens; -1 if either count is unknown. */
export function totalTokens({ inputTokens, outputTokens }: TokenTotals): number {
  return addKnown(inputTokens, outputTokens)
}

function addKnown(a: number, b: number): number {
  return a === -1 || b === -1 ? -1 : addAmounts(a, b)
}
