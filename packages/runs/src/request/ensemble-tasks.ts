/**
 * Pure: makes tasks that run ensembles of the server from the tasks of a request.
 *
 * RUNS-T11 `ensemble` of a requested task names an ensemble of the server. Its problems as a part of the run, those of the inputs
 *    and fields that have no effect are reported with their paths, together with those of all tasks. `output` names one of its
 *    tasks, and cannot avoid the review after its last task (RUNS-R5).
 * RUNS-T12 An input is a text, `$task` for the output of a task, or `$task.field` for a field of it. The longest name of a task
 *    counts. `$$` begins a text with `$`.
 * RUNS-T13 A run whose prompts are stored has no sub-ensemble whose prompts are not.
 */
import type { Ensemble, Task } from '@tutti/ensemble'
import {
  createEnsembleTask,
  findMappedInputProblems,
  findOutputProblems,
  findSubEnsembleProblems,
  type CheckedInput,
} from '@tutti/ensemble/internal'
import { pointer, unknownName } from '@tutti/protocol/internal'

import { field } from '../domain/field.ts'
import { findEnsemble } from './catalog-names.ts'
import { tryTask } from './try-task.ts'
import { mergeReview } from './review-setting.ts'
import { refuseUnusedFields } from './refuse-unused.ts'

import type { Catalogs } from './catalog-names.ts'
import type { Refusals } from './refusals.ts'
import type { CaptureMode, TaskDefinitionBody } from '@tutti/protocol/internal'

/** Parts of a request for one of its tasks that runs an ensemble. */
export interface EnsembleTaskParts {
  readonly catalogs: Catalogs
  readonly refusals: Refusals
  /** JSON Pointer of the task. */
  readonly path: string
  readonly context: readonly string[]
  readonly captureMode: CaptureMode | undefined
  /** Sources of its inputs. */
  readonly sources: ReadonlyMap<string, InputSourceRead>
}

/** Source of an input: a text, or the output of a task; undefined for an unknown task, which is reported. */
export type InputSourceRead = CheckedInput | undefined

/** Returns the task that runs an ensemble; problems are added to the refusals. */
export function makeEnsembleTask(
  body: TaskDefinitionBody & { readonly name: string },
  { catalogs, refusals, path, context, captureMode, sources }: EnsembleTaskParts,
): readonly Task[] {
  const { name, ensemble: wanted = '', description, expectedOutput, output } = body
  refuseUnusedFields(body, 'runs an ensemble', { refusals, path })
  const ensemble = findEnsemble(wanted, { catalogs, refusals, path: `${path}/ensemble` })
  if (ensemble === undefined) return []
  const inputs = Object.fromEntries(
    [...sources].flatMap(([input, source]) => (source === undefined ? [] : [[input, source]])),
  )
  for (const problem of findMappedInputProblems(ensemble, inputs)) {
    const at = `${path}${problem.path}`
    refusals.add('BAD_REQUEST', at, () => `${at} ${problem.message}`)
  }
  const unknown =
    output === undefined
      ? []
      : [...findOutputProblems(ensemble, output), ...findUnreviewed(ensemble, output)]
  for (const problem of unknown) refusals.add('BAD_REQUEST', `${path}/output`, () => problem)
  const unfit = [
    ...findSubEnsembleProblems(ensemble, name),
    ...findCaptureProblem(ensemble, captureMode),
  ]
  for (const problem of unfit) refusals.add('BAD_REQUEST', `${path}/ensemble`, () => problem)
  if (unknown.length + unfit.length > 0) return []
  return tryTask(path, refusals, () =>
    createEnsembleTask({
      ensemble,
      name,
      context,
      inputs: Object.fromEntries(
        Object.entries(inputs).map(([input, source]) => [input, toMapped(source)]),
      ),
      ...field('output', output),
      ...field('description', description),
      ...field('expectedOutput', expectedOutput),
      ...field('review', mergeReview(body.review)),
      ...field('beforeReview', mergeReview(body.beforeReview)),
    }),
  )
}

type MappedInput = Parameters<typeof createEnsembleTask>[0]['inputs'][string]

function toMapped(source: CheckedInput): MappedInput {
  if (typeof source === 'string') return source
  const { task, field: name } = source
  return { task, ...field('field', name) }
}

function findUnreviewed(
  { name, reviewPolicy, tasks, plan: { lastTasks } }: Ensemble,
  output: string,
): readonly string[] {
  const isKnown = tasks.some((one) => one.name === output)
  if (reviewPolicy !== 'AFTER_LAST_TASK' || !isKnown || lastTasks.includes(output)) return []
  return [
    `must be ${lastTasks.map((one) => `'${one}'`).join(' or ')}: the operator of ensemble '${name}' requires a review after its last task`,
  ]
}

function findCaptureProblem(
  { name, captureMode }: Ensemble,
  ofRun: CaptureMode | undefined,
): readonly string[] {
  if (captureMode !== 'OFF' || ofRun === 'OFF') return []
  return [
    `captureMode of ensemble '${name}' is OFF, so it must be OFF for the run: set options.captureMode`,
  ]
}

/** Finds the outputs of tasks. */
export interface OutputLookup {
  /** Returns the name of a task by its name or its index, without `$`. */
  readonly find: (reference: string) => string | undefined
  /** Names of all tasks. */
  readonly names: readonly string[]
  /** Returns the schema of the output of a task; undefined if it can be any value. */
  readonly schemaOf: (task: string) => object | undefined
  readonly refusals: Refusals
}

/** Reads the sources of the inputs of a task (RUNS-T12); `path` is that of `inputs`. */
export function readInputSources(
  inputs: Readonly<Record<string, string>>,
  path: string,
  lookup: OutputLookup,
): ReadonlyMap<string, InputSourceRead> {
  return new Map(
    Object.entries(inputs).map(([name, text]) => [
      name,
      readSource(text, pointer(path, name), lookup),
    ]),
  )
}

function readSource(
  text: string,
  path: string,
  { find, names, schemaOf, refusals }: OutputLookup,
): InputSourceRead {
  if (!text.startsWith('$')) return text
  if (text.startsWith('$$')) return text.slice(1)
  const wanted = text.slice(1)
  const whole = find(wanted)
  if (whole !== undefined) return { task: whole, schema: schemaOf(whole) }
  for (let at = wanted.lastIndexOf('.'); at > 0; at = wanted.lastIndexOf('.', at - 1)) {
    const task = find(wanted.slice(0, at))
    if (task !== undefined) {
      return { task, field: wanted.slice(at + 1), schema: schemaOf(task) }
    }
  }
  const choice = names.map((name) => `$${name}`)
  refusals.add(
    'BAD_REQUEST',
    path,
    () => `${unknownName('task', text, choice)}; write "$$" for a text that begins with "$"`,
  )
  return undefined
}
