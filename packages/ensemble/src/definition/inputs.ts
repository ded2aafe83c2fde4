/** Pure: the inputs that tasks need, from the template variables in their texts. */
import { TuttiError } from '@tutti/core'
import { cachePerObject } from '@tutti/core/internal'
import {
  isTemplateName,
  pointer,
  shortList,
  shortText,
  suggest,
  type Problem,
} from '@tutti/protocol/internal'

import { parseJsonList } from './list-reader.ts'
import { findMapProblems } from './map-settings.ts'
import { toOptionText } from './option-text.ts'
import { findSubEnsemble, isMapped } from './sub-ensemble.ts'
import { listParts, listTaskTree, listWorkingTasks, type Task } from './task.ts'
import { findTemplateVariables } from './template.ts'
import { listWaitVariables } from './wait-task.ts'

import type { EnsembleDefinition } from './ensemble-definition.ts'
import type { Inputs } from './template.ts'

export type { Inputs } from './template.ts'

/**
 * Returns the template variables of one task, each once, in order of appearance, with the inputs that its sub-ensemble gets
 * from the run, and those that its condition needs. Those of a task that adds tasks are those of its parts without the variables
 * that it fills in itself, and the input that it maps.
 */
export function taskVariables(
  task: Pick<
    Task,
    'description' | 'expectedOutput' | 'handler' | 'forEach' | 'loop' | 'waitFor' | 'when'
  >,
): readonly string[] {
  const { description, expectedOutput, forEach, loop, waitFor, when } = task
  const ofCondition = [...(when?.inputs?.required ?? []), ...(loop?.until?.inputs?.required ?? [])]
  const parts = listParts(task)
  if (parts.length === 0) {
    const named = [description, expectedOutput].flatMap(findTemplateVariables)
    const ofWait = waitFor === undefined ? [] : listWaitVariables(waitFor)
    return [...new Set([...named, ...ofWait, ...listNestedVariables(task), ...ofCondition])]
  }
  const [own = [], ...others] = parts.map((part) =>
    taskVariables(part.task).filter((name) => !part.fills(name)),
  )
  const list = forEach?.isInput === true ? [forEach.over] : []
  return [...new Set([...own, ...list, ...others.flat(), ...ofCondition])]
}

/** Returns the inputs of the run that the sub-ensemble of a task reads. */
function listNestedVariables(task: Pick<Task, 'handler'>): readonly string[] {
  const subEnsemble = findSubEnsemble(task)
  if (subEnsemble === undefined) return []
  const texts = Object.values(subEnsemble.inputs).filter((source) => typeof source === 'string')
  return [
    ...texts.flatMap(findTemplateVariables),
    ...inputVariables(subEnsemble.definition.tasks).filter((name) => !isMapped(subEnsemble, name)),
  ]
}

/** Returns the template variables of all `tasks`, each once, in order of appearance. */
export function inputVariables(tasks: readonly Task[]): readonly string[] {
  return listVariables(tasks)
}

const listVariables = cachePerObject((tasks: readonly Task[]): readonly string[] => [
  ...new Set(tasks.flatMap(taskVariables)),
])

/** Returns the template variables of `tasks` that have no value in `inputs`. */
export function missingInputs(
  tasks: readonly Task[],
  inputs: Readonly<Record<string, unknown>>,
): readonly string[] {
  return inputVariables(tasks).filter((name) => !Object.hasOwn(inputs, name))
}

/**
 * Returns the inputs that an ensemble names: its template variables, then those that its conditions may lack, and those in
 * `inputs`, each once.
 */
export function namedInputs({
  tasks,
  inputs = [],
}: Pick<EnsembleDefinition, 'tasks' | 'inputs'>): readonly string[] {
  const optional = tasks.flatMap(listOptionalInputs)
  return [...new Set([...inputVariables(tasks), ...optional, ...inputs])]
}

/** Returns the inputs that the conditions of a task may lack, without those that it fills in itself. */
function listOptionalInputs(task: Task): readonly string[] {
  const { when, loop } = task
  return [
    ...(when?.inputs?.optional ?? []),
    ...(loop?.until?.inputs?.optional ?? []),
    ...listParts(task).flatMap((part) =>
      listOptionalInputs(part.task).filter((name) => !part.fills(name)),
    ),
  ]
}

