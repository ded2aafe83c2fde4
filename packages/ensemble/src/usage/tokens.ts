/** Pure: token counts that may be unknown, as the wire has them: -1 is "a provider did not say". */
import type { ModelUsage } from '../model/chat-model.ts'

/** Tokens read and written; -1 when unknown. */
export interface TokenTotals {
  readonly inputTokens: number
  readonly outputTokens: number
}

/** The count of a conversation that has not begun. */
export const NO_TOKENS: TokenTotals = { inputTokens: 0, outputTokens: 0 }

/** The sum of counts; unknown as soon as one of them is. */
export function addTokens(counts: readonly TokenTotals[]): TokenTotals {
  let inputTokens = 0
  let outputTokens = 0
  for (const count of counts) {
    inputTokens = addKnown(inputTokens, count.inputTokens)
    outputTokens = addKnown(outputTokens, count.outputTokens)
  }
  return { inputTokens, outputTokens }
}

/** The count of one model call. */
export function tokensOfCall(usage: ModelUsage | undefined): TokenTotals {
  if (usage === undefined) return { inputTokens: -1, outputTokens: -1 }
  const { inputTokens, outputTokens } = usage
  return { inputTokens, outputTokens }
}

/** Tokens read and written together; -1 when either is unknown. */
export function totalTokens({ inputTokens, outputTokens }: TokenTotals): number {
  return addKnown(inputTokens, outputTokens)
}

function addKnown(a: number, b: number): number {
  return a === -1 || b === -1 ? -1 : a + b
}
