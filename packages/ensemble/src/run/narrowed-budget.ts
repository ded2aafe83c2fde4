/** The budget of one run, from that of its ensemble and that of its caller. */
import { findUnpriced } from './check-options.ts'

import type { Budget } from '../usage/budget.ts'
import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { Prices } from '../model/prices.ts'
import type { Logger } from '@tutti/core'

/** The context in which a budget is enforced. */
export interface BudgetSurroundings {
  readonly prices: Prices | undefined
  readonly logger: Logger
}

/**
 * Returns the smaller of both for each limit. A requested limit on cost that cannot be enforced, as a model has no
 * known price, is left out and logged: it is what the caller has left, and the caller counts too.
 */
export function narrowedBudget(
  ensemble: ResolvedEnsemble,
  asked: Budget,
  { prices, logger }: BudgetSurroundings,
): Budget {
  const budget = narrower(ensemble.budget ?? {}, asked)
  if (asked.maxCostUsd === undefined || ensemble.budget?.maxCostUsd !== undefined) return budget
  const unpriced = findUnpriced(ensemble, prices === undefined ? { budget } : { budget, prices })
  if (unpriced.length === 0) return budget
  logger.warn('maxCostUsd cannot be enforced: models have no price', { unpriced })
  const { maxCostUsd: _, ...rest } = budget
  return rest
}

function narrower(one: Budget, other: Budget): Budget {
  const least: Record<string, number> = {}
  for (const [name, limit] of [...Object.entries(one), ...Object.entries(other)]) {
    least[name] = Math.min(limit, least[name] ?? Infinity)
  }
  return least
}
