/** The surroundings of tool calls: what a run, a pipeline or a test gives to the calls it makes. */
import type { CallerRequest } from '../caller-request.ts'
import type { TimedAgentReport } from '../agent-report.ts'
import type { ApprovalOptions, Reviewer } from '../approval.ts'
import type { Clock } from '../clock.ts'
import type { Limiter } from '../limiter.ts'
import type { Logger } from '../logger.ts'
import type { ToolMetrics } from '../metrics.ts'
import type { AgentTool, FileChange, Remaining, ToolProgress } from '../tool.ts'
import type { NestedToolCall, ToolCall, ToolCallOutcome } from './outcome.ts'

/**
 * How long what was cancelled may take to stop before it is abandoned: enough to close a connection or
 * end a child process, short enough for a person who waits.
 */
export const CANCEL_GRACE_MS = 5_000

/** Surroundings of a call. What its listeners throw is logged and changes nothing, but for `onBegin`. */
export interface RunToolOptions {
  readonly signal?: AbortSignal
  readonly clock?: Clock
  readonly logger?: Logger
  readonly agentRole?: string
  readonly taskName?: string
  readonly runId?: string
  /** Stable identity of the call. @default the model's id of the call */
  readonly idempotencyKey?: string
  /** How long a cancelled tool may take to stop, in milliseconds. @default 5000 */
  readonly graceMs?: number
  /** Whom tools ask for approval. */
  readonly reviewer?: Reviewer
  /** Defaults for the questions of tools. @default 5 minutes, then EXIT_EARLY */
  readonly approvalDefaults?: ApprovalOptions
  /** Where calls are counted. */
  readonly metrics?: ToolMetrics
  /** Bounds the calls of whoever shares it, besides the limiter that a tool may have of its own. */
  readonly limiter?: Limiter
  /**
   * Told once of each call, just before its body does anything: its arguments fit, and its reviewer has
   * agreed where the tool needs approval. The body waits for the promise, and its time limit with it. What
   * this throws, or rejects with, is the outcome as if the body had thrown it. Calls that a tool makes as a
   * part of its own are not told.
   */
  readonly onBegin?: (call: ToolCall, tool: AgentTool) => void | Promise<void>
  /** Told how far a call is. */
  readonly onProgress?: (call: ToolCall, progress: ToolProgress) => void
  /** Told of requests to other agents, as they happen. */
  readonly onAgentReport?: (call: ToolCall, report: TimedAgentReport) => void
  /** What the task and the run of the call may still use. @default no limit */
  readonly remaining?: () => Remaining
  /**
   * W3C trace context that the call is made in, which it is given a span of its own in; or what gives the context of
   * that very call by its id, to a tool that asks.
   */
  readonly traceparent?: string | ((callId: string) => string)
  /** What the tracing systems on the way have added to it. */
  readonly tracestate?: string
  /** The request of the agent or MCP client that led to the call. */
  readonly request?: CallerRequest
  /** Told of files that a call has changed. */
  readonly onFileChange?: (call: ToolCall, change: FileChange) => void
  /** Told of each call that a tool made as a part of its own, as it ends. */
  readonly onNestedOutcome?: (call: NestedToolCall, outcome: ToolCallOutcome) => void
}
