/** The budget of one run, from the budgets of its ensemble and its caller. */
import { mergeBudgets, type Budget } from '../usage/budget.ts'
import { findUnpriced } from './check-options.ts'

import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { Prices } from '../model/prices.ts'
import type { Logger } from '@tutti/core'

/** Parts of a run that enforcing a budget needs. */
export interface BudgetContext {
  readonly prices: Prices | undefined
  readonly logger: Logger
}

/**
 * Returns the smaller value of each limit. A requested limit on cost is left out and logged if a model has no
 * known price, because it cannot be enforced; the caller counts the cost too.
 */
export function narrowedBudget(
  ensemble: ResolvedEnsemble,
  asked: Budget,
  { prices, logger }: BudgetContext,
): Budget {
  const budget = mergeBudgets(ensemble.budget ?? {}, asked)
  if (asked.maxCostUsd === undefined || ensemble.budget?.maxCostUsd !== undefined) return budget
  const unpriced = findUnpriced(ensemble, prices === undefined ? { budget } : { budget, prices })
  if (unpriced.length === 0) return budget
  logger.warn('maxCostUsd cannot be enforced: models have no price', { unpriced })
  const { maxCostUsd: _, ...rest } = budget
  return rest
}
