/**
 * Validates a draft. Pure.
 *
 * The schema of the API decides. Additional checks anticipate later errors: unknown names, missing
 * inputs, cyclic tasks.
 */
import { decode, SubmitRunBody, type Capabilities } from '@tutti/protocol'
import { type Problem, suggest } from '@tutti/protocol/internal'

import { findBrokenProblems, parseJsonDraft } from '../../ui/schema-form/form-draft.ts'
import { parsePointer, toChildPointer, getValueAt } from '../../ui/schema-form/pointer.ts'
import { findFailureCode, findFailureProblems, readFailureText } from '../../api/failure.ts'
import {
  findChosenOverrides,
  type SubmissionDraft,
  formatTaskTitle,
  type TaskDraft,
} from './draft.ts'
import { findInputNames } from './variables.ts'
import { formatReference } from './submission.ts'

/** Returns every problem of a draft and its body. */
export function findSubmissionProblems(
  draft: SubmissionDraft,
  body: unknown,
  capabilities: Capabilities,
): readonly Problem[] {
  const own = [
    ...findEnsembleProblems(draft, capabilities),
    ...findInputProblems(draft, capabilities),
    ...(draft.level === 'overrides' ? findOverrideProblems(draft, capabilities) : []),
    ...(draft.level === 'tasks' ? findTaskProblems(draft, capabilities) : []),
    ...findBrokenProblems(draft),
  ]
  // A problem found here replaces that of the schema at the same field.
  const reported = new Set(own.map(({ path }) => path))
  return [...own, ...findBodyProblems(body).filter(({ path }) => !reported.has(path))]
}

/** Validates a body against the schema of the API. */
function findBodyProblems(body: unknown): readonly Problem[] {
  const decoded = decode(SubmitRunBody, body)
  return decoded.ok ? [] : decoded.problems
}

/** A parsed body, or its problems. */
export type TypedBody =
  | { readonly ok: true; readonly body: SubmitRunBody }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Parses and validates a body typed as JSON. */
export function parseTypedBody(text: string): TypedBody {
  const read = parseJsonDraft(text)
  if (!read.ok)
    return { ok: false, problems: [{ path: '', message: `is not valid JSON: ${read.why}` }] }
  const decoded = decode(SubmitRunBody, read.value)
  return decoded.ok ? { ok: true, body: decoded.value } : decoded
}

function findEnsembleProblems(
  { ensemble }: SubmissionDraft,
  { ensembles }: Capabilities,
): readonly Problem[] {
  const names = ensembles.map(({ name }) => name)
  if (ensemble === undefined || names.includes(ensemble)) return []
  return [{ path: '/ensemble', message: describeUnknownName('ensemble', ensemble, names) }]
}

function findInputProblems(
  draft: SubmissionDraft,
  { ensembles }: Capabilities,
): readonly Problem[] {
  return findInputNames(draft, ensembles)
    .needed.filter((name) => !Object.hasOwn(draft.inputs, name))
    .filter((name) => !Object.hasOwn(draft.moreInputs, name))
    .map((name) => ({ path: toChildPointer('/inputs', name), message: 'is required' }))
}

function findOverrideProblems(
  draft: SubmissionDraft,
  capabilities: Capabilities,
): readonly Problem[] {
  const known = capabilities.tools.map(({ name }) => name)
  const overrides = findChosenOverrides(draft, capabilities.ensembles)
  return Object.entries(overrides).flatMap(([name, { model, tools }]) => {
    const path = toChildPointer('/taskOverrides', name)
    return [
      ...findModelProblems(model, `${path}/model`, capabilities),
      ...findUnknownTools(tools?.add, `${path}/tools/add`, known),
    ]
  })
}

