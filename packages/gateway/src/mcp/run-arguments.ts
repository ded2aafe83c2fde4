/** Pure: from the arguments of a call to the inputs of an ensemble. */
import { inputVariables, type Ensemble, type Inputs } from '@tutti/ensemble'

import { badRequest } from '../http/api-error.ts'

import type { Problem } from '@tutti/protocol'

/**
 * The inputs of a run: a text for each template variable, and nothing else.
 *
 * @throws {TuttiError} BAD_REQUEST with every problem.
 */
export function runArguments(
  { name, tasks }: Pick<Ensemble, 'name' | 'tasks'>,
  given: Readonly<Record<string, unknown>>,
): Inputs {
  const variables = inputVariables(tasks)
  const missing = variables.filter((variable) => !Object.hasOwn(given, variable))
  const problems = [
    ...missing.map((variable) => ({
      path: `/${variable}`,
      message: 'is required: a task text has this template variable',
      expected: 'string',
    })),
    ...Object.entries(given).flatMap(([key, value]) => problemOf(key, value, variables)),
  ]
  if (problems.length > 0) throw badRequest(`Arguments of "${name}"`, problems)
  // NOTE: no problem means that every value is a string.
  return given as Inputs
}

function problemOf(key: string, value: unknown, variables: readonly string[]): readonly Problem[] {
  const path = `/${key}`
  if (!variables.includes(key)) {
    const known = variables.length === 0 ? 'there are none' : `known are ${variables.join(', ')}`
    return [{ path, message: `is not a template variable of any task: ${known}` }]
  }
  if (typeof value === 'string') return []
  return [{ path, message: `must be a string, got ${JSON.stringify(value)}`, expected: 'string' }]
}
