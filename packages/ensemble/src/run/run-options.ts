/** Options of a run. */
import type { ClientTool } from '../agent/client-tools.ts'
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
import type { CreateCallbackUrl } from '../definition/wait.ts'
import type { Clock, Logger, ToolMetrics } from '@tutti/core'
import type { CallerRequest, OptionNames } from '@tutti/core/internal'
import type { RunEvent } from '@tutti/protocol'
import type { HistoryMessage, ReplayMode } from '@tutti/protocol/internal'

interface RunListeners {
  /** Called with every event, in order. Errors that it throws are logged and change nothing. */
  readonly onEvent?: (event: RunEvent) => void
  /**
   * Called each time the run only waits for reviewers and can be stopped and resumed without loss: a review
   * is open, every running task waits for one, and nothing else is about to happen. Not called while a tool
   * asks from inside a call that must not be repeated. Errors that it throws are logged and change nothing.
   */
  readonly onWaiting?: () => void
  /**
   * Called when the run begins to only wait for people, and when it continues. Unlike for `onWaiting`, a tool
   * that asks from inside its call always counts as waiting. Errors that it throws are logged and change
   * nothing.
   */
  readonly onWaitingChange?: (isWaiting: boolean) => void
  /**
   * Called when all running tasks begin to wait for people or for agents of other processes, at least one for an agent,
   * and when one continues. Errors that it throws are logged and change nothing.
   */
  readonly onAgentWaitChange?: (isWaiting: boolean) => void
  /** Called with the time that a model call waited for its rate limit, in milliseconds. */
  readonly onRateLimitWait?: (waitedMs: number) => void
}

/** The request that started a run. */
interface RunCaller {
  /**
   * W3C trace context of the request, such as `00-<trace>-<span>-01`; requests of the run belong to the same
   * trace. @default a new trace
   */
  readonly traceparent?: string
  /** W3C `tracestate` of the request; passed on unchanged. */
  readonly tracestate?: string
  /** Request of the agent or MCP client that started the run, for its tools and handlers. */
  readonly request?: CallerRequest
}

/** Logging of a run. */
interface RunLogOptions {
  readonly logger?: Logger
  /** Whether to log every task, model turn and tool call. @default the ensemble's */
  readonly verbose?: boolean
  /**
   * Maximum length of a tool's output in the log, in characters; a negative number means no limit. @default
   * the ensemble's
   */
  readonly toolLogTruncateLength?: number
}

interface RunPersistence {
  /** Store for tasks with reflection. @default a store that lasts as long as the run */
  readonly reflections?: ReflectionStore
  /** Store for memory scopes without their own. @default a store that lasts as long as the run */
  readonly memories?: MemoryStore
  /** Journal of events and steps; replaces `onEvent`. */
  readonly journal?: RunJournal
  /** Point at which an earlier process left this run. */
  readonly resume?: ResumePoint
}

/** Settings of one run of an ensemble in process. */
export interface RunOptions extends RunListeners, RunCaller, RunLogOptions, RunPersistence {
  /** Id of the run. @default a random id */
  readonly runId?: string
  /**
   * Messages of the conversation before the run, oldest first. Every agent of the run gets them between its
   * system message and its task. @default none
   */
  readonly history?: readonly HistoryMessage[]
  /**
   * Tools that the client of the run executes. Every agent may call them; a call is a review that the reviewer, or
   * `decide` of the run's handle, answers with the result. @default none
   */
  readonly clientTools?: readonly ClientTool[]
  /** Signal that cancels the run. */
  readonly signal?: AbortSignal
  readonly clock?: Clock
  /**
   * Decides reviews. If a run has neither a reviewer nor `decidable`, tasks that need a review are rejected
   * at the start, and tools that need approval fail their task.
   */
  readonly reviewer?: RunReviewer
  /**
   * Whether reviews can be decided through the handle of the run. @default true with `start`, false with
   * `run`
   */
  readonly decidable?: boolean
  /** Models to which the run can be switched by alias. */
  readonly models?: ModelCatalog
  /** Profiles that a directive can apply, by name. @default {} */
  readonly profiles?: RunProfiles
  /** Prices of models; without a price, costs are unknown. */
  readonly prices?: Prices
  /** Budget of this run; replaces that of the ensemble. */
  readonly budget?: Budget
  /** Maximum sizes of its inputs and its rendered texts. @default those of {@link TextLimits} */
  readonly textLimits?: TextLimits
  /** Receives the metrics of tool calls. */
  readonly toolMetrics?: ToolMetrics
  /** Creates the URLs of `callbackUrl` of handlers. @default handlers cannot ask for any */
  readonly callbackUrl?: CreateCallbackUrl
}

/** Names of the options of a run. */
export const RUN_OPTION_NAMES = {
  runId: true,
  history: true,
  clientTools: true,
  signal: true,
  onEvent: true,
  onWaiting: true,
  onWaitingChange: true,
  onAgentWaitChange: true,
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
  callbackUrl: true,
  onRateLimitWait: true,
  reflections: true,
  memories: true,
  journal: true,
  resume: true,
} as const satisfies OptionNames<RunOptions>

/** Point at which an interrupted run continues. */
export interface ResumePoint {
  /** All recorded steps, in order. If there are none, the run starts. */
  readonly steps: readonly RunStep[]
  /** Number of processes that have owned the run so far, this one included; shown in events. @default 1 */
  readonly epoch?: number
  /** Mode of replaying the steps before its step `run_forked`. @default it replays none */
  readonly replay?: ReplayMode
}
