/** Pure: the inputs of an ensemble from what an agent is asked. */
import { isJsonObject } from '@tutti/protocol'
import { TuttiError } from '@tutti/core'

import { inputVariables, type Inputs } from '../definition/inputs.ts'

import type { ResolvedEnsemble } from '../definition/ensemble-definition.ts'

/**
 * The inputs that `value` gives: those of an object of strings that has all variables of the ensemble, or of the JSON
 * text of one; else the text itself, when the ensemble has exactly one variable. Nothing is an object
 * without fields.
 *
 * @throws {TuttiError} BAD_REQUEST naming everything that does not fit.
 */
export function inputsFrom(
  { name, tasks }: Pick<ResolvedEnsemble, 'name' | 'tasks'>,
  value: unknown,
): Inputs {
  const variables = inputVariables(tasks)
  const object = parseObject(value)
  const problems = object === undefined ? undefined : findInputProblems(object, variables)
  // NOTE: no problem means that every value is a string.
  if (problems?.length === 0) return object as Inputs
  const [only, ...others] = variables
  const isText = typeof value === 'string' && value.trim() !== ''
  if (isText && only !== undefined && others.length === 0) return { [only]: value }
  throw new TuttiError(
    'BAD_REQUEST',
    `The input of "${name}" does not fit: ${(problems ?? [describeInputs(variables)]).join('; ')}`,
  )
}

function describeInputs(variables: readonly string[]): string {
  if (variables.length === 0) return 'it must be left out, as no task has a template variable'
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

/** The object that a value is, or is the JSON of. */
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
