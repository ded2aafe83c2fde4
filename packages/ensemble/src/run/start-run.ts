/** Checks that a run can start, and starts it. */
import { findUnknownOptions, TuttiError } from '@tutti/core'

import { findBudgetProblems } from '../usage/budget.ts'
import { allTasks } from '../definition/manager.ts'
import { assertInputs, type Inputs } from '../definition/inputs.ts'
import { reviewAfter, reviewSettingsOf } from '../definition/review-settings.ts'
import { assertTextSizes } from '../definition/text-limits.ts'
import { findUnknownTiers } from './find-unknown-tiers.ts'
import { findUnpriced } from './find-unpriced.ts'
import { Run } from './run.ts'
import { RUN_OPTION_NAMES, type RunOptions } from './run-options.ts'

import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { Task } from '../definition/task.ts'
import type { RunHandle } from './run-handle.ts'

/** Starts a run of `ensemble`; see `Ensemble.start`. */
export function startRun(
  ensemble: ResolvedEnsemble,
  inputs: Inputs,
  options: RunOptions,
): RunHandle {
  assertInputs(ensemble, inputs)
  assertTextSizes(ensemble, inputs, options.textLimits)
  assertOptions(ensemble, options)
  return new Run(ensemble, inputs, options).start()
}

function assertOptions(ensemble: ResolvedEnsemble, options: RunOptions): void {
  const tasks = allTasks(ensemble)
  const problems = [
    ...findUnknownOptions(options, RUN_OPTION_NAMES),
    ...findBudgetProblems(options.budget),
    ...(options.reviewer === undefined && options.decidable !== true
      ? findReviewedTasks(ensemble, tasks).map(
          (name) => `task "${name}" needs a review, and there is nobody to ask: give a reviewer`,
        )
      : []),
    ...findUnknownTiers(ensemble, options.models),
    ...findUnpriced(ensemble, options).map(
      (model) =>
        `maxCostUsd cannot be enforced: no price for model "${model}"; pass the option ` +
        `prices: priceList({ "${model}": { inputPerMillion, outputPerMillion } })`,
    ),
  ]
  if (problems.length === 0) return
  throw new TuttiError('CONFIG_INVALID', `Cannot run "${ensemble.name}": ${problems.join('; ')}`, {
    details: { problems },
  })
}

function findReviewedTasks(ensemble: ResolvedEnsemble, tasks: readonly Task[]): readonly string[] {
  const last = ensemble.plan.order.at(-1)
  return tasks
    .filter(
      (task) =>
        reviewSettingsOf(task.beforeReview) !== undefined ||
        reviewAfter(task, ensemble.reviewPolicy, last) !== undefined,
    )
    .map(({ name }) => name)
}
