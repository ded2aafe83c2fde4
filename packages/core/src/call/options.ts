/** Options of tool calls, as a run, a pipeline or a test sets them. */
import type { CallerRequest } from '../tool/caller-request.ts'
import type { TimedAgentReport } from '../tool/agent-report.ts'
import type { ApprovalOptions, Reviewer } from '../tool/approval.ts'
import type { Clock } from '../clock.ts'
import type { Limiter } from '../limiter.ts'
import type { Logger } from '../logger.ts'
import type { ToolMetrics } from '../metrics.ts'
import type { AgentTool, FileChange, Remaining, ToolProgress } from '../tool/tool.ts'
import type { NestedToolCall, ToolCall, ToolCallOutcome } from '../tool/outcome.ts'

/**
 * Time in milliseconds that cancelled work may take to stop before it is abandoned: long enough to close a connection or
 * to end a child process, short enough for a waiting user.
 */
export const CANCEL_GRACE_MS = 5_000

interface ToolCallOrigin {
  readonly agentRole?: string
  readonly taskName?: string
  readonly runId?: string
  /**
   * W3C trace context of the caller, in which the call gets a new span; or a function that returns the context of the
   * call by its id, called when the tool reads it.
   */
  readonly traceparent?: string | ((callId: string) => string)
  /** `tracestate` that belongs to `traceparent`. */
  readonly tracestate?: string
  /** The request of the agent or MCP client that led to the call. */
  readonly request?: CallerRequest
}

/** Listeners of a call. Their errors are logged and change nothing, except for `onBegin`. */
interface ToolCallListeners {
  /**
   * Called once for each call, just before its body does anything: its arguments are valid, and its reviewer has
   * approved it where the tool needs approval. The body and its time limit wait for the promise. An error of this
   * listener ends the call as if the body had thrown it. Not called for nested calls of a tool.
   */
  readonly onBegin?: (call: ToolCall, tool: AgentTool) => void | Promise<void>
  /** Called with the progress of a call. */
  readonly onProgress?: (call: ToolCall, progress: ToolProgress) => void
  /** Called with requests to other agents, as they happen. */
  readonly onAgentReport?: (call: ToolCall, report: TimedAgentReport) => void
  /** Called with files that a call has changed. */
  readonly onFileChange?: (call: ToolCall, change: FileChange) => void
  /** Called with each nested call of a tool, as it ends. */
  readonly onNestedOutcome?: (call: NestedToolCall, outcome: ToolCallOutcome) => void
}

/** Settings of a call of {@link runTool}: its origin, reviewer, listeners, clock and abort signal. */
export interface RunToolOptions extends ToolCallOrigin, ToolCallListeners {
  readonly signal?: AbortSignal
  readonly clock?: Clock
  readonly logger?: Logger
  /** Stable identity of the call. @default the id that the model assigned */
  readonly idempotencyKey?: string
  /** Time for a cancelled tool to stop, in milliseconds. @default 5000 */
  readonly graceMs?: number
  /** Decides the approvals of tools. */
  readonly reviewer?: Reviewer
  /** Defaults for the questions of tools. @default 5 minutes, then EXIT_EARLY */
  readonly approvalDefaults?: ApprovalOptions
  /** Metrics that count the calls. */
  readonly metrics?: ToolMetrics
  /** Limits the calls of all its users, in addition to the limiter of the tool. */
  readonly limiter?: Limiter
  /** Returns what the task and the run of the call may still use. @default no limit */
  readonly remaining?: () => Remaining
}
