/** Finds all problems in the definition of a task that runs an ensemble. No I/O. */
import { findOptionProblems, type OptionNames } from '@tutti/core/internal'
import {
  pointer,
  previewOf,
  shortList,
  shortText,
  suggest,
  unknownName,
  type Problem,
} from '@tutti/protocol/internal'

import {
  isFieldSource,
  type AnyEnsembleTaskDefinition,
  type AnyInputSource,
} from './ensemble-task.ts'
import { findUnknownInputs, inputVariables } from './inputs.ts'
import { toOptionText } from './option-text.ts'
import { findField, mayBeList } from './output-shape.ts'
import { listSubEnsembles, type OutputReference } from './sub-ensemble.ts'

import type { ResolvedEnsemble } from './ensemble-definition.ts'
import type { ChildTask } from './operations.ts'

/** Maximum number of ensembles in each other below a task. */
const MAX_ENSEMBLE_DEPTH = 5

/** Maximum length of the name of a task of a sub-ensemble: it is the key of an added task. */
const MAX_NAME_LENGTH = 200

const ENSEMBLE_TASK_NAMES = {
  ensemble: true,
  inputs: true,
  output: true,
  name: true,
  description: true,
  expectedOutput: true,
  context: true,
  version: true,
  guardrails: true,
  beforeReview: true,
  review: true,
  timeoutMs: true,
  budget: true,
  retries: true,
  when: true,
  switch: true,
} as const satisfies OptionNames<AnyEnsembleTaskDefinition>

/** Names of its options apart from those that only a task with an ensemble has. */
const HANDLER_TASK_NAMES: readonly string[] = Object.keys(ENSEMBLE_TASK_NAMES).filter(
  (name) => !['ensemble', 'inputs', 'output'].includes(name),
)

const TEXT_SCHEMA = { type: 'string' }

/**
 * Source of an input of a sub-ensemble: a text with template variables, or an output with its schema; undefined for any value.
 */
export type CheckedInput = string | (OutputReference & { readonly schema: object | undefined })

/** Returns the problems of a definition that only a task with an ensemble can have, one text each. */
export function findEnsembleTaskProblems(definition: AnyEnsembleTaskDefinition): readonly string[] {
  const { ensemble, inputs = {}, output } = definition
  if (!isResolved(ensemble)) return ['ensemble must be created with ensemble()']
  const sources = Object.entries<AnyInputSource>({ ...inputs })
  const known = sources.flatMap(([name, source]) => {
    const checked = toCheckedInput(source)
    return checked === undefined ? [] : [[name, checked] as const]
  })
  return [
    ...findOptionProblems(definition, ENSEMBLE_TASK_NAMES),
    ...findSubEnsembleProblems(ensemble, definition.name ?? ensemble.name),
    ...sources
      .filter(([, source]) => toCheckedInput(source) === undefined)
      .map(
        ([name]) =>
          `inputs.${name} must be a text, a task of task(), or a task and the name of a field`,
      ),
    ...findMappedInputProblems(ensemble, Object.fromEntries(known)).map(toOptionText),
    ...findChosenProblems(ensemble, output),
  ]
}

/** Returns the problems of the task whose output a task with an ensemble has. */
function findChosenProblems(
  ensemble: ResolvedEnsemble,
  output: ChildTask<unknown> | undefined,
): readonly string[] {
  if (output === undefined) return []
  // A copy does not count, and another task with the same name does not either.
  if (ensemble.tasks.some((task) => task === output)) {
    return findOutputProblems(ensemble, output.name).map((problem) => `output: ${problem}`)
  }
  const names = ensemble.tasks.map(({ name }) => name)
  // Plain JavaScript can contain anything.
  const { name } = { ...output } as Partial<ChildTask<unknown>>
  const got = typeof name === 'string' ? `another task "${shortText(name)}"` : previewOf(output)
  return [
    `output must be a task of ensemble "${ensemble.name}", got ${got}. Available: [${shortList(names)}]`,
  ]
}

/** Returns the problems of a task name that a task with an ensemble chooses for its output. */
export function findOutputProblems(
  { name, plan, tasks }: ResolvedEnsemble,
  output: string,
): readonly string[] {
  const names = tasks.map((task) => task.name)
  if (!names.includes(output)) return [unknownName('task', output, names)]
  if (plan.workflow !== 'HIERARCHICAL') return []
  return [`the manager of ensemble "${name}" has its output, so no other task can be chosen`]
}

/** Returns the options that a task with an ensemble shares with a task with a handler. */
export function pickHandlerOptions(
  definition: Omit<AnyEnsembleTaskDefinition, 'inputs' | 'output'>,
): Omit<AnyEnsembleTaskDefinition, 'ensemble' | 'inputs' | 'output'> {
  const options = Object.entries(definition)
  return Object.fromEntries(options.filter(([name]) => HANDLER_TASK_NAMES.includes(name)))
}

/** Whether a value was created with `ensemble()`; plain JavaScript can contain anything. */
export function isResolved(ensemble: Partial<ResolvedEnsemble> | undefined): boolean {
  return ensemble?.plan !== undefined && ensemble.tasks !== undefined
}

