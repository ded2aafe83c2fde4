/** Pure: finds all problems in the definition of a task. */
import type { AgentTool } from '@tutti/core'
import { findOptionProblems, type OptionNames } from '@tutti/core/internal'
import { isTemplateName, previewOf, shortText, type Problem } from '@tutti/protocol/internal'

import { findOnUnfinishedProblems } from './on-unfinished.ts'
import { findBudgetProblems } from '../usage/budget.ts'
import { isCondition } from './condition.ts'
import { findGuardrailProblems } from './guardrail.ts'
import { findHandoffNameProblems, toAgentProblemText } from './handoff.ts'
import { HANDLER_ROLE } from './handler.ts'
import { DELEGATE_TOOL } from './delegation-limits.ts'
import { findKeyProblems, findMapProblems, MAP_NAMES } from './map-settings.ts'
import { findDuplicates } from './find-duplicates.ts'
import { findReviewProblems } from './review-settings.ts'

import type { ForEach, ReduceOutputs } from './for-each.ts'
import {
  findConditionalProblem,
  isTask,
  type ForEachPlan,
  type Task,
  type TaskDefinition,
} from './task.ts'

/** Fields that a task with a handler cannot have, because it does not call a model. */
const FOR_AGENTS = [
  'model',
  'fallbackModels',
  'rateLimit',
  'onUnfinished',
  'maxOutputTokens',
  'memory',
  'reflection',
  'instructions',
  'additionalContext',
  'tools',
  'maxHandoffs',
] as const satisfies readonly (keyof TaskDefinition)[]

/** Names of options. A copy of a task also has the parts that `task()` computed. */
const TASK_NAMES = {
  description: true,
  model: true,
  fallbackModels: true,
  rateLimit: true,
  onUnfinished: true,
  maxOutputTokens: true,
  allowEmptyOutput: true,
  guardrails: true,
  instructions: true,
  additionalContext: true,
  beforeReview: true,
  review: true,
  timeoutMs: true,
  budget: true,
  reflection: true,
  maxHandoffs: true,
  name: true,
  version: true,
  expectedOutput: true,
  agent: true,
  tools: true,
  context: true,
  maxIterations: true,
  output: true,
  outputReader: true,
  outputRetries: true,
  retries: true,
  memory: true,
  handler: true,
  forEach: true,
  loop: true,
  waitFor: true,
  when: true,
  switch: true,
} as const satisfies OptionNames<Record<keyof TaskDefinition | keyof Task, unknown>>

/** Returns the problems of a definition, one text each; empty if it is valid. */
export function findTaskProblems(definition: TaskDefinition, name: string): readonly string[] {
  const problems = [...findOptionProblems(definition, TASK_NAMES)]
  if (name.trim() === '') problems.push('name must not be blank')
  if (definition.description.trim() === '') problems.push('description must not be blank')
  const { maxIterations = 1, maxOutputTokens = 1, outputRetries = 0, retries = 0 } = definition
  const { timeoutMs = 1, maxHandoffs = 1 } = definition
  for (const [field, value] of Object.entries({ maxIterations, maxOutputTokens, maxHandoffs })) {
    if (!(Number.isInteger(value) && value >= 1)) {
      problems.push(`${field} must be an integer >= 1, got ${value}`)
    }
  }
  for (const [field, value] of Object.entries({ outputRetries, retries })) {
    if (!(Number.isInteger(value) && value >= 0)) {
      problems.push(`${field} must be an integer >= 0, got ${value}`)
    }
  }
  if (!(timeoutMs > 0)) problems.push(`timeoutMs must be > 0, got ${timeoutMs}`)
  problems.push(
    ...findToolProblems('tools', definition.tools),
    ...findToolProblems('tools of its agent', definition.agent?.tools),
  )
  const tools = new Set([...(definition.tools ?? []), ...(definition.agent?.tools ?? [])])
  for (const tool of findDuplicates([...tools].map((known) => known.name))) {
    problems.push(`two tools are named "${tool}"`)
  }
  if (definition.agent?.handoffs !== undefined) {
    const names = [...tools].map((known) => known.name)
    problems.push(
      ...findHandoffNameProblems(definition.agent, names).map(
        (problem) => `its agent: ${toAgentProblemText(problem)}`,
      ),
    )
  }
  if (definition.agent?.allowDelegation === true) {
    const own = [...tools].some(({ name: tool }) => tool === DELEGATE_TOOL)
    if (own) problems.push(`the tool name "${DELEGATE_TOOL}" is reserved for delegation`)
  }
  return [
    ...problems,
    ...findBudgetProblems(definition.budget),
    ...findGuardrailProblems(definition.guardrails),
    ...findOnUnfinishedProblems(definition.onUnfinished),
    ...findReviewProblems('review', definition.review),
    ...findReviewProblems('beforeReview', definition.beforeReview),
    ...findHandlerProblems(definition),
    ...findConditionProblems(definition),
  ]
}

