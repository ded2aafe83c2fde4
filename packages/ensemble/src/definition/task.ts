/** A task: plain readonly data, copied with changes, never mutated. */
import type { AgentTool, ToolSchema, ValueOf } from '@tutti/core'
import type { Budget } from '../usage/budget.ts'
import type { ChatModel } from '../model/chat-model.ts'
import type { MemoryScope } from '../memory/memory.ts'
import type { OutputReader } from '../output/structured-output.ts'
import type { RateLimit } from '../model/rate-limit.ts'
import type { Agent } from './agent.ts'
import type { Guardrails } from './guardrail.ts'
import type { Handler } from './handler.ts'
import type { OnUnfinished } from './on-unfinished.ts'
import type { ReviewSetting } from './review-settings.ts'

/** Model turns a task may take when nothing else is said; the wire's default. */
export const DEFAULT_MAX_ITERATIONS = 25

/** Default expected output of a task. */
export const DEFAULT_EXPECTED_OUTPUT = 'A complete and accurate result of the task.'

/** Corrections that a model is asked for when its answer does not fit; AgentEnsemble's. */
export const DEFAULT_OUTPUT_RETRIES = 3

/** Settings that a task and its definition have in common. */
interface TaskSettings {
  /** The work; `{variable}` stands for an input of the run. */
  readonly description: string
  /** Model of this task; else the agent's, else the ensemble's. */
  readonly model?: ChatModel
  /** Models that are asked, in order, when a call fails for good; else the ensemble's. */
  readonly fallbackModels?: readonly ChatModel[]
  /** Bounds its model calls; else the agent's rate limit, else the ensemble's. */
  readonly rateLimit?: RateLimit
  /** Reaction to an answer that a model ended early. @default the agent's, else the ensemble's */
  readonly onUnfinished?: OnUnfinished
  /** The author's own checks of what goes in and what comes out. */
  readonly guardrails?: Guardrails
  /** Text that the agent is given after the outputs of earlier tasks; as it is, no template. */
  readonly additionalContext?: string
  /** Asks a person before the task begins. */
  readonly beforeReview?: ReviewSetting
  /** Asks a person about the output; else the policy of the ensemble. */
  readonly review?: ReviewSetting
  /** Limit of one attempt in working time, in milliseconds. */
  readonly timeoutMs?: number
  /** Budget of all its attempts together. */
  readonly budget?: Budget
  /** Whether one more model call looks for what would make the task better, for the next run. */
  readonly reflection?: boolean
}

/** One piece of work for one agent. `Output` is the type of what it gives. */
export interface Task<Output = unknown> extends TaskSettings {
  /** Unique within its ensemble; overrides, context and results go by it. */
  readonly name: string
  /** The form of the result; may contain `{variable}` too. */
  readonly expectedOutput: string
  readonly agent: Agent
  /** Tools of this task and its agent. */
  readonly tools: readonly AgentTool[]
  /** Names of the tasks whose outputs this one is given, and therefore waits for. */
  readonly context: readonly string[]
  /** Model turns before a final answer is asked for. */
  readonly maxIterations: number
  /** Schema of the output: the author's own object. */
  readonly output?: ToolSchema
  /** Reads answers by that schema. */
  readonly outputReader?: OutputReader<Output>
  /** Corrections asked for when an answer does not fit the schema. */
  readonly outputRetries: number
  /** Attempts that follow one that failed. */
  readonly retries: number
  readonly memory: readonly MemoryScope[]
  /** Does the task in place of an agent; a copy of the task may have another schema. */
  readonly handler?: Handler<never>
}

/** The definition of a task by its author. */
export interface TaskDefinition<
  Schema extends ToolSchema | undefined = ToolSchema,
> extends TaskSettings {
  /** @default made from the first words of the description */
  readonly name?: string
  /** @default {@link DEFAULT_EXPECTED_OUTPUT} */
  readonly expectedOutput?: string
  /** @default an agent whose role follows from the description's verb */
  readonly agent?: Agent
  readonly tools?: readonly AgentTool[]
  /** Tasks, or names of tasks, whose outputs this one builds on. */
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
  /** Does the task in place of an agent: code, or a tool. */
  readonly handler?: Handler<Schema extends ToolSchema ? ValueOf<Schema> : unknown>
}