/** Returns the problems of an ensemble as a task with a name, one text each. */
export function findSubEnsembleProblems(
  ensemble: ResolvedEnsemble,
  name: string,
): readonly string[] {
  return [
    ...findDepthProblems(ensemble, name),
    ...ensemble.tasks
      .filter((task) => task.name.length > MAX_NAME_LENGTH)
      .map(
        (task) =>
          `ensemble: the name of a task has ${task.name.length} characters, at most 200 fit`,
      ),
    ...findRetryNameProblems(ensemble.tasks.map((task) => task.name)),
  ]
}

/** Returns a problem for each name that another task of the ensemble gets in a retry, such as `page#2`. */
function findRetryNameProblems(names: readonly string[]): readonly string[] {
  const known = new Set(names)
  return names.flatMap((name) => {
    const [, base = ''] = /^(.+)#\d+$/s.exec(name) ?? []
    return known.has(base)
      ? [
          `ensemble: task "${name}" has a name that a retry of task "${base}" gets: rename one of them`,
        ]
      : []
  })
}

/** Returns the problems of the inputs of a sub-ensemble, with paths such as `/inputs/city`. */
export function findMappedInputProblems(
  ensemble: ResolvedEnsemble,
  inputs: Readonly<Record<string, CheckedInput>>,
): readonly Problem[] {
  return [
    ...findUnknownInputs(ensemble, toNames(ensemble, inputs)),
    ...Object.entries(inputs).flatMap(([name, source]) =>
      findSourceProblems(ensemble, name, source).map((message) => ({
        path: pointer('/inputs', name),
        message,
      })),
    ),
  ]
}

/** Returns the source of an input for its check; undefined if it is not one. */
function toCheckedInput(source: AnyInputSource): CheckedInput | undefined {
  if (typeof source === 'string') return source
  const [task, field]: readonly [ChildTask<unknown>, string?] = isFieldSource(source)
    ? source
    : [source]
  // Plain JavaScript can contain anything.
  const given: Partial<ChildTask<unknown>> | undefined = task
  if (given?.context === undefined) return undefined
  const { name, outputReader } = task
  if (field === undefined) return { task: name, schema: outputReader?.schema }
  // An output without a schema is text.
  return { task: name, field, schema: outputReader?.schema ?? TEXT_SCHEMA }
}

/** Returns the mapped inputs, without those whose fields are variables. */
function toNames({ tasks }: ResolvedEnsemble, inputs: object): Readonly<Record<string, string>> {
  const variables = inputVariables(tasks)
  const names = Object.keys(inputs).filter(
    (name) => !variables.some((variable) => variable.startsWith(`${name}.`)),
  )
  return Object.fromEntries(names.map((name) => [name, '']))
}

/** Returns a problem if ensembles are nested too deep, with the names along the deepest one. */
function findDepthProblems(ensemble: ResolvedEnsemble, name: string): readonly string[] {
  const path = [name, ...findDeepest(ensemble)]
  if (path.length <= MAX_ENSEMBLE_DEPTH) return []
  return [
    `ensembles may nest ${MAX_ENSEMBLE_DEPTH} deep, but ${path.join('/')} has ${path.length} levels`,
  ]
}

/** Returns the names of the tasks with ensembles along the deepest path below an ensemble. */
function findDeepest({ tasks }: ResolvedEnsemble): readonly string[] {
  return listSubEnsembles(tasks)
    .map(({ task, definition }) => [task.name, ...findDeepest(definition)])
    .reduce((a, b) => (b.length > a.length ? b : a), [])
}

/** Returns the problems of one source of an input, as predicates of its name. */
function findSourceProblems(
  ensemble: ResolvedEnsemble,
  name: string,
  source: CheckedInput,
): readonly string[] {
  if (typeof source === 'string') return []
  const { task, field, schema: whole } = source
  const shape = field === undefined ? whole : findField(whole, field)
  if (shape === 'none') return [describeMissing(task, field ?? '', whole)]
  return [
    ...inputVariables(ensemble.tasks).flatMap((variable) => {
      if (!variable.startsWith(`${name}.`)) return []
      const path = variable.slice(name.length + 1)
      return path.split('.').reduce(findField, shape) === 'none'
        ? [`${describeMissing(task, path, shape)}, but the ensemble needs {${variable}}`]
        : []
    }),
    ...(needsList(ensemble, name) && !mayBeList(shape)
      ? ['must be a list, because a task of the ensemble has a task for each of its items']
      : []),
  ]
}

function describeMissing(task: string, field: string, shape: unknown): string {
  const known = Object.keys(Reflect.get(Object(shape), 'properties') ?? {})
  const meant = suggest(field, known)
  const hint = meant === undefined ? '' : `. Did you mean "${meant}"?`
  return `reads the output of task "${task}", which has no field "${field}"${hint}`
}

/** Whether a task of the ensemble maps the input. */
function needsList({ tasks }: ResolvedEnsemble, input: string): boolean {
  return tasks.some(({ forEach }) => forEach?.isInput === true && forEach.over === input)
}