/** Returns the problems of a condition and of the name of a switch, which plain JavaScript can get wrong. */
function findConditionProblems({ when, switch: switchName }: TaskDefinition): readonly string[] {
  const problems =
    switchName === undefined || (typeof switchName === 'string' && switchName.trim() !== '')
      ? []
      : [`switch must be a name, got ${previewOf(switchName)}`]
  if (when === undefined || typeof when === 'function' || isCondition(when)) return problems
  return [...problems, `when must be a function or a condition(), got ${previewOf(when)}`]
}

const FOR_EACH_NAMES = {
  ...MAP_NAMES,
  over: true,
  collect: true,
} as const satisfies OptionNames<ForEach<never>>

const COLLECT_NAMES = {
  reduce: true,
  maxTokens: true,
  as: true,
} as const satisfies OptionNames<ReduceOutputs<unknown>>

/** Returns the problems of the names of its options, of its list, of its key and of what it collects. */
export function findForEachOptionProblems(forEach: ForEach<never>): readonly string[] {
  const { over, key, collect } = forEach
  const isList = typeof over === 'string' ? over.trim() !== '' : isTask(over)
  return [
    ...findOptionProblems(forEach, FOR_EACH_NAMES, 'forEach'),
    ...(isList
      ? []
      : [`forEach.over must be a task or the name of an input, got ${previewOf(over)}`]),
    ...findKeyProblems(key).map((problem) => `forEach.${problem}`),
    ...findCollectProblems(collect),
  ]
}

function findCollectProblems(collect: ForEach<never>['collect']): readonly string[] {
  if (collect === undefined || collect === 'list' || collect === 'outputs') return []
  return typeof collect === 'object' && collect !== null
    ? findOptionProblems(collect, COLLECT_NAMES, 'forEach.collect')
    : [
        `forEach.collect must be 'list', 'outputs' or { reduce: task, maxTokens }, got ${previewOf(collect)}`,
      ]
}

/** Returns the problems of a task for each item of a list, with the paths of their options. */
export function findForEachProblems({
  key,
  settings,
  reduce,
}: Pick<ForEachPlan, 'key' | 'settings' | 'reduce'>): readonly Problem[] {
  const problems: Problem[] = []
  for (const [path, name] of [
    ['/as', settings.as],
    ['/collect/as', reduce?.as],
  ] as const) {
    if (name === undefined || isTemplateName(name)) continue
    problems.push({ path, message: `must be the name of a template variable, got "${name}"` })
  }
  if (typeof key === 'string' && key.split('.').includes('')) {
    const message = `must be the path of a field, such as "author.id", got "${key}"`
    problems.push({ path: '/key', message })
  }
  return [...problems, ...findMapProblems(settings), ...findReduceProblems(settings, reduce)]
}

function findReduceProblems(
  { onError }: ForEachPlan['settings'],
  reduce: ForEachPlan['reduce'],
): readonly Problem[] {
  if (reduce === undefined) return []
  const { maxTokens } = reduce
  // Plain JavaScript can contain anything.
  const task: Partial<Task> | undefined = reduce.task
  const conditional = findConditionalProblem(task)
  return [
    ...(task?.context === undefined
      ? [{ path: '/collect/reduce', message: 'must be created with task()' }]
      : []),
    ...(conditional === undefined ? [] : [{ path: '/collect/reduce', message: conditional }]),
    ...(maxTokens >= 1
      ? []
      : [{ path: '/collect/maxTokens', message: `must be a number >= 1, got ${maxTokens}` }]),
    ...(onError === 'collect'
      ? [{ path: '/collect', message: "cannot reduce with onError 'collect': use 'continue'" }]
      : []),
  ]
}

/** Returns the problems of values in place of tools, which plain JavaScript can contain. */
function findToolProblems(what: string, tools: readonly AgentTool[] = []): readonly string[] {
  return tools.flatMap((tool: Partial<AgentTool>, index) =>
    typeof tool.call === 'function' && typeof tool.readInput === 'function'
      ? []
      : [`${what}[${index}] must be a tool, such as one of defineTool(), got ${shortJson(tool)}`],
  )
}

function shortJson(value: unknown): string {
  return shortText(JSON.stringify(value))
}

function findHandlerProblems(definition: TaskDefinition): readonly string[] {
  if (definition.handler === undefined) return []
  const given = FOR_AGENTS.filter((field) => {
    const value = definition[field]
    return value !== undefined && !(Array.isArray(value) && value.length === 0)
  })
  const named = definition.agent !== undefined && definition.agent.role !== HANDLER_ROLE
  return [...given, ...(named ? ['agent'] : [])].map(
    (field) => `${field} does not apply to a task with a handler`,
  )
}
