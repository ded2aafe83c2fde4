/**
 * Pure: applies the overrides of a request to tasks.
 *
 * RUNS-V2 A key that matches no task, or several, is refused with the available names. So are two keys that match the
 *    same task, and the key of an item that no item can have.
 * RUNS-V3 Overrides that a task with a handler cannot use (model, tools, turns, handoffs, context) are refused, and the limit of
 *    handoffs for an agent without them.
 * RUNS-V4 Tools are first removed, then added. An added tool does not replace one of the same name.
 * RUNS-V5 Overrides of a task with `forEach` or `loop` apply to the task of each item or round, and those of `forEach` and `loop`
 *    to its own limits. Those of one item are applied after them.
 */
import { ensemble, task, type Agent, type Task } from '@tutti/ensemble'
import {
  changeSubEnsemble,
  DEFAULT_MAX_ITEMS,
  findSubEnsemble,
  listTaskTree,
  type ForEachPlan,
} from '@tutti/ensemble/internal'
import { shortList, shortText } from '@tutti/protocol/internal'

import { field } from '../domain/field.ts'
import { findModel, findTools } from './catalog-names.ts'
import { changeItemTask } from './item-tasks.ts'
import { changeLoopTask } from './loop-tasks.ts'
import { locateOverride, overridePath } from './override-targets.ts'
import { tryTask } from './try-task.ts'
import { mergeReview } from './review-setting.ts'

import type { Catalogs } from './catalog-names.ts'
import type { Refusals } from './refusals.ts'
import type { AgentTool } from '@tutti/core'
import type { TaskOverrideBody } from '@tutti/protocol/internal'

/** The catalogs for overrides, and the list for their problems. */
export interface OverrideParts {
  readonly catalogs: Catalogs
  readonly refusals: Refusals
  /** Whether a key means a task that could not be made. Its problems are reported. */
  readonly isRefused?: (key: string) => boolean
}

/** Returns the tasks, in their order, with the changes; problems are added to the refusals. */
export function applyOverrides(
  tasks: readonly Task[],
  overrides: Readonly<Record<string, TaskOverrideBody>>,
  parts: OverrideParts,
): readonly Task[] {
  return changeTasks(tasks, groupOverrides(tasks, overrides, parts).below, parts)
}

/** Overrides of one task, and of those that it adds. */
interface OverrideNode {
  override?: { readonly key: string; readonly body: TaskOverrideBody }
  /** Those of the tasks of its sub-ensemble, or of the plan, by name. */
  readonly below: Map<string, OverrideNode>
  /** Those of single items by key. */
  readonly items: Map<string, OverrideNode>
}

/** Returns the overrides as a tree along the steps to their tasks. */
function groupOverrides(
  tasks: readonly Task[],
  overrides: Readonly<Record<string, TaskOverrideBody>>,
  { refusals, isRefused }: OverrideParts,
): OverrideNode {
  const root = createNode()
  for (const [key, body] of Object.entries(overrides)) {
    const found = locateOverride(tasks, key)
    if (typeof found === 'function') {
      if (isRefused?.(key) !== true) {
        refusals.add('INVALID_TASK_OVERRIDE', overridePath(key), found)
      }
      continue
    }
    const node = found.steps.reduce((parent, { kind, name }) => {
      const nodes = kind === 'task' ? parent.below : parent.items
      const next = nodes.get(name) ?? createNode()
      nodes.set(name, next)
      return next
    }, root)
    if (node.override === undefined) node.override = { key, body }
    else {
      const other = node.override.key
      const name = found.steps.map((step) => step.name).join('/')
      refusals.add(
        'INVALID_TASK_OVERRIDE',
        overridePath(key),
        () =>
          `'${shortText(key)}' and '${shortText(other)}' match the same task '${shortText(name)}'`,
      )
    }
  }
  return root
}

function createNode(): OverrideNode {
  return { below: new Map(), items: new Map() }
}

function changeTasks(
  tasks: readonly Task[],
  nodes: ReadonlyMap<string, OverrideNode>,
  parts: OverrideParts,
): readonly Task[] {
  return tasks.flatMap((task) => {
    const node = nodes.get(task.name)
    return node === undefined ? [task] : changeWithChildren(task, node, parts)
  })
}

