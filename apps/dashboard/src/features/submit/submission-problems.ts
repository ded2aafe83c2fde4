/**
 * What is wrong with a draft, and where it is told. Pure.
 *
 * The schema of the server decides; the rest is what it would refuse later: names that nobody has, inputs
 * that are missing, tasks in a circle.
 */
import { decode, SubmitRunBody, type Capabilities, type Problem, suggest } from '@tutti/protocol'

import { tryParseJson } from '../../ui/schema-form/form-draft.ts'
import { keysOf, childPointer, valueAtPointer } from '../../ui/schema-form/pointer.ts'
import { failureCode, failureProblems, failureText } from '../../api/failure.ts'
import {
  chosenOverrides,
  type NamedValue,
  type SubmissionDraft,
  taskTitle,
  type TaskDraft,
} from './draft.ts'
import { inputNames } from './variables.ts'
import { referenceTo } from './submission.ts'

/** Every problem of a draft that makes this body. */
export function submissionProblems(
  draft: SubmissionDraft,
  body: unknown,
  capabilities: Capabilities,
): readonly Problem[] {
  const own = [
    ...ensembleProblems(draft, capabilities),
    ...inputProblems(draft, capabilities),
    ...(draft.level === 'overrides' ? overrideProblems(draft, capabilities) : []),
    ...(draft.level === 'tasks' ? taskProblems(draft, capabilities) : []),
    ...rowProblems(draft.tags, '/tags'),
    ...rowProblems(draft.moreInputs, '/inputs'),
  ]
  // A text that is no JSON is told once.
  const told = new Set(own.map(({ path }) => path))
  return [...own, ...bodyProblems(body).filter(({ path }) => !told.has(path))]
}

/** What the schema of the server says of a body. */
function bodyProblems(body: unknown): readonly Problem[] {
  const decoded = decode(SubmitRunBody, body)
  return decoded.ok ? [] : decoded.problems
}

/** The text of a body, read and checked. */
export type TypedBody =
  | { readonly ok: true; readonly body: SubmitRunBody }
  | { readonly ok: false; readonly problems: readonly Problem[] }

/** Reads a body that was typed as JSON. */
export function readTypedBody(text: string): TypedBody {
  const read = tryParseJson(text)
  if (!read.ok) return { ok: false, problems: [{ path: '', message: `is not JSON: ${read.why}` }] }
  const decoded = decode(SubmitRunBody, read.value)
  return decoded.ok ? { ok: true, body: decoded.value } : decoded
}

function ensembleProblems(
  { ensemble }: SubmissionDraft,
  { ensembles }: Capabilities,
): readonly Problem[] {
  const names = ensembles.map(({ name }) => name)
  if (ensemble === undefined || names.includes(ensemble)) return []
  return [{ path: '/ensemble', message: unknownName('ensemble', ensemble, names) }]
}

function inputProblems(draft: SubmissionDraft, { ensembles }: Capabilities): readonly Problem[] {
  return inputNames(draft, ensembles)
    .needed.filter((name) => !Object.hasOwn(draft.inputs, name))
    .filter((name) => !draft.moreInputs.some((row) => row.name === name))
    .map((name) => ({ path: childPointer('/inputs', name), message: 'is required' }))
}

function overrideProblems(draft: SubmissionDraft, capabilities: Capabilities): readonly Problem[] {
  const known = capabilities.tools.map(({ name }) => name)
  const overrides = chosenOverrides(draft, capabilities.ensembles)
  return Object.entries(overrides).flatMap(([name, { model, tools }]) => {
    const path = childPointer('/taskOverrides', name)
    return [
      ...modelProblems(model, `${path}/model`, capabilities),
      ...unknownToolProblems(tools?.add, `${path}/tools/add`, known),
    ]
  })
}

function rowProblems(rows: readonly NamedValue[], path: string): readonly Problem[] {
  const names = rows.map(({ name }) => name)
  const hasNameless = rows.some(({ name, value }) => name === '' && value !== '')
  const twice = new Set(names.filter((name, at) => name !== '' && names.indexOf(name) < at))
  return [
    ...(hasNameless ? [{ path, message: 'has a value without a name' }] : []),
    ...[...twice].map((name) => ({ path, message: `has "${name}" twice` })),
  ]
}

