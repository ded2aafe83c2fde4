/** A task: readonly data that is copied with changes and never mutated. */
import { isJudgeVariable, isRoundVariable } from './loop-variables.ts'
import { DEFAULT_ITEM_VARIABLE, DEFAULT_TEXTS_VARIABLE, isItemVariable } from './map-settings.ts'

import type { AgentTool } from '@tutti/core'
import type { ToolSchema, ValueOf } from '@tutti/core/internal'
import type { Budget } from '../usage/budget.ts'
import type { ChatModel } from '../model/chat-model.ts'
import type { MemoryScope } from '../memory/memory.ts'
import type { OutputReader } from '../output/structured-output.ts'
import type { RateLimit } from '../model/rate-limit.ts'
import type { Agent } from './agent.ts'
import type { Condition, When } from './condition.ts'
import type { Guardrails } from './guardrail.ts'
import type { Handler } from './handler.ts'
import type { LoopSettings, LoopTest } from './loop-settings.ts'
import type { MapSettings } from './operations.ts'
import type { OnUnfinished } from './on-unfinished.ts'
import type { ReviewSetting } from './review-settings.ts'
import type { TaskWait } from './wait-task.ts'

/** Default maximum number of model turns of a task, as on the wire. */
export const DEFAULT_MAX_ITERATIONS = 25

/** Default expected output of a task. */
export const DEFAULT_EXPECTED_OUTPUT = 'A complete and accurate result of the task.'

/** Default maximum number of corrections of an answer that does not match the schema. */
export const DEFAULT_OUTPUT_RETRIES = 3

/** Settings that a task and its definition have in common. */
interface TaskSettings {
  /** Description of the work; `{variable}` stands for an input of the run. */
  readonly description: string
  /** Version of its handler's and guardrails' code, which is part of the ensemble's digest. */
  readonly version?: string
  /** Model of this task. @default the agent's, else the ensemble's */
  readonly model?: ChatModel
  /**
   * Models that are called, in this order, when a call of the first model fails for good. @default the
   * ensemble's
   */
  readonly fallbackModels?: readonly ChatModel[]
  /** Rate limit of its model calls. @default the agent's, else the ensemble's */
  readonly rateLimit?: RateLimit
  /** Reaction to an answer that the model ended early. @default the agent's, else the ensemble's */
  readonly onUnfinished?: OnUnfinished
  /** Checks of the task's input and output. */
  readonly guardrails?: Guardrails
  /**
   * Maximum number of output tokens of each model call, at least 1. A longer answer is cut; without `onUnfinished` of
   * the task, it then fails with OUTPUT_TRUNCATED. A model that cannot change its limit ignores it. @default the
   * limit of the model
   */
  readonly maxOutputTokens?: number
  /**
   * Whether an empty last answer of the agent is a valid output. Otherwise the answer is requested once more, and the task
   * fails with OUTPUT_EMPTY if it is empty again. The output of a handler may always be empty. @default false
   */
  readonly allowEmptyOutput?: boolean
  /**
   * System message of the agent, unchanged and not as a template, instead of its role and goal. The model then
   * gets the description as it is, without headings and without the default expected output. An empty text
   * sends no system message. @default the role and the goal of the agent
   */
  readonly instructions?: string
  /** Text that the agent receives after the outputs of earlier tasks, unchanged and not as a template. */
  readonly additionalContext?: string
  /** Review before the task begins. @default none */
  readonly beforeReview?: ReviewSetting
  /** Review of the output. @default by the policy of the ensemble */
  readonly review?: ReviewSetting
  /** Maximum working time of one attempt, in milliseconds. */
  readonly timeoutMs?: number
  /** Budget of all its attempts together. */
  readonly budget?: Budget
  /** Whether one more model call after the task collects improvements for its next run. */
  readonly reflection?: boolean
  /** Maximum number of handoffs between its agents, at least 1. @default 10 */
  readonly maxHandoffs?: number
  /**
   * Name of a switch. Of the tasks with the same name, its cases, only the first one whose `when` is true runs; a case
   * without `when` is the last. @default none
   */
  readonly switch?: string
}

