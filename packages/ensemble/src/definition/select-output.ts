/** Changes which tasks of an ensemble have its output. No I/O. */
import type { ResolvedEnsemble } from './ensemble-definition.ts'
import type { Plan } from './plan.ts'

/** Returns the ensemble with other tasks that can have its output. */
export function selectOutput(
  { outputReader: _, ...ensemble }: ResolvedEnsemble,
  { outputTask, lastTasks }: Pick<Plan, 'outputTask' | 'lastTasks'>,
): ResolvedEnsemble {
  const outputReader = ensemble.tasks.find(({ name }) => name === outputTask)?.outputReader
  return {
    ...ensemble,
    ...(outputReader === undefined ? {} : { outputReader }),
    plan: { ...ensemble.plan, outputTask, lastTasks },
  }
}
