/** Totals of a run, shared by `run_result` and the run detail. */
import Type from 'typebox'
import { CostUsd, Count, TokenCount } from './scalars.ts'

import type { Static } from '../static.ts'

/** Estimated cost in US dollars, by the prices that the server knows. */
export const CostEstimate = Type.Object({
  /** Cost of the tokens read. */
  inputCost: CostUsd,
  /** Cost of the tokens written. */
  outputCost: CostUsd,
})
export type CostEstimate = Static<typeof CostEstimate>

/** Totals of a run so far. */
export const RunMetrics = Type.Object({
  /** Tokens read and written; -1 when not known. */
  totalTokens: TokenCount,
  /** Number of tool calls that ended. */
  totalToolCalls: Count,
  costEstimate: Type.Optional(CostEstimate),
  /** Estimated cost so far in US dollars; absent when a price is not known. */
  costUsd: Type.Optional(CostUsd),
})
export type RunMetrics = Static<typeof RunMetrics>
