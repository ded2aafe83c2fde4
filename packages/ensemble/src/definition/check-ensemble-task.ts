/** Finds all problems in the definition of a task that runs an ensemble. No I/O. */
import { findOptionProblems, type OptionNames } from '@tutti/core/internal'
import { suggest } from '@tutti/protocol/internal'

import {
  isFieldSource,
  type AnyEnsembleTaskDefinition,
  type AnyInputSource,
} from './ensemble-task.ts'
import { findUnknownInputs, inputVariables } from './inputs.ts'
import { findField, mayBeList } from './output-shape.ts'
import { listSubEnsembles } from './sub-ensemble.ts'

import type { ResolvedEnsemble } from './ensemble-definition.ts'
import type { ChildTask } from './operations.ts'

/** Maximum number of ensembles in each other below a task. */
const MAX_ENSEMBLE_DEPTH = 5

/** Maximum length of the name of a task of a sub-ensemble: it is the key of an added task. */
const MAX_NAME_LENGTH = 200

const ENSEMBLE_TASK_NAMES = {
  ensemble: true,
  inputs: true,
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

/** Returns the problems of a definition, one text each; empty if it is valid. */
export function findEnsembleTaskProblems(definition: AnyEnsembleTaskDefinition): readonly string[] {
  const { ensemble, inputs = {} } = definition
  // Plain JavaScript can contain anything.
  const given: Partial<ResolvedEnsemble> | undefined = ensemble
  if (given?.plan === undefined) return ['ensemble must be created with ensemble()']
  return [
    ...findOptionProblems(definition, ENSEMBLE_TASK_NAMES),
    ...findDepthProblems(ensemble, definition.name ?? ensemble.name),
    ...ensemble.tasks
      .filter(({ name }) => name.length > MAX_NAME_LENGTH)
      .map(
        ({ name }) => `ensemble: the name of a task has ${name.length} characters, at most 200 fit`,
      ),
    ...findUnknownInputs(ensemble, toNames(ensemble, inputs)).map(
      ({ path, message }) => `${path.slice(1).replaceAll('/', '.')} ${message}`,
    ),
    ...Object.entries<AnyInputSource>({ ...inputs }).flatMap(([name, source]) =>
      findSourceProblems(ensemble, name, source),
    ),
  ]
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

/** Returns the problems of one source of an input. */
function findSourceProblems(
  ensemble: ResolvedEnsemble,
  name: string,
  source: AnyInputSource,
): readonly string[] {
  if (typeof source === 'string') return []
  const [task, field]: readonly [ChildTask<unknown>, string?] = isFieldSource(source)
    ? source
    : [source]
  const at = `inputs.${name}`
  // Plain JavaScript can contain anything.
  const given: Partial<ChildTask<unknown>> | undefined = task
  if (given?.context === undefined) {
    return [`${at} must be a text, a task of task(), or a task and the name of a field`]
  }
  const whole = task.outputReader?.schema
  if (whole === undefined && field !== undefined) {
    return [`${at}: the output of task "${task.name}" is text, and has no field "${field}"`]
  }
  const shape = field === undefined ? whole : findField(whole, field)
  if (shape === 'none') return [`${at}: ${describeMissing(task.name, field ?? '', whole)}`]
  return [
    ...inputVariables(ensemble.tasks).flatMap((variable) => {
      if (!variable.startsWith(`${name}.`)) return []
      const path = variable.slice(name.length + 1)
      return path.split('.').reduce(findField, shape) === 'none'
        ? [
            `${at}: ${describeMissing(task.name, path, shape)}, which the ensemble needs as {${variable}}`,
          ]
        : []
    }),
    ...(needsList(ensemble, name) && !mayBeList(shape)
      ? [`${at} must be a list, because a task of the ensemble has a task for each of its items`]
      : []),
  ]
}

function describeMissing(task: string, field: string, shape: unknown): string {
  const known = Object.keys(Reflect.get(Object(shape), 'properties') ?? {})
  const meant = suggest(field, known)
  const hint = meant === undefined ? '' : `. Did you mean "${meant}"?`
  return `the output of task "${task}" has no field "${field}"${hint}`
}

/** Whether a task of the ensemble maps the input. */
function needsList({ tasks }: ResolvedEnsemble, input: string): boolean {
  return tasks.some(({ forEach }) => forEach?.isInput === true && forEach.over === input)
}