/**
 * Checks that every template variable has a value, that every input that a task maps is a JSON list of a possible length, and
 * that no text has an input in braces whose name a template cannot have: the model would get the name instead of the value.
 * `unknown` are problems of the same inputs, from `findUnknownInputs`, which are reported together with the others.
 *
 * @throws {TuttiError} INPUT_MISSING with every missing name, also in `details.missing`; BAD_REQUEST if none is missing and
 * there are other problems, which are in `details.problems` in both cases; CONFIG_INVALID naming every input whose name is
 * not possible.
 */
export function assertInputs(
  ensemble: { readonly name: string; readonly tasks: readonly Task[] },
  inputs: Inputs,
  unknown: readonly Problem[] = [],
): void {
  assertPossibleNames(ensemble, inputs)
  const missing = missingInputs(ensemble.tasks, inputs)
  const problems = [...unknown, ...findListProblems(ensemble.tasks, inputs)]
  if (missing.length === 0 && problems.length === 0) return
  const texts = [
    ...problems.map(({ path, message }) => `${path} ${message}`),
    ...(missing.length === 0 ? [] : [`missing inputs: ${missing.join(', ')}`]),
  ]
  throw new TuttiError(
    missing.length === 0 ? 'BAD_REQUEST' : 'INPUT_MISSING',
    `Cannot run "${ensemble.name}": ${texts.join('; ')}`,
    {
      details: {
        ...(missing.length === 0 ? {} : { missing }),
        ...(problems.length === 0 ? {} : { problems }),
      },
    },
  )
}

/**
 * Returns a problem for each input that nothing reads, such as a mistyped name: it is neither a template variable nor in
 * `inputs` of the ensemble. Without `inputs`, the code of a handler can read any input, and an ensemble without variables
 * accepts any as labels. Returns up to 20 problems.
 */
export function findUnknownInputs(
  ensemble: Pick<EnsembleDefinition, 'tasks' | 'inputs'>,
  inputs: Inputs,
): readonly Problem[] {
  if (ensemble.inputs === undefined && !readsVariablesOnly(ensemble.tasks)) return []
  const known = new Set(namedInputs(ensemble))
  const list = known.size === 0 ? 'there are none' : `known: ${shortList([...known])}`
  const unknown = Object.keys(inputs).filter((input) => !known.has(input))
  return unknown.slice(0, MAX_UNKNOWN).map((input) => {
    const meant = suggest(input, known)
    const hint = meant === undefined ? '' : `. Did you mean "${meant}"?`
    return {
      path: pointer('/inputs', shortText(input)),
      message: `is not a known input (${list})${hint}`,
    }
  })
}

/** Maximum number of unknown inputs that an error names. */
const MAX_UNKNOWN = 20

function readsVariablesOnly(tasks: readonly Task[]): boolean {
  return inputVariables(tasks).length > 0 && !hasCode(tasks)
}

/** Whether the code of a handler or of a condition can read inputs. */
export function hasCode(tasks: readonly Task[]): boolean {
  const conditions = tasks.flatMap(listTaskTree).flatMap(({ when, loop }) => [when, loop?.until])
  if (conditions.some((one) => one !== undefined && one.inputs === undefined)) return true
  return tasks.flatMap(listWorkingTasks).some((task) => {
    const subEnsemble = findSubEnsemble(task)
    return subEnsemble === undefined
      ? task.handler !== undefined
      : hasCode(subEnsemble.definition.tasks)
  })
}

/** Returns a problem for each input that a task maps and that is not a JSON list of a possible length. */
function findListProblems(tasks: readonly Task[], inputs: Inputs): readonly Problem[] {
  return tasks.flatMap(({ name, forEach }) => {
    if (forEach?.isInput !== true || !Object.hasOwn(inputs, forEach.over)) return []
    const path = pointer('/inputs', forEach.over)
    const items = parseJsonList(inputs[forEach.over])
    const mapped = `task "${shortText(name)}" has a task for each of its items`
    if (items === undefined) return [{ path, message: `must be a JSON list: ${mapped}` }]
    return findMapProblems(forEach.settings, items.length).map((problem) => ({
      path,
      message: `does not fit: ${mapped}, and ${toOptionText(problem)}`,
    }))
  })
}

function assertPossibleNames(
  { name, tasks }: { readonly name: string; readonly tasks: readonly Task[] },
  inputs: Inputs,
): void {
  const names = Object.keys(inputs)
  if (names.every((input) => isTemplateName(input))) return
  const impossible = new Set(names.filter((input) => !isTemplateName(input)))
  const texts = tasks
    .flatMap(listWorkingTasks)
    .flatMap(({ description, expectedOutput }) => [description, expectedOutput])
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
