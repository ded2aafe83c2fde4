/** Pure: the inputs that tasks need, from the template variables in their texts. */
import { TuttiError } from '@tutti/core'
import { isTemplateName, shortList, shortText, suggest } from '@tutti/protocol'

import { findTemplateVariables } from './template.ts'

import type { EnsembleDefinition } from './ensemble-definition.ts'
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
 * Checks that every template variable has a value, and that no text has an input in braces whose name a template cannot
 * have: the model would get the name instead of the value.
 *
 * @throws {TuttiError} INPUT_MISSING with every missing name, also in `details.missing`; CONFIG_INVALID naming every input
 * whose name is not possible.
 */
export function assertInputs(
  ensemble: { readonly name: string; readonly tasks: readonly Task[] },
  inputs: Inputs,
): void {
  assertPossibleNames(ensemble, inputs)
  const missing = missingInputs(ensemble.tasks, inputs)
  if (missing.length === 0) return
  throw new TuttiError(
    'INPUT_MISSING',
    `Cannot run "${ensemble.name}": missing inputs: ${missing.join(', ')}`,
    { details: { missing } },
  )
}

/**
 * Refuses inputs that nothing reads, such as a mistyped name: they are neither a template variable nor in `inputs` of the
 * ensemble. Without `inputs`, the code of a handler can read any input, and an ensemble without variables accepts any
 * as labels.
 *
 * @throws {TuttiError} BAD_REQUEST naming every unknown input, each with its path in `details.problems`.
 */
export function assertKnownInputs(
  { name, tasks, inputs: declared }: Pick<EnsembleDefinition, 'name' | 'tasks' | 'inputs'>,
  inputs: Inputs,
): void {
  const variables = inputVariables(tasks)
  if (declared === undefined && !readsVariablesOnly(tasks, variables)) return
  const known = new Set([...variables, ...(declared ?? [])])
  const unknown = Object.keys(inputs).filter((input) => !known.has(input))
  if (unknown.length === 0) return
  assertPossibleNames({ name, tasks }, inputs)
  const list = known.size === 0 ? 'there are none' : `known: ${shortList([...known])}`
  const problems = unknown.slice(0, MAX_UNKNOWN).map((input) => {
    const meant = suggest(input, known)
    const hint = meant === undefined ? '' : `. Did you mean "${meant}"?`
    return { path: `/inputs/${shortText(input)}`, message: `is not a known input (${list})${hint}` }
  })
  const texts = problems.map(({ path, message }) => `${path} ${message}`)
  throw new TuttiError('BAD_REQUEST', `Cannot run "${name}": ${texts.join('; ')}`, {
    details: { problems },
  })
}

/** Maximum number of unknown inputs that an error names. */
const MAX_UNKNOWN = 20

function readsVariablesOnly(tasks: readonly Task[], variables: readonly string[]): boolean {
  return variables.length > 0 && tasks.every(({ handler }) => handler === undefined)
}

function assertPossibleNames(
  { name, tasks }: { readonly name: string; readonly tasks: readonly Task[] },
  inputs: Inputs,
): void {
  const impossible = new Set(Object.keys(inputs).filter((input) => !isTemplateName(input)))
  if (impossible.size === 0) return
  const texts = tasks.flatMap(({ description, expectedOutput }) => [description, expectedOutput])
  const inBraces = texts.flatMap((text) => [...text.matchAll(/\{([^{}]+)\}/g)])
  const used = [...new Set(inBraces.flatMap(([, input = '']) => input))].filter((input) =>
    impossible.has(input),
  )
  if (used.length === 0) return
  throw new TuttiError(
    'CONFIG_INVALID',
    `Cannot run "${name}": a template cannot have the inputs ${shortList(used)}; names have letters, digits, ` +
      '"_", "-" and ".", and begin and end with a letter, a digit or "_"',
    { details: { names: used } },
  )
}
