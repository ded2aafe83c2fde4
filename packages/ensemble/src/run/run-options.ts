/** Surroundings of a run. */
import type { Budget } from '../usage/budget.ts'
import type { MemoryStore } from '../memory/memory.ts'
import type { ReflectionStore } from '../memory/reflection.ts'
import type { ModelCatalog } from '../model/model-catalog.ts'
import type { Prices } from '../model/prices.ts'
import type { RunJournal } from '../ports/run-journal.ts'
import type { RunStep } from '../ports/run-step.ts'
import type { RunProfiles } from '../steering/profiles.ts'
import type { RunReviewer } from '../ports/run-reviewer.ts'
import type { TextLimits } from '../definition/text-limits.ts'
import type { CallerRequest, Clock, Logger, OptionNames, ToolMetrics } from '@tutti/core'
import type { RunEvent } from '@tutti/protocol'

/** Surroundings of a run. */
export interface RunOptions {
  /** @default a random id */
  readonly runId?: string
  /** Aborting it cancels the run. */
  readonly signal?: AbortSignal
  /** Told of every event, in order. What it throws is logged and changes nothing. */
  readonly onEvent?: (event: RunEvent) => void
  /**
   * Called each time the run comes to do nothing but wait for reviewers and can be stopped and resumed without
   * loss: a review is open, every task that runs waits at one, and nothing else is about to happen. It is not
   * called while a tool asks from inside a call that must not be repeated. What it throws is logged and
   * changes nothing.
   */
  readonly onWaiting?: () => void
  /**
   * Called when the run begins to do nothing but wait for people, and when it continues. In contrast to
   * `onWaiting`, a tool that asks from inside its call always counts as waiting. What it throws is logged and
   * changes nothing.
   */
  readonly onWaitingChange?: (isWaiting: boolean) => void
  /**
   * W3C trace context in which the run was asked for, such as `00-<trace>-<span>-01`; what it sends out
   * belongs to the same trace. @default a trace of its own
   */
  readonly traceparent?: string
  /** W3C `tracestate` that came with it; passed on as it is. */
  readonly tracestate?: string
  /** The request of the agent or MCP client that started the run, for its tools and handlers. */
  readonly request?: CallerRequest
  readonly clock?: Clock
  readonly logger?: Logger
  /**
   * Decides reviews. A run that is started with `run` and without a reviewer cannot be reviewed: tasks that need
   * a review are refused at the start, tools that need approval fail their task.
   */
  readonly reviewer?: RunReviewer
  /**
   * Whether reviews are decided through the handle of the run. Without that and without a reviewer, a review is
   * refused at the start. @default true with `start`, false with `run`
   */
  readonly decidable?: boolean
  /** Models that a switch may name by alias. */
  readonly models?: ModelCatalog
  /** Profiles that a directive may apply, by name. @default {} */
  readonly profiles?: RunProfiles
  /** What models cost; without it costs are not known. */
  readonly prices?: Prices
  /** What this run may use, in place of the budget of the ensemble. */
  readonly budget?: Budget
  /** Sizes of its inputs and of the texts that they make. @default those of {@link TextLimits} */
  readonly textLimits?: TextLimits
  /** Whether the logger is told of every task, model turn and tool call. @default the ensemble's */
  readonly verbose?: boolean
  /** Characters of a tool's output in the log; negative is no limit. @default the ensemble's */
  readonly toolLogTruncateLength?: number
  /** Where tool calls are counted. */
  readonly toolMetrics?: ToolMetrics
  /** Told how long a model call waited for its turn under a rate limit, in milliseconds. */
  readonly onRateLimitWait?: (waitedMs: number) => void
  /** Where tasks with reflection learn. @default a store that lasts as long as the run */
  readonly reflections?: ReflectionStore
  /** Where memory scopes without a store of their own are. @default a store that lasts as long as the run */
  readonly memories?: MemoryStore
  /** Where events and steps go instead of `onEvent`. */
  readonly journal?: RunJournal
  /** What an earlier process left of this run. */
  readonly resume?: ResumePoint
}

/** The options of a run. */
export const RUN_OPTION_NAMES = {
  runId: true,
  signal: true,
  onEvent: true,
  onWaiting: true,
  onWaitingChange: true,
  textLimits: true,
  traceparent: true,
  tracestate: true,
  request: true,
  clock: true,
  logger: true,
  reviewer: true,
  decidable: true,
  models: true,
  profiles: true,
  prices: true,
  budget: true,
  verbose: true,
  toolLogTruncateLength: true,
  toolMetrics: true,
  onRateLimitWait: true,
  reflections: true,
  memories: true,
  journal: true,
  resume: true,
} as const satisfies OptionNames<RunOptions>

/** Where a run that was cut off goes on. */
export interface ResumePoint {
  /** All steps that were kept, in order. With none the run begins. */
  readonly steps: readonly RunStep[]
  /** Which holder of the run this is; for readers. @default 1 */
  readonly epoch?: number
}
