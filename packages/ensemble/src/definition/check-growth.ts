/**
 * Finds the problems of tasks that add tasks before anything runs. No I/O.
 *
 * ENS-P16 Before anything runs, tasks that add tasks are checked: the names and the types of their lists and inputs, clashing
 *    names, at most 5 ensembles in each other, and settings that a sub-ensemble cannot have. All problems of a task are reported
 *    together.
 */
import { mayBeList } from './output-shape.ts'
import { DEFAULT_MAX_ITEMS } from './map-settings.ts'
import { PrefixIndex } from './prefix-index.ts'
import { addsByPlan, listSubEnsembles } from './sub-ensemble.ts'

import type { EnsembleDefinition } from './ensemble-definition.ts'
import type { Task } from './task.ts'

/** Returns the problems, one text each. */
export function findGrowthProblems(definition: EnsembleDefinition): readonly string[] {
  const { tasks } = definition
  const byName = new Map(tasks.map((task) => [task.name, task]))
  return [
    ...findNameProblems(tasks),
    ...tasks.flatMap((task) => findListProblems(task, byName)),
    ...findCaptureProblems(definition),
  ]
}

/** Returns a problem for each task with a name that a task added by another one can have. */
function findNameProblems(tasks: readonly Task[]): readonly string[] {
  const adding = new PrefixIndex(tasks.filter(addsByPlan).map(({ name }) => [`${name}/`, name]))
  return tasks.flatMap(({ name }) =>
    [...adding.find(name)].map(
      (other) => `task "${name}": tasks that "${other}" adds have such names`,
    ),
  )
}

/** Returns the problems of the list that a task maps, if an earlier task has it. */
function findListProblems(
  { name, forEach }: Task,
  byName: ReadonlyMap<string, Task>,
): readonly string[] {
  if (forEach === undefined || forEach.isInput) return []
  const { over, settings } = forEach
  const shape = byName.get(over)?.outputReader?.schema
  const { maxItems = DEFAULT_MAX_ITEMS, until } = settings
  const least: unknown = shape === undefined ? 0 : Reflect.get(shape, 'minItems')
  const most: unknown = shape === undefined ? undefined : Reflect.get(shape, 'maxItems')
  return [
    ...(mayBeList(shape)
      ? []
      : [
          `task "${name}": forEach.over must have a list, but the output of "${over}" is another value`,
        ]),
    ...(typeof least === 'number' && least > maxItems
      ? [
          `task "${name}": forEach.maxItems is ${maxItems}, but the output of "${over}" has at least ${least} items`,
        ]
      : []),
    ...(typeof most === 'number' && until !== undefined && until.succeeded > most
      ? [
          `task "${name}": forEach.until.succeeded is ${until.succeeded}, but the output of "${over}" has at most ${most} items`,
        ]
      : []),
  ]
}

/** Returns a problem for each sub-ensemble without stored prompts in an ensemble that stores them. */
function findCaptureProblems({ captureMode, tasks }: EnsembleDefinition): readonly string[] {
  if (captureMode === 'OFF') return []
  return listSubEnsembles(tasks)
    .filter(({ definition }) => definition.captureMode === 'OFF')
    .map(
      ({ task, definition }) =>
        `task "${task.name}": captureMode of ensemble "${definition.name}" is OFF, so it must be OFF here too`,
    )
}
