/** Pure: checks whether a run of an ensemble can start with its options. */
import { TuttiError } from '@tutti/core'
import { cachePerObject, findOptionProblems } from '@tutti/core/internal'

import { findClientToolProblems } from '../agent/client-tools.ts'
import { findHistoryProblems } from '../definition/history.ts'
import { listAllTasks } from '../definition/manager.ts'
import { findMissingModels } from '../definition/missing-models.ts'
import { createFallbackModelLookup, modelOfTask } from '../definition/model-of-task.ts'
import { reviewAfter, reviewSettingsOf } from '../definition/review-settings.ts'
import { inheritModel, listSubEnsembles } from '../definition/sub-ensemble.ts'
import { reviewAtMax } from '../definition/loop-end.ts'
import { listTaskTree, listWorkingTasks, type Task } from '../definition/task.ts'
import { findPrice } from '../model/prices.ts'
import { toModelLabel } from '../steering/models.ts'
import { resolveTier } from '../steering/tiers.ts'
import { findBudgetProblems } from '../usage/budget.ts'
import { RUN_OPTION_NAMES, type RunOptions } from './run-options.ts'

import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { ModelCatalog } from '../model/model-catalog.ts'

/**
 * Checks the options of a run.
 *
 * @throws {TuttiError} CONFIG_INVALID, naming every problem.
 */
export function assertOptions(ensemble: ResolvedEnsemble, options: RunOptions): void {
  const problems = findProblems(ensemble, options)
  if (problems.length === 0) return
  throw new TuttiError('CONFIG_INVALID', `Cannot run "${ensemble.name}": ${problems.join('; ')}`, {
    details: { problems },
  })
}

function findProblems(ensemble: ResolvedEnsemble, options: RunOptions): readonly string[] {
  const { reviewer, decidable, clientTools = [] } = options
  const hasReviewer = reviewer !== undefined || decidable === true
  const problems = [...findOptionProblems(options, RUN_OPTION_NAMES)]
  problems.push(...findMissingModels(ensemble))
  problems.push(...findBudgetProblems(options.budget))
  for (const { path, message } of findHistoryProblems(options.history)) {
    problems.push(`history${path} ${message}`)
  }
  for (const name of hasReviewer ? [] : listReviewedTasks(ensemble)) {
    problems.push(
      `task "${name}" needs a review, but the run has no reviewer: set the option reviewer`,
    )
  }
  for (const { path, message } of findClientToolProblems(ensemble, clientTools)) {
    problems.push(`clientTools${path} ${message}`)
  }
  if (clientTools.length > 0 && !hasReviewer) {
    problems.push('clientTools cannot be answered: set the option reviewer, or use start')
  }
  problems.push(...findUnknownTiers(ensemble, options.models))
  for (const model of findUnpriced(ensemble, options)) {
    problems.push(
      `maxCostUsd cannot be enforced: no price for model "${model}"; pass the option ` +
        `prices: priceList({ "${model}": { inputPerMillion, outputPerMillion } })`,
    )
  }
  return problems
}

/** Returns the names of the tasks of an ensemble that need a review. */
export const listReviewedTasks = cachePerObject((ensemble: ResolvedEnsemble): readonly string[] => {
  const { lastTasks } = ensemble.plan
  const tasks = listAllTasks(ensemble)
  const own = tasks
    .flatMap(listTaskTree)
    .filter(
      (task) =>
        reviewAtMax(task) !== undefined ||
        reviewSettingsOf(task.beforeReview) !== undefined ||
        reviewAfter(task, ensemble.reviewPolicy, lastTasks) !== undefined,
    )
    .map(({ name }) => name)
  const nested = listSubEnsembles(tasks).flatMap(({ task, definition }) =>
    listReviewedTasks(definition).map((name) => `${task.name}/${name}`),
  )
  return [...new Set([...own, ...nested])]
})

/**
 * Returns the problems of the model rules of an ensemble: one for each tier that the catalog does not have.
 */
export function findUnknownTiers(
  ensemble: ResolvedEnsemble,
  models: Pick<ModelCatalog, 'tiers'> | undefined,
): readonly string[] {
  const { modelRules = [] } = ensemble
  if (modelRules.length === 0) return []
  const tasks = listAllTasks(ensemble)
  const fallbackModel = createFallbackModelLookup(ensemble, tasks)
  const hasFallback = tasks.some(({ name }) => fallbackModel(name) !== undefined)
  return modelRules.flatMap(({ tier }, index) => {
    try {
      resolveTier(tier, models, hasFallback)
      return []
    } catch (error) {
      if (TuttiError.isInstance(error)) return [`modelRules[${index}]: ${error.message}`]
      throw error
    }
  })
}

/**
 * Returns the labels of models without a known price, for which a limit on cost cannot be enforced. A run
 * with such a limit is rejected.
 */
export function findUnpriced(
  ensemble: ResolvedEnsemble,
  { budget = ensemble.budget, prices }: Pick<RunOptions, 'budget' | 'prices'>,
): readonly string[] {
  const tasks = listAllTasks(ensemble).flatMap(listWorkingTasks)
  const isLimited = (task: Task): boolean =>
    budget?.maxCostUsd !== undefined || task.budget?.maxCostUsd !== undefined
  const limited = tasks.filter((task) => task.handler === undefined && isLimited(task))
  const nested = listSubEnsembles(tasks).flatMap(({ task, definition }) => {
    const limits = { ...budget, ...task.budget }
    return findUnpriced(
      inheritModel(definition, ensemble),
      prices === undefined ? { budget: limits } : { budget: limits, prices },
    )
  })
  if (limited.length === 0) return [...new Set(nested)]
  const models = limited.flatMap((task) => [
    modelOfTask(task, ensemble),
    ...(task.fallbackModels ?? ensemble.fallbackModels ?? []),
  ])
  const unpriced = models.flatMap((model) =>
    model === undefined || findPrice(model, prices) !== undefined ? [] : [toModelLabel(model)],
  )
  return [...new Set([...unpriced, ...nested])]
}