/** Describes an unknown name, with a suggestion. */
function describeUnknownName(kind: string, name: string, known: readonly string[]): string {
  const meant = suggest(name, known)
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`
  return `unknown ${kind} "${name}"${hint}`
}

/** Reports unknown tools. */
export function findUnknownTools(
  names: readonly string[] | undefined,
  path: string,
  known: readonly string[],
): readonly Problem[] {
  return (names ?? []).flatMap((name, index) =>
    known.includes(name)
      ? []
      : { path: `${path}/${index}`, message: describeUnknownName('tool', name, known) },
  )
}

/** Reports an unknown model alias. */
export function findModelProblems(
  alias: string | undefined,
  path: string,
  { models }: Capabilities,
): readonly Problem[] {
  const known = models.map((model) => model.alias)
  if (alias === undefined || known.includes(alias)) return []
  return [{ path, message: describeUnknownName('model', alias, known) }]
}

/** Returns every problem of the tasks of a draft. */
function findTaskProblems(draft: SubmissionDraft, capabilities: Capabilities): readonly Problem[] {
  const { tasks } = draft
  const known = capabilities.tools.map(({ name }) => name)
  return [
    ...tasks.flatMap((task, index) => {
      const path = `/tasks/${index}`
      return [
        ...findNameProblems(task, tasks, path),
        ...findModelProblems(task.model, `${path}/model`, capabilities),
        ...findUnknownTools(task.tools, `${path}/tools`, known),
        ...findSchemaTextProblems(task, path),
        ...(draft.options.workflow === 'SEQUENTIAL' ? findOrderProblems(task, tasks, path) : []),
      ]
    }),
    ...findCycleProblems(tasks),
  ]
}

function findNameProblems(
  task: TaskDraft,
  tasks: readonly TaskDraft[],
  path: string,
): readonly Problem[] {
  const at = tasks.indexOf(task)
  const { name } = task
  if (name !== undefined) {
    const isTwice = tasks.findIndex((other) => other.name === name) < at
    return isTwice ? [{ path: `${path}/name`, message: `is used by two tasks: "${name}"` }] : []
  }
  // A reference by position would resolve to the task whose name is that number.
  const isWanted = tasks.some((other) => other.context?.includes(task.key) === true)
  const isTaken = tasks.some((other) => other.name === String(at))
  if (!isWanted || !isTaken) return []
  return [{ path: `${path}/name`, message: `is required: another task is named "${at}"` }]
}

function findSchemaTextProblems({ outputSchema }: TaskDraft, path: string): readonly Problem[] {
  if (outputSchema === undefined) return []
  const read = parseJsonDraft(outputSchema)
  return read.ok
    ? []
    : [{ path: `${path}/outputSchema`, message: `is not valid JSON: ${read.why}` }]
}

function findOrderProblems(
  task: TaskDraft,
  tasks: readonly TaskDraft[],
  path: string,
): readonly Problem[] {
  const at = tasks.indexOf(task)
  return (task.context ?? []).flatMap((key, index) => {
    const other = tasks.findIndex((one) => one.key === key)
    if (other < at) return []
    const message = `"${formatReference(key, tasks)}" must come before this task in a sequential run`
    return [{ path: `${path}/context/${index}`, message }]
  })
}

function findCycleProblems(tasks: readonly TaskDraft[]): readonly Problem[] {
  const circle = findCycle(new Map(tasks.map(({ key, context = [] }) => [key, context])))
  if (circle === undefined) return []
  const titleOf = (key: string): string => {
    const at = tasks.findIndex((task) => task.key === key)
    const task = tasks[at]
    return task === undefined ? key : formatTaskTitle(task, at)
  }
  const [first, second] = circle
  const at = tasks.findIndex(({ key }) => key === first)
  const index = tasks[at]?.context?.indexOf(second ?? '') ?? 0
  const message = `tasks depend on each other in a cycle: ${circle.map(titleOf).join(' › ')}`
  return [{ path: `/tasks/${at}/context/${index}`, message }]
}

/** Returns the keys along a cycle, with the same key first and last; undefined if there is none. */
function findCycle(
  waitsFor: ReadonlyMap<string, readonly string[]>,
): readonly string[] | undefined {
  const done = new Set<string>()
  for (const key of waitsFor.keys()) {
    const circle = findCycleFrom([key], waitsFor, done)
    if (circle !== undefined) return circle
  }
  return undefined
}

/** Searches depth first from the end of `path`; keys in `done` lead to no cycle. */
function findCycleFrom(
  path: readonly string[],
  waitsFor: ReadonlyMap<string, readonly string[]>,
  done: Set<string>,
): readonly string[] | undefined {
  const last = path.at(-1) ?? ''
  if (done.has(last)) return undefined
  for (const next of waitsFor.get(last) ?? []) {
    if (path.includes(next)) return [...path.slice(path.indexOf(next)), next]
    const circle = findCycleFrom([...path, next], waitsFor, done)
    if (circle !== undefined) return circle
  }
  done.add(last)
  return undefined
}

/** Fields that errors without problems refer to, by code. */
const FAILURE_PATHS: Readonly<Record<string, string>> = {
  CIRCULAR_DEPENDENCY: '/tasks',
  INVALID_ENSEMBLE: '/ensemble',
  INVALID_WEBHOOK: '/webhooks',
  INVALID_TASK_OVERRIDE: '/taskOverrides',
  RUN_EXISTS: '/runId',
}

/** A problem reported by the server, and the value of its field at that time. */
export interface Refusal {
  readonly problem: Problem
  readonly was: string | undefined
}

/** Returns the problems of a rejected submission; empty if it failed for another reason. */
export function listRefusals(error: unknown, body: unknown): readonly Refusal[] {
  const path = FAILURE_PATHS[findFailureCode(error) ?? '']
  const listed = findFailureProblems(error)
  const whole = path === undefined ? [] : [{ path, message: readFailureText(error) }]
  const problems = listed.length > 0 ? listed : whole
  return problems.map((problem) => ({ problem, was: formatValueAt(body, problem.path) }))
}

/** Returns the problems whose fields have not changed since. */
export function selectStanding(refusals: readonly Refusal[], body: unknown): readonly Problem[] {
  return refusals
    .filter(({ problem, was }) => formatValueAt(body, problem.path) === was)
    .map(({ problem }) => problem)
}

function formatValueAt(body: unknown, path: string): string | undefined {
  return JSON.stringify(getValueAt(body, path))
}

/** Returns the label of a field, outermost part first: `Task 2 › tools`. */
export function labelPath(path: string, draft: SubmissionDraft): string {
  const [part = '', name, ...rest] = parsePointer(path)
  switch (part) {
    case '':
      return 'The request'
    case 'tasks': {
      const task = draft.tasks[Number(name)]
      if (name === undefined || task === undefined) return 'Tasks'
      return [formatTaskTitle(task, Number(name)), ...rest.slice(0, 1)].join(' › ')
    }
    case 'taskOverrides':
      return [name ?? 'Tasks', ...rest.filter((key) => !/^\d+$/.test(key))].join(' › ')
    case 'moreInputs':
      return 'More inputs'
    default:
      return name === undefined ? part : `${part} › ${name}`
  }
}
