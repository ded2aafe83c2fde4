/** Pure: derives the inputs of a run from the input of an agent. */
import { isJsonObject } from '@tutti/protocol/internal'
import { TuttiError } from '@tutti/core'

import { inputVariables, type Inputs } from '../definition/inputs.ts'

import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'

/**
 * Returns the inputs in `value`: an object of strings with all variables of the ensemble, or the JSON text of
 * such an object. Any other text is the input itself if the ensemble has exactly one variable. A missing
 * value and a blank text count as an empty object.
 *
 * @throws {TuttiError} BAD_REQUEST naming every problem.
 */
export function inputsFrom(
  { name, tasks }: Pick<ResolvedEnsemble, 'name' | 'tasks'>,
  value: unknown,
): Inputs {
  const variables = inputVariables(tasks)
  const object = parseObject(value)
  const problems = object === undefined ? undefined : findInputProblems(object, variables)
  // NOTE: without problems, every value is a string.
  if (problems?.length === 0) return object as Inputs
  const [only, ...others] = variables
  const isText = typeof value === 'string' && value.trim() !== ''
  if (isText && only !== undefined && others.length === 0) return { [only]: value }
  throw new TuttiError(
    'BAD_REQUEST',
    `Invalid input of "${name}": ${(problems ?? [describeInputs(variables)]).join('; ')}`,
  )
}

function describeInputs(variables: readonly string[]): string {
  if (variables.length === 0) return 'it must be omitted, because no task has a template variable'
  return `it must be an object of strings with the fields ${variables.join(', ')}`
}

function findInputProblems(value: object, variables: readonly string[]): readonly string[] {
  const missing = variables.filter((variable) => !Object.hasOwn(value, variable))
  return [
    ...missing.map((variable) => `"${variable}" is required: a task has this template variable`),
    ...Object.entries(value).flatMap(([key, field]: [string, unknown]) =>
      typeof field === 'string' ? [] : [`"${key}" must be a string, got ${JSON.stringify(field)}`],
    ),
  ]
}

/** Returns `value` if it is an object, or the object in its JSON text; undefined otherwise. */
function parseObject(value: unknown): object | undefined {
  if (value === undefined || value === null) return {}
  if (typeof value !== 'string') return isJsonObject(value) ? value : undefined
  if (value.trim() === '') return {}
  try {
    const parsed: unknown = JSON.parse(value)
    return isJsonObject(parsed) ? parsed : undefined
  } catch {
    return undefined
  }
}