/** One piece of work for one agent. `Output` is the type of its structured output. */
export interface Task<Output = unknown> extends TaskSettings {
  /** Name, unique within the ensemble; context, overrides and results refer to it. */
  readonly name: string
  /** Form of the result; may contain `{variable}` too. */
  readonly expectedOutput: string
  readonly agent: Agent
  /** Tools of this task and its agent. */
  readonly tools: readonly AgentTool[]
  /** Names of the tasks whose outputs this task receives, and for which it therefore waits. */
  readonly context: readonly string[]
  /** Maximum number of model turns before the final answer is requested. */
  readonly maxIterations: number
  /** Schema of the output, as the author defined it. */
  readonly output?: ToolSchema
  /** Reader of answers by that schema. */
  readonly outputReader?: OutputReader<Output>
  /** Maximum number of corrections of an answer that does not match the schema. */
  readonly outputRetries: number
  /** Maximum number of retries after a failed attempt. */
  readonly retries: number
  readonly memory: readonly MemoryScope[]
  /** Performs the task instead of an agent. `never` because a copy of the task may have another schema. */
  readonly handler?: Handler<never>
  /** The list that its handler maps; present only for a task that was made with `forEach`. */
  readonly forEach?: ForEachPlan
  /** The task that its handler repeats; present only for a task that was made with `loop`. */
  readonly loop?: LoopPlan
  /** The wait of its handler; present only for a task that was made with `waitFor`. */
  readonly waitFor?: TaskWait
  /** Condition under which the task runs. Otherwise it is skipped. */
  readonly when?: Condition
}

/** A list that a task maps, and the task of one item. */
export interface ForEachPlan {
  /** Name of the earlier task or the input that has the list. */
  readonly over: string
  readonly isInput: boolean
  /** Returns the key of an item, or names the field that has it. @default the index */
  readonly key?: string | ((item: never, index: number) => string)
  readonly settings: MapSettings & { readonly as?: string }
  /** Task of one item. */
  readonly template: Task
  /** Tasks of single items, in place of the template, by the keys of their items. @default none */
  readonly children?: ReadonlyMap<string, Task>
  /** Task that combines the outputs; absent if the output has all of them. */
  readonly reduce?: { readonly task: Task; readonly maxTokens: number; readonly as?: string }
}

/** A task that is repeated, and the end of its repetition. */
export interface LoopPlan {
  /** Task of one round. */
  readonly template: Task
  readonly settings: LoopSettings
  readonly until?: LoopTest
  /** Task that judges the output of a round. */
  readonly judge?: Task
}

/** Definition of a task by its author. */
export interface TaskDefinition<
  Schema extends ToolSchema | undefined = ToolSchema,
> extends TaskSettings {
  /** Condition under which the task runs; otherwise it is skipped. @default it always runs */
  readonly when?: When
  /** Unique name. @default derived from the first words of the description */
  readonly name?: string
  /** @default {@link DEFAULT_EXPECTED_OUTPUT} */
  readonly expectedOutput?: string
  /** @default an agent with a role by the verb in the description */
  readonly agent?: Agent
  readonly tools?: readonly AgentTool[]
  /** Tasks, or names of tasks, whose outputs this task receives. */
  readonly context?: readonly (Task | string)[]
  /** At least 1. @default the agent's, else 25 */
  readonly maxIterations?: number
  /** Schema of the output: TypeBox, JSON Schema, or any Standard Schema with JSON Schema. */
  readonly output?: Schema
  /** At least 0. @default 3 */
  readonly outputRetries?: number
  /** At least 0. @default 0 */
  readonly retries?: number
  readonly memory?: readonly MemoryScope[]
  /** Performs the task instead of an agent: a function or a tool. */
  readonly handler?: Handler<Schema extends ToolSchema ? ValueOf<Schema> : unknown>
}

/** Whether a value was created with `task()`. */
export function isTask(value: unknown): value is Task {
  return typeof value === 'object' && value !== null && 'agent' in value && 'context' in value
}

/** Returns the role by which agents delegate to a task: that of its agent; for a task without one, its name. */
export function toWorkerRole({ name, agent, handler }: Task): string {
  return handler === undefined ? agent.role : name
}

/**
 * Returns the problem of a task that another one adds for itself, such as a judge, and that has a condition; undefined if it
 * has none.
 */
export function findConditionalProblem(task: Partial<Task> | undefined): string | undefined {
  const isConditional = task?.when !== undefined || task?.switch !== undefined
  return isConditional
    ? 'must not have when or switch, which apply only to tasks of an ensemble'
    : undefined
}