/** What is said of a name that nobody has. */
function unknownName(kind: string, name: string, known: readonly string[]): string {
  const meant = suggest(name, known)
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`
  return `there is no ${kind} "${name}"${hint}`
}

/** The problems of names of tools. */
export function unknownToolProblems(
  names: readonly string[] | undefined,
  path: string,
  known: readonly string[],
): readonly Problem[] {
  return (names ?? []).flatMap((name, index) =>
    known.includes(name)
      ? []
      : { path: `${path}/${index}`, message: unknownName('tool', name, known) },
  )
}

/** The problem of the alias of a model. */
export function modelProblems(
  alias: string | undefined,
  path: string,
  { models }: Capabilities,
): readonly Problem[] {
  const known = models.map((model) => model.alias)
  if (alias === undefined || known.includes(alias)) return []
  return [{ path, message: unknownName('model', alias, known) }]
}

/** Every problem of the tasks of a draft. */
function taskProblems(draft: SubmissionDraft, capabilities: Capabilities): readonly Problem[] {
  const { tasks } = draft
  const known = capabilities.tools.map(({ name }) => name)
  return [
    ...tasks.flatMap((task, index) => {
      const path = `/tasks/${index}`
      return [
        ...nameProblems(task, tasks, path),
        ...modelProblems(task.model, `${path}/model`, capabilities),
        ...unknownToolProblems(task.tools, `${path}/tools`, known),
        ...schemaTextProblems(task, path),
        ...(draft.options.workflow === 'SEQUENTIAL' ? orderProblems(task, tasks, path) : []),
      ]
    }),
    ...circleProblems(tasks),
  ]
}

function nameProblems(
  task: TaskDraft,
  tasks: readonly TaskDraft[],
  path: string,
): readonly Problem[] {
  const at = tasks.indexOf(task)
  const { name } = task
  if (name !== undefined) {
    const isTwice = tasks.findIndex((other) => other.name === name) < at
    return isTwice ? [{ path: `${path}/name`, message: `is the name of two tasks: "${name}"` }] : []
  }
  // A reference by place would mean the task that has the number for a name.
  const isWanted = tasks.some((other) => other.context?.includes(task.key) === true)
  const isTaken = tasks.some((other) => other.name === String(at))
  if (!isWanted || !isTaken) return []
  return [{ path: `${path}/name`, message: `is required: another task is named "${at}"` }]
}

function schemaTextProblems({ outputSchema }: TaskDraft, path: string): readonly Problem[] {
  if (outputSchema === undefined) return []
  const read = tryParseJson(outputSchema)
  return read.ok ? [] : [{ path: `${path}/outputSchema`, message: `is not JSON: ${read.why}` }]
}

function orderProblems(
  task: TaskDraft,
  tasks: readonly TaskDraft[],
  path: string,
): readonly Problem[] {
  const at = tasks.indexOf(task)
  return (task.context ?? []).flatMap((key, place) => {
    const other = tasks.findIndex((one) => one.key === key)
    if (other < at) return []
    const message = `"${referenceTo(key, tasks)}" does not come before it, as a sequential run needs`
    return [{ path: `${path}/context/${place}`, message }]
  })
}

function circleProblems(tasks: readonly TaskDraft[]): readonly Problem[] {
  const circle = findCircle(new Map(tasks.map(({ key, context = [] }) => [key, context])))
  if (circle === undefined) return []
  const titleOf = (key: string): string => {
    const at = tasks.findIndex((task) => task.key === key)
    const task = tasks[at]
    return task === undefined ? key : taskTitle(task, at)
  }
  const [first, second] = circle
  const at = tasks.findIndex(({ key }) => key === first)
  const place = tasks[at]?.context?.indexOf(second ?? '') ?? 0
  const message = `tasks wait for each other in a circle: ${circle.map(titleOf).join(' › ')}`
  return [{ path: `/tasks/${at}/context/${place}`, message }]
}

/** The keys along one circle, first and last the same; undefined when there is none. */
function findCircle(
  waitsFor: ReadonlyMap<string, readonly string[]>,
): readonly string[] | undefined {
  const done = new Set<string>()
  for (const key of waitsFor.keys()) {
    const circle = circleFrom([key], waitsFor, done)
    if (circle !== undefined) return circle
  }
  return undefined
}

/** Goes depth first from the end of `path`; what is `done` leads to no circle. */
function circleFrom(
  path: readonly string[],
  waitsFor: ReadonlyMap<string, readonly string[]>,
  done: Set<string>,
): readonly string[] | undefined {
  const last = path.at(-1) ?? ''
  if (done.has(last)) return undefined
  for (const next of waitsFor.get(last) ?? []) {
    if (path.includes(next)) return [...path.slice(path.indexOf(next)), next]
    const circle = circleFrom([...path, next], waitsFor, done)
    if (circle !== undefined) return circle
  }
  done.add(last)
  return undefined
}

/** Fields that refusals without a place are about, by their code. */
const PLACES: Readonly<Record<string, string>> = {
  CIRCULAR_DEPENDENCY: '/tasks',
  INVALID_ENSEMBLE: '/ensemble',
  INVALID_WEBHOOK: '/webhooks',
  INVALID_TASK_OVERRIDE: '/taskOverrides',
  RUN_EXISTS: '/runId',
}

/** A problem, and what its place held when it was found. */
export interface Refusal {
  readonly problem: Problem
  readonly was: string | undefined
}

/** The refusals of a failed submission of `body`; none when it failed for another reason. */
export function refusalsOf(error: unknown, body: unknown): readonly Refusal[] {
  const path = PLACES[failureCode(error) ?? '']
  const listed = failureProblems(error)
  const whole = path === undefined ? [] : [{ path, message: failureText(error) }]
  const problems = listed.length > 0 ? listed : whole
  return problems.map((problem) => ({ problem, was: textAt(body, problem.path) }))
}

/** The problems whose places still hold what they held then. */
export function standing(refusals: readonly Refusal[], body: unknown): readonly Problem[] {
  return refusals
    .filter(({ problem, was }) => textAt(body, problem.path) === was)
    .map(({ problem }) => problem)
}

function textAt(body: unknown, path: string): string | undefined {
  return JSON.stringify(valueAtPointer(body, path))
}

/** What a place is called, from the outside in: `Task 2 › tools`. */
export function placeLabel(path: string, draft: SubmissionDraft): string {
  const [part = '', name, ...rest] = keysOf(path)
  switch (part) {
    case '':
      return 'The request'
    case 'tasks': {
      const task = draft.tasks[Number(name)]
      if (name === undefined || task === undefined) return 'Tasks'
      return [taskTitle(task, Number(name)), ...rest.slice(0, 1)].join(' › ')
    }
    case 'taskOverrides':
      return [name ?? 'Tasks', ...rest.filter((key) => !/^\d+$/.test(key))].join(' › ')
    default:
      return name === undefined ? part : `${part} › ${name}`
  }
}
