/** Options of a run. */
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

/** Listeners of a run. */
interface RunListeners {
  /** Called with every event, in order. Its errors are logged and change nothing. */
  readonly onEvent?: (event: RunEvent) => void
  /**
   * Called each time the run only waits for reviewers and can be stopped and resumed without
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
  /** Called with the time that a model call waited for its rate limit, in milliseconds. */
  readonly onRateLimitWait?: (waitedMs: number) => void
}

/** The request for a run. */
interface RunCaller {
  /**
   * W3C trace context in which the run was asked for, such as `00-<trace>-<span>-01`; what it sends out
   * belongs to the same trace. @default a trace of its own
   */
  readonly traceparent?: string
  /** W3C `tracestate` that came with it; passed on as it is. */
  readonly tracestate?: string
  /** The request of the agent or MCP client that started the run, for its tools and handlers. */
  readonly request?: CallerRequest
}

/** Logging of a run. */
interface RunLogOptions {
  readonly logger?: Logger
  /** Whether the logger gets every task, model turn and tool call. @default the ensemble's */
  readonly verbose?: boolean
  /** Characters of a tool's output in the log; negative is no limit. @default the ensemble's */
  readonly toolLogTruncateLength?: number
}

/** Where a run reads and writes what outlives it. */
interface RunPersistence {
  /** Where tasks with reflection learn. @default a store that lasts as long as the run */
  readonly reflections?: ReflectionStore
  /** Where memory scopes without a store of their own are. @default a store that lasts as long as the run */
  readonly memories?: MemoryStore
  /** Where events and steps go instead of `onEvent`. */
  readonly journal?: RunJournal
  /** The point at which an earlier process left this run. */
  readonly resume?: ResumePoint
}

/** Options of a run. */
export interface RunOptions extends RunListeners, RunCaller, RunLogOptions, RunPersistence {
  /** @default a random id */
  readonly runId?: string
  /** Aborting it cancels the run. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
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
  /** Prices of models; without them costs are unknown. */
  readonly prices?: Prices
  /** Budget of this run, in place of that of the ensemble. */
  readonly budget?: Budget
  /** Sizes of its inputs and of the texts that they make. @default those of {@link TextLimits} */
  readonly textLimits?: TextLimits
  /** Where tool calls are counted. */
  readonly toolMetrics?: ToolMetrics
}

/** The names of the options of a run. */
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

/** The point at which an interrupted run continues. */
export interface ResumePoint {
  /** All recorded steps, in order. With none the run begins. */
  readonly steps: readonly RunStep[]
  /** Which holder of the run this is; for readers. @default 1 */
  readonly epoch?: number
}
