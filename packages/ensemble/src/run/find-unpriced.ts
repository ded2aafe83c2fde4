/** Limits on cost need prices. */
import { allTasks } from '../definition/manager.ts'
import { modelOfTask } from '../definition/model-of-task.ts'
import { findPrice } from '../model/prices.ts'
import { modelLabel } from '../steering/models.ts'

import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'
import type { RunOptions } from './run-options.ts'

/**
 * The models that a limit on cost cannot be kept for, by label: no price of theirs is known. A limit that cannot be
 * kept is no limit, and a run with one is refused.
 */
export function findUnpriced(
  ensemble: ResolvedEnsemble,
  { budget = ensemble.budget, prices }: Pick<RunOptions, 'budget' | 'prices'>,
): readonly string[] {
  const limited = allTasks(ensemble).filter(
    (task) =>
      task.handler === undefined &&
      (budget?.maxCostUsd !== undefined || task.budget?.maxCostUsd !== undefined),
  )
  const models = limited.flatMap((task) => [
    ...(modelOfTask(task, ensemble) === undefined ? [] : [modelOfTask(task, ensemble)]),
    ...(task.fallbackModels ?? ensemble.fallbackModels ?? []),
  ])
  const unpriced = models.flatMap((model) =>
    model === undefined || findPrice(model, prices) !== undefined ? [] : [modelLabel(model)],
  )
  return [...new Set(unpriced)]
}
