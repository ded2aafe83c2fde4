/**
 * Pure: applies the overrides of a request to tasks.
 *
 * RUNS-V1 A key is the name of a task, exact or in any case; otherwise the start of one description, in any case.
 * RUNS-V2 A key that matches no task, or several, is refused with the available names. So are two keys that match the
 *    same task.
 * RUNS-V3 Overrides that a task with a handler cannot use (model, tools, turns, context) are refused.
 * RUNS-V4 Tools are first removed, then added. An added tool does not replace one of the same name.
 * RUNS-V5 Overrides of a task with `forEach` or `loop` apply to the task of each item or round, and those of `forEach` and
 *    `loop` to its own limits.
 */
import { task, type Agent, type Task } from '@tutti/ensemble'
import { listTaskTree, listWorkingTasks } from '@tutti/ensemble/internal'
import { shortList, shortText, suggest } from '@tutti/protocol/internal'

import { field } from '../domain/field.ts'
import { findModel, findTools } from './catalog-names.ts'
import { changeItemTask } from './item-tasks.ts'
import { changeLoopTask } from './loop-tasks.ts'
import { tryTask } from './requested-tasks.ts'
import { mergeReview } from './review-setting.ts'

import type { Catalogs } from './catalog-names.ts'
import type { Refusals } from './refusals.ts'
import type { AgentTool } from '@tutti/core'
import type { TaskOverrideBody } from '@tutti/protocol/internal'

/** The catalogs for overrides, and the list for their problems. */
export interface OverrideParts {
  readonly catalogs: Catalogs
  readonly refusals: Refusals
}

/** Returns the tasks, in their order, with the changes; problems are added to the refusals. */
export function applyOverrides(
  tasks: readonly Task[],
  overrides: Readonly<Record<string, TaskOverrideBody>>,
  parts: OverrideParts,
): readonly Task[] {
  const keys = matchKeys(tasks.map(toNamedTask), Object.keys(overrides), parts.refusals)
  return tasks.flatMap((original) => {
    const key = keys.get(original.name)
    const override = key === undefined ? undefined : overrides[key]
    if (key === undefined || override === undefined) return [original]
    return applyOverride(original, override, { ...parts, path: overridePath(key) })
  })
}

function applyOverride(
  original: Task,
  override: TaskOverrideBody,
  parts: OverrideParts & { readonly path: string },
): readonly Task[] {
  const tree = listTaskTree(original)
  for (const option of ['forEach', 'loop'] as const) {
    if (override[option] === undefined || tree.some((one) => one[option] !== undefined)) continue
    const message = (): string =>
      `Task '${original.name}' has no ${option}, so its limits have no effect`
    parts.refusals.add('INVALID_TASK_OVERRIDE', `${parts.path}/${option}`, message)
  }
  return changeAnyTask(original, override, parts)
}

/** Returns the task with a changed task of each item or round, and with changed limits. */
function changeAnyTask(
  original: Task,
  override: TaskOverrideBody,
  parts: OverrideParts & { readonly path: string },
): readonly Task[] {
  const { forEach, loop } = original
  const { refusals, path } = parts
  if (forEach !== undefined) {
    const limits = override.forEach
    return changeAnyTask(forEach.template, override, parts).flatMap((template) =>
      changeItemTask(forEach, { template, limits }, { refusals, path: `${path}/forEach` }),
    )
  }
  if (loop === undefined) return changeTask(original, override, parts)
  return changeAnyTask(loop.template, override, parts).flatMap((template) =>
    changeLoopTask(loop, { template, limits: override.loop }, { refusals, path: `${path}/loop` }),
  )
}

function changeTask(
  original: Task,
  override: TaskOverrideBody,
  { catalogs, refusals, path }: OverrideParts & { readonly path: string },
): readonly Task[] {
  const { description, expectedOutput, maxIterations, additionalContext } = override
  const model = findModel(override.model, { catalogs, refusals, path: `${path}/model` })
  const added = findTools(override.tools?.add ?? [], {
    catalogs,
    refusals,
    path: `${path}/tools/add`,
  })
  if (isForAgents(original, override, { refusals, path })) return []
  const removed = findRemovedTools(original, override.tools?.remove ?? [], { refusals, path })
  const remaining = original.tools.filter(({ name }) => !removed.has(name))
  const has = new Set(remaining.map(({ name }) => name))
  return tryTask(path, refusals, () =>
    task({
      ...original,
      agent: keepTools(original.agent, remaining),
      tools: [...remaining, ...added.filter(({ name }) => !has.has(name))],
      ...field('description', description),
      ...field('expectedOutput', expectedOutput),
      ...field('maxIterations', maxIterations),
      ...field('additionalContext', joinTexts(original.additionalContext, additionalContext)),
      ...field('model', model),
      ...field('review', mergeReview(override.review, original.review)),
      ...field('beforeReview', mergeReview(override.beforeReview, original.beforeReview)),
    }),
  )
}