/** Returns the task with its override and those of the tasks that it adds. */
function changeWithChildren(
  original: Task,
  { override, below, items }: OverrideNode,
  parts: OverrideParts,
): readonly Task[] {
  const own =
    override === undefined
      ? [original]
      : applyOverride(original, override.body, { ...parts, path: overridePath(override.key) })
  return own.flatMap((task) => {
    const { forEach: plan } = task
    if (plan === undefined) return changeNested(task, below, parts)
    const [template] = changeNested(plan.template, below, parts)
    if (template === undefined) return []
    if (below.size === 0 && items.size === 0) return [task]
    const changed = [...items].flatMap(([key, node]) => {
      const problem = findItemProblem(plan, key)
      if (problem === undefined) {
        return changeWithChildren(template, node, parts).map((child) => [key, child] as const)
      }
      for (const path of listPaths(node)) {
        parts.refusals.add('INVALID_TASK_OVERRIDE', path, () => problem)
      }
      return []
    })
    const children = new Map([...(plan.children ?? []), ...changed])
    const [path = ''] = [...below.values(), ...items.values()].flatMap(listPaths)
    return changeItemTask(
      { ...task, forEach: { ...plan, ...(children.size === 0 ? {} : { children }) } },
      { template, limits: undefined },
      { refusals: parts.refusals, path },
    )
  })
}

/** Returns a task that runs an ensemble, with changed tasks of that ensemble. */
function changeNested(
  task: Task,
  nodes: ReadonlyMap<string, OverrideNode>,
  parts: OverrideParts,
): readonly Task[] {
  const { loop } = task
  const [path = ''] = [...nodes.values()].flatMap(listPaths)
  if (loop !== undefined) {
    return changeNested(loop.template, nodes, parts).flatMap((template) =>
      changeLoopTask(
        { ...task, loop },
        { template, limits: undefined },
        { refusals: parts.refusals, path },
      ),
    )
  }
  const nested = findSubEnsemble(task)?.definition
  if (nested === undefined || nodes.size === 0) return [task]
  const tasks = changeTasks(nested.tasks, nodes, parts)
  if (tasks.length < nested.tasks.length) return []
  return tryTask(path, parts.refusals, () =>
    changeSubEnsemble(task, ensemble({ ...nested, tasks })),
  )
}

/** Returns the paths of all overrides below a node. */
function listPaths({ override, below, items }: OverrideNode): readonly string[] {
  return [
    ...(override === undefined ? [] : [overridePath(override.key)]),
    ...[...below.values(), ...items.values()].flatMap(listPaths),
  ]
}

/** Maximum length of the key of an item, as the engine has it. */
const MAX_KEY_LENGTH = 200

/** Returns the reason why no item can have the key. */
function findItemProblem(
  { template: { name }, key, settings, reduce }: ForEachPlan,
  wanted: string,
): string | undefined {
  const shown = `'${shortText(wanted)}'`
  const { maxItems = DEFAULT_MAX_ITEMS } = settings
  if (key === undefined && !(/^(?:0|[1-9]\d*)$/.test(wanted) && Number(wanted) < maxItems)) {
    return `No item of task '${name}' can have the key ${shown}: its keys are indexes from 0 to ${maxItems - 1}`
  }
  if (reduce !== undefined && wanted.startsWith(`reduce-${reduce.task.name}-`)) {
    return `${shown} is a task that combines outputs of '${name}': only tasks of items can be changed one by one`
  }
  if (wanted.trim() !== '' && wanted.length <= MAX_KEY_LENGTH) return undefined
  return `No item of task '${name}' can have the key ${shown}: keys have 1 to ${MAX_KEY_LENGTH} characters that are not all blank`
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
      changeItemTask(
        { ...original, forEach },
        { template, limits },
        { refusals, path: `${path}/forEach` },
      ),
    )
  }
  if (loop === undefined) return changeTask(original, override, parts)
  return changeAnyTask(loop.template, override, parts).flatMap((template) =>
    changeLoopTask(
      { ...original, loop },
      { template, limits: override.loop },
      { refusals, path: `${path}/loop` },
    ),
  )
}

function changeTask(
  original: Task,
  override: TaskOverrideBody,
  { catalogs, refusals, path }: OverrideParts & { readonly path: string },
): readonly Task[] {
  const { description, expectedOutput, maxIterations, maxHandoffs, additionalContext } = override
  const model = findModel(override.model, { catalogs, refusals, path: `${path}/model` })
  const added = findTools(override.tools?.add ?? [], {
    catalogs,
    refusals,
    path: `${path}/tools/add`,
  })
  if (isForAgents(original, override, { refusals, path })) return []
  if (maxHandoffs !== undefined && original.agent.handoffs === undefined) {
    const message = (): string =>
      `The agent of task '${original.name}' has no handoffs, so maxHandoffs has no effect on it`
    refusals.add('INVALID_TASK_OVERRIDE', `${path}/maxHandoffs`, message)
    return []
  }
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
      ...field('maxHandoffs', maxHandoffs),
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

const FOR_AGENTS = ['model', 'tools', 'maxIterations', 'maxHandoffs', 'additionalContext'] as const

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
