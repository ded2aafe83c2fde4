/** The budget of one run, from that of its ensemble and what whoever asked for it allows. */
import { findUnpriced, type Budget, type Ensemble, type Prices } from '@tutti/ensemble'

import type { Logger } from '@tutti/core'

/** What decides whether a budget can be kept. */
export interface BudgetSurroundings {
  readonly prices: Prices | undefined
  readonly logger: Logger
}

/**
 * The smaller of both for each limit; undefined when nothing was asked for, so that the ensemble's counts. A
 * limit on cost that was asked for and cannot be kept, as a model has no known price, is left out and
 * logged: it is what the caller has left, and the caller counts too.
 */
export function runBudget(
  ensemble: Ensemble,
  asked: Budget | undefined,
  { prices, logger }: BudgetSurroundings,
): Budget | undefined {
  if (asked === undefined) return undefined
  const budget = narrower(ensemble.budget ?? {}, asked)
  if (asked.maxCostUsd === undefined || ensemble.budget?.maxCostUsd !== undefined) return budget
  const unpriced = findUnpriced(ensemble, prices === undefined ? { budget } : { budget, prices })
  if (unpriced.length === 0) return budget
  logger.warn('A limit on cost that a run was asked to keep cannot be kept', { unpriced })
  const { maxCostUsd: _, ...rest } = budget
  return rest
}

function narrower(one: Budget, other: Budget): Budget {
  const limits = [...Object.entries(one), ...Object.entries(other)] as const
  const least: Record<string, number> = {}
  for (const [name, limit] of limits) least[name] = Math.min(limit, least[name] ?? Infinity)
  return least
}
