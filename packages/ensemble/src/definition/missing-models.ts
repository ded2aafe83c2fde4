/** Finds the tasks of an ensemble that have no model, those of its sub-ensembles included. No I/O. */
import { TuttiError } from '@tutti/core'

import { createAgentModelCheck } from './check-handoffs.ts'
import { modelOfTask } from './model-of-task.ts'
import { inheritModel, listSubEnsembles } from './sub-ensemble.ts'
import { listLeafTasks, type Task } from './task.ts'

import type { ResolvedEnsemble } from './ensemble-definition.ts'

const NO_MODEL = 'has no model: set one for the task, its agent or the ensemble'

/**
 * Checks that every task of an ensemble that runs by itself has a model.
 *
 * @throws {TuttiError} CONFIG_INVALID, naming every task that has none.
 */
export function assertModels(ensemble: ResolvedEnsemble): void {
  const problems = findMissingModels(ensemble)
  if (problems.length === 0) return
  throw new TuttiError('CONFIG_INVALID', `Cannot run "${ensemble.name}": ${problems.join('; ')}`, {
    details: { problems },
  })
}

/**
 * Returns a problem for each task and agent without a model, in the ensemble and its sub-ensembles.
 *
 * @param parent name of the task that runs the ensemble; absent for one that runs by itself.
 */
export function findMissingModels(ensemble: ResolvedEnsemble, parent?: string): readonly string[] {
  const { tasks, model, managerModel, plan } = ensemble
  const prefix = parent === undefined ? '' : `${parent}/`
  const findAgents = createAgentModelCheck(ensemble)
  const problems = tasks.flatMap(listLeafTasks).flatMap((task) => {
    const name = `${prefix}${task.name}`
    return [
      ...(hasNoModel(task, ensemble) ? [`task "${name}" ${NO_MODEL}`] : []),
      ...findAgents(task).map((problem) => `task "${name}": ${problem}`),
    ]
  })
  if (plan.workflow === 'HIERARCHICAL' && (managerModel ?? model) === undefined) {
    const manager = parent === undefined ? 'the manager' : `the manager of task "${parent}"`
    problems.push(`${manager} has no model: set model or managerModel of the ensemble`)
  }
  return [...problems, ...findMissingBelow(tasks, ensemble, prefix)]
}

/** Returns the problems of the models of a task, of the agents to which it can be handed off, and of its sub-ensembles. */
export function findTaskModelProblems(task: Task, ensemble: ResolvedEnsemble): readonly string[] {
  return [
    ...(hasNoModel(task, ensemble) ? [NO_MODEL] : []),
    ...createAgentModelCheck(ensemble)(task),
    ...findMissingBelow([task], ensemble),
  ]
}

/** Whether a task needs a model and has none. */
function hasNoModel(task: Task, ensemble: Pick<ResolvedEnsemble, 'model'>): boolean {
  return task.handler === undefined && modelOfTask(task, ensemble) === undefined
}

/**
 * Returns a problem for each task without a model in the sub-ensembles of tasks.
 *
 * @param prefix what comes before the names of the tasks. @default ''
 */
function findMissingBelow(
  tasks: readonly Task[],
  ensemble: ResolvedEnsemble,
  prefix = '',
): readonly string[] {
  return listSubEnsembles(tasks).flatMap(({ task, definition }) =>
    findMissingModels(inheritModel(definition, ensemble), `${prefix}${task.name}`),
  )
}