function keepTools(agent: Agent, remaining: readonly AgentTool[]): Agent {
  return { ...agent, tools: agent.tools.filter((tool) => remaining.includes(tool)) }
}

/** Appends the request's context to the task's. */
function joinTexts(own: string | undefined, added: string | undefined): string | undefined {
  const texts = [own ?? '', added ?? ''].filter((text) => text.trim() !== '')
  return texts.length === 0 ? undefined : texts.join('\n\n')
}

/** Whether the override has fields that only agents can use; they are refused (RUNS-V3). */
function isForAgents(
  { name, handler }: Task,
  override: TaskOverrideBody,
  { refusals, path }: { readonly refusals: Refusals; readonly path: string },
): boolean {
  if (handler === undefined) return false
  const fields = FOR_AGENTS.filter((name) => override[name] !== undefined)
  for (const unused of fields) {
    const message = (): string => `Task '${name}' has a handler, so ${unused} has no effect on it`
    refusals.add('INVALID_TASK_OVERRIDE', `${path}/${unused}`, message)
  }
  return fields.length > 0
}

const FOR_AGENTS = ['model', 'tools', 'maxIterations', 'additionalContext'] as const

function findRemovedTools(
  { name, tools }: Task,
  wanted: readonly string[],
  { refusals, path }: { readonly refusals: Refusals; readonly path: string },
): ReadonlySet<string> {
  const known = tools.map((tool) => tool.name)
  for (const [index, tool] of wanted.entries()) {
    if (known.includes(tool)) continue
    const message = (): string =>
      `Task '${name}' has no tool '${shortText(tool)}'. It has: [${shortList(known)}]`
    refusals.add('INVALID_TOOL', `${path}/tools/remove/${index}`, message)
  }
  return new Set(wanted)
}

/** A task that keys can match. */
export type NamedTask = Pick<Task, 'name' | 'description'>

/** Returns the name of a task and the description by its author, which a task with `forEach` or `loop` has for its items or rounds. */
export function toNamedTask(task: Task): NamedTask {
  const [{ description } = task] = listWorkingTasks(task)
  return { name: task.name, description }
}

/** Returns a map of task name → the key that matches it (RUNS-V1, RUNS-V2). */
export function matchKeys(
  tasks: readonly NamedTask[],
  keys: readonly string[],
  refusals: Refusals,
): ReadonlyMap<string, string> {
  const byTask = new Map<string, string>()
  for (const key of keys) {
    const [match, ...others] = findMatchingTasks(tasks, key)
    const shown = shortText(key)
    const refuse = (message: () => string): void => {
      refusals.add('INVALID_TASK_OVERRIDE', overridePath(key), message)
    }
    if (match === undefined) refuse(() => describeUnmatched(key, tasks))
    else if (others.length > 0) {
      const found = [match, ...others].map(({ name }) => name)
      refuse(() => `'${shown}' matches several tasks: [${shortList(found)}]. Use an exact name`)
    } else if (byTask.has(match.name)) {
      const other = shortText(byTask.get(match.name) ?? '')
      refuse(() => `'${shown}' and '${other}' match the same task '${match.name}'`)
    } else byTask.set(match.name, key)
  }
  return byTask
}

function describeUnmatched(key: string, tasks: readonly Pick<Task, 'name'>[]): string {
  const names = tasks.map(({ name }) => name)
  const near = suggest(key, names)
  const hint = near === undefined ? '' : `. Did you mean '${near}'?`
  return `No task matching '${shortText(key)}'. Available: [${shortList(names)}]${hint}`
}

function findMatchingTasks<T extends NamedTask>(tasks: readonly T[], key: string): readonly T[] {
  const exact = tasks.filter(({ name }) => name === key)
  if (exact.length > 0) return exact
  const wanted = key.toLowerCase()
  const named = tasks.filter(({ name }) => name.toLowerCase() === wanted)
  if (named.length > 0 || wanted.trim() === '') return named
  return tasks.filter(({ description }) => description.toLowerCase().startsWith(wanted))
}

/** Returns the JSON Pointer of an override. */
export function overridePath(key: string): string {
  return `/taskOverrides/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
}
