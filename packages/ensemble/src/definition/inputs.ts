/** Pure: the inputs that tasks need, from the template variables in their texts. */
import { TuttiError } from '@tutti/core'

import { findTemplateVariables } from './template.ts'

import type { Inputs } from './template.ts'
import type { Task } from './task.ts'

export type { Inputs } from './template.ts'

/** Returns the template variables of one task, each once, in order of appearance. */
export function taskVariables({
  description,
  expectedOutput,
}: Pick<Task, 'description' | 'expectedOutput'>): readonly string[] {
  return [...new Set([description, expectedOutput].flatMap(findTemplateVariables))]
}

/** Returns the template variables of all `tasks`, each once, in order of appearance. */
export function inputVariables(tasks: readonly Task[]): readonly string[] {
  const known = variables.get(tasks) ?? [...new Set(tasks.flatMap(taskVariables))]
  variables.set(tasks, known)
  return known
}

/** Cache by list of tasks: every run of an ensemble needs its variables, and its tasks never change. */
const variables = new WeakMap<readonly Task[], readonly string[]>()

/** Returns the template variables of `tasks` that have no value in `inputs`. */
export function missingInputs(tasks: readonly Task[], inputs: Inputs): readonly string[] {
  return inputVariables(tasks).filter((name) => !Object.hasOwn(inputs, name))
}

/**
 * Checks that every template variable has a value.
 *
 * @throws {TuttiError} INPUT_MISSING with every missing name, also in `details.missing`.
 */
export function assertInputs(
  ensemble: { readonly name: string; readonly tasks: readonly Task[] },
  inputs: Inputs,
): void {
  const missing = missingInputs(ensemble.tasks, inputs)
  if (missing.length === 0) return
  throw new TuttiError(
    'INPUT_MISSING',
    `Cannot run "${ensemble.name}": missing inputs: ${missing.join(', ')}`,
    { details: { missing } },
  )
}
