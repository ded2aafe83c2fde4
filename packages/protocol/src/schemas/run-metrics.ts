/** What a run used, in total. Shared by `run_result` and the run detail. */
import Type from 'typebox'
import { CostUsd, Count, TokenCount } from './scalars.ts'

/** Estimated cost in US dollars, by the prices the server knows. */
export const CostEstimate = Type.Object({
  inputCost: Type.Number({ minimum: 0 }),
  outputCost: Type.Number({ minimum: 0 }),
})
export type CostEstimate = Type.Static<typeof CostEstimate>

/** Totals of a run so far. Control API seed §4.1 and §4.3. */
export const RunMetrics = Type.Object({
  totalTokens: TokenCount,
  totalToolCalls: Count,
  costEstimate: Type.Optional(CostEstimate),
  /** Estimated cost so far in US dollars; absent when a price is not known. Ours. */
  costUsd: Type.Optional(CostUsd),
})
export type RunMetrics = Type.Static<typeof RunMetrics>
