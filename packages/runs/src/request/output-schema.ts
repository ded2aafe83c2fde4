/** Pure: the schemas of the outputs of requested tasks. */
import { findSubEnsemble, listWorkingTasks } from '@tutti/ensemble/internal'

import type { Catalogs } from './catalog-names.ts'
import type { Ensemble } from '@tutti/ensemble'
import type { TaskDefinitionBody } from '@tutti/protocol/internal'

/** Schema of an output without one: text. */
export const TEXT_OUTPUT: object = { type: 'string' }

/** Schema of the outputs of all items by key. */
export const OUTPUTS_BY_KEY: object = { type: 'object' }

/** Returns the schema of the output of a task; undefined if it can be any value. */
export function findOutputSchema(
  body: TaskDefinitionBody | undefined,
  { ensembles }: Pick<Catalogs, 'ensembles'>,
): object | undefined {
  if (body === undefined) return undefined
  const { forEach, loop, ensemble, outputSchema, output } = body
  if (forEach === undefined) {
    if (loop?.result === 'all') return { type: 'array' }
    return ensemble === undefined
      ? (outputSchema ?? TEXT_OUTPUT)
      : findEnsembleOutput(ensembles.get(ensemble), output)
  }
  const { collect = 'list' } = forEach
  if (typeof collect === 'object') return collect.reduce.outputSchema ?? TEXT_OUTPUT
  return collect === 'list' ? { type: 'array' } : OUTPUTS_BY_KEY
}

/**
 * Returns the schema of the output of an ensemble. The code of the task that has it can return any value.
 *
 * @param chosen name of this task; that of the plan when absent.
 */
function findEnsembleOutput(
  ensemble: Ensemble | undefined,
  chosen: string | undefined,
): object | undefined {
  if (ensemble === undefined) return undefined
  const last = ensemble.tasks.find(({ name }) => name === (chosen ?? ensemble.plan.outputTask))
  // The manager answers with text; the name of an unknown task is refused.
  if (last === undefined) return TEXT_OUTPUT
  if (last.outputReader !== undefined) return last.outputReader.schema
  const nested = findSubEnsemble(last)?.definition
  if (nested !== undefined) return undefined
  return listWorkingTasks(last).every(({ handler }) => handler === undefined)
    ? TEXT_OUTPUT
    : undefined
}