/** A task from which another one makes the tasks that it adds. */
export interface TaskPart {
  readonly task: Task
  /** Whether the other task fills in the variable. */
  readonly fills: (variable: string) => boolean
}

/** Returns the tasks from which a task makes those that it adds, the main one first; empty if it does its work itself. */
export function listParts({
  forEach,
  loop,
}: Pick<Task, 'forEach' | 'loop'>): readonly [] | readonly [TaskPart, ...TaskPart[]] {
  if (forEach !== undefined) {
    const { template, children, reduce, settings } = forEach
    const { as = DEFAULT_ITEM_VARIABLE } = settings
    const fills = (name: string): boolean => isItemVariable(name, as)
    const others = [...(children?.values() ?? [])].map((task) => ({ task, fills }))
    if (reduce === undefined) return [{ task: template, fills }, ...others]
    const { as: texts = DEFAULT_TEXTS_VARIABLE } = reduce
    const last = { task: reduce.task, fills: (name: string) => name === texts }
    return [{ task: template, fills }, ...others, last]
  }
  if (loop === undefined) return []
  const body = { task: loop.template, fills: isRoundVariable }
  return loop.judge === undefined ? [body] : [body, { task: loop.judge, fills: isJudgeVariable }]
}

/** Returns a task, and all tasks from which it makes those that it adds. */
export function listTaskTree(task: Task): readonly Task[] {
  return [task, ...listParts(task).flatMap((part) => listTaskTree(part.task))]
}

/** Returns the tasks from which a task makes those that it adds, without those that add tasks themselves; else itself. */
export function listLeafTasks(task: Task): readonly Task[] {
  return listTaskTree(task).filter((one) => listParts(one).length === 0)
}

/**
 * Returns the task of an agent that takes over the conversation of `root`. It has the output of `root`; its reviews, its
 * guardrails, its budget and its memory remain those of `root`.
 */
export function createHandoffTask(root: Task, agent: Agent): Task {
  const isOwn = agent === root.agent
  const { name, description, expectedOutput, version, output, outputReader } = root
  const { outputRetries, fallbackModels, maxOutputTokens, allowEmptyOutput } = root
  const { model, rateLimit, onUnfinished, instructions } = root
  return {
    name,
    description,
    expectedOutput,
    agent,
    tools: isOwn ? root.tools : agent.tools,
    context: [],
    maxIterations: isOwn ? root.maxIterations : (agent.maxIterations ?? root.maxIterations),
    outputRetries,
    retries: 0,
    memory: [],
    review: false,
    ...defined({ version, output, outputReader, fallbackModels, maxOutputTokens }),
    ...defined({ allowEmptyOutput }),
    ...(isOwn ? defined({ model, rateLimit, onUnfinished, instructions }) : {}),
    ...(isOwn || agent.model !== undefined ? {} : defined({ model })),
    ...(isOwn || agent.rateLimit !== undefined ? {} : defined({ rateLimit })),
    ...(isOwn || agent.onUnfinished !== undefined ? {} : defined({ onUnfinished })),
  }
}

/** Returns the fields that are defined. */
function defined<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  const known = Object.entries(fields).filter(([, value]) => value !== undefined)
  // NOTE: only the fields with values remain.
  return Object.fromEntries(known) as { [Name in keyof Fields]?: NonNullable<Fields[Name]> }
}

/** Returns a task with those of all agents that can take it over. Agents that are only named by role are not included. */
export function listHandoffTasks(root: Task): readonly Task[] {
  const { agent, handler, budget } = root
  if (handler !== undefined || agent.handoffs === undefined) return [root]
  const agents = new Set([agent])
  // The set grows while it is read.
  for (const { handoffs = [] } of agents) {
    for (const target of handoffs) {
      if (typeof target === 'string') continue
      const next = 'agent' in target ? target.agent : target
      if (typeof next === 'object') agents.add(next)
    }
  }
  const [, ...others] = agents
  const shared = budget === undefined ? {} : { budget }
  return [root, ...others.map((next) => ({ ...createHandoffTask(root, next), ...shared }))]
}

/**
 * Returns the tasks whose work a task does: those from which it makes the tasks that it adds, else itself; each with the tasks of
 * the agents that can take it over.
 */
export function listWorkingTasks(task: Task): readonly Task[] {
  return listLeafTasks(task).flatMap(listHandoffTasks)
}
