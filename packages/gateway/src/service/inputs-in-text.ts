/** Pure: parses texts, in natural language or JSON, as inputs of an ensemble. */
import type { Ensemble, Inputs } from '@tutti/ensemble'
import { inputVariables } from '@tutti/ensemble/internal'

import { badRequest } from '../http/api-error.ts'

import type { Problem } from '@tutti/protocol/internal'

/**
 * Parses the inputs of an ensemble: a JSON object of strings with all its variables, or else the whole text as its only
 * variable. Blank text has no inputs.
 *
 * @throws {TuttiError} BAD_REQUEST naming the needed inputs.
 */
export function parseInputs(
  { name, tasks }: Pick<Ensemble, 'name' | 'tasks'>,
  text: string | undefined,
): Inputs {
  const variables = inputVariables(tasks)
  const given = text === undefined || text.trim() === '' ? undefined : text
  const value = given === undefined ? {} : parseObject(given)
  const problems = value === undefined ? undefined : findInputProblems(value, variables)
  // NOTE: without a problem, every value is a string.
  if (problems?.length === 0) return value as Inputs
  const [only, ...others] = variables
  if (given !== undefined && only !== undefined && others.length === 0) return { [only]: given }
  throw badRequest(
    `text for "${name}"`,
    problems ?? [{ path: '', message: describeNeededInputs(variables) }],
  )
}

function describeNeededInputs(variables: readonly string[]): string {
  if (variables.length === 0) return 'must be empty: no task has a template variable'
  return `must be a JSON object of strings with the fields ${variables.join(', ')}`
}

function findInputProblems(value: object, variables: readonly string[]): readonly Problem[] {
  const fields = Object.entries(value)
  const missing = variables.filter((variable) => !Object.hasOwn(value, variable))
  return [
    ...missing.map((variable) => ({
      path: `/${variable}`,
      message: 'is required: a task uses this template variable',
      expected: 'string',
    })),
    ...fields.flatMap(([key, field]: [string, unknown]) => {
      if (typeof field === 'string') return []
      const message = `must be a string, got ${JSON.stringify(field)}`
      return [{ path: `/${key}`, message, expected: 'string' }]
    }),
  ]
}

/** Parses the JSON of an object; undefined for any other text. */
function parseObject(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
