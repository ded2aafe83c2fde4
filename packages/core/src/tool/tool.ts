/** The tool contract: the interface of a tool, and the context of its body. */
import type { AgentReport } from './agent-report.ts'
import type { Answer, AnswerOptions, ApprovalDecision, ApprovalOptions } from './approval.ts'
import type { ToolCallOutcome } from './outcome.ts'
import type { CallerRequest } from './caller-request.ts'
import type { Clock } from '../clock.ts'
import type { Limiter } from '../limiter.ts'
import type { Logger } from '../logger.ts'
import type { ToolResult } from './tool-result.ts'
import type { StandardToolSchema, ToolSchema, ValueOf } from './tool-schema.ts'
import type { Decoded } from '@tutti/protocol/internal'
import type { TSchema, TString } from 'typebox'

/** Tool that a model can call by name. Created by `defineTool` or `defineTextTool`. */
export interface AgentTool {
  /** Name by which the model calls the tool: 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string
  /** Description of the tool, for the model. */
  readonly description: string
  /** Version of its code, which is part of the digest of an ensemble. */
  readonly version?: string
  /** Whether the input is an object of a declared shape, or one string under the field `input`. */
  readonly kind: 'typed' | 'text'
  /** JSON Schema of the arguments as the author wrote it; it is sent to the model unchanged. */
  readonly inputSchema: TSchema
  /** JSON Schema of the structured result, when the tool declares one. */
  readonly outputSchema?: TSchema
  /** Time limit of one call in milliseconds; time spent waiting for approval does not count. */
  readonly timeoutMs: number
  /**
   * Time that a cancelled call may take to stop, in milliseconds, when it needs longer than the default; Infinity for
   * a tool whose work has its own limits.
   */
  readonly graceMs?: number
  /** False when a call whose outcome is unknown must not be repeated. */
  readonly idempotent: boolean
  /** Whether a person must approve each call. */
  readonly requireApproval: boolean
  /** Limits the number of concurrent calls; tools can share a limiter. */
  readonly limiter?: Limiter
  /** Returns the input as the body gets it (defaults filled in, values coerced), or every problem. */
  readInput(input: unknown): Decoded<unknown> | Promise<Decoded<unknown>>
  /**
   * Validates `input` and runs the tool body. Invalid input is a failed result; errors of the body are rethrown.
   * `runTool` is the safe way to call.
   */
  call(input: unknown, context: ToolContext): Promise<ToolResult>
}

/**
 * Tool whose input and output types are known to the compiler. `Input` is what the body gets and `Source` what a
 * caller passes; a schema library can transform one into the other. The tool is also a Standard Schema of its input,
 * so it can be used wherever such a schema is accepted (a router, a form, another tool).
 */
export interface TypedTool<Input, Output = string, Source = Input>
  extends AgentTool, StandardToolSchema<Source, Input> {
  readInput(input: unknown): Decoded<Input> | Promise<Decoded<Input>>
  /** Runs the tool body directly, for tests: without validation, time limit or approval. */
  execute(input: Input, context: ToolContext<Input>): Promise<string | ToolResult | Output>
}

/** Identity and origin of one tool call. */
interface ToolCallInfo {
  /** Tool-call id assigned by the model. */
  readonly callId: string
  /**
   * Identifies this call by its run, task, attempt, turn and the model's id. A tool that gets the same key twice must
   * act once.
   */
  readonly idempotencyKey: string
  /** Role of the calling agent, or `unknown`. */
  readonly agentRole: string
  /** Name of the task that the call belongs to. */
  readonly taskName?: string
  /** Id of the run that the call belongs to. */
  readonly runId?: string
  /** Request of the agent or MCP client that started the run; absent when it came over another API. */
  readonly request?: CallerRequest
  /** W3C trace context for requests of the tool, such as `00-<trace>-<span>-01`; undefined without a trace. */
  readonly traceparent: string | undefined
  /** W3C `tracestate`, passed on unchanged; never present without `traceparent`. */
  readonly tracestate?: string | undefined
}

/** Reports of a running tool. */
interface ToolReports {
  /** Reports progress to the readers of the run. */
  readonly reportProgress: (progress: string | ToolProgress) => void
  /** Reports a changed file of the workspace. */
  readonly reportFileChange: (change: FileChange) => void
  /** Reports a request to another agent. Its usage counts towards the budgets of the task and the run. */
  readonly reportAgent: (report: AgentReport) => void
}

/** Context of one tool call. Its members can be destructured: none uses `this`. */
export interface ToolContext<Input = unknown> extends ToolCallInfo, ToolReports {
  /** Aborts when the call is cancelled or has timed out. */
  readonly signal: AbortSignal
  /** Clock of the run; tools that wait by it can be tested without waiting. */
  readonly clock: Clock
  /** A logger for this tool. */
  readonly logger: Logger
  /** Custom metrics of the tool, in addition to the counts and durations of every tool. */
  readonly metrics: ToolMeter
  /** Whether a reviewer is configured. */
  readonly hasReviewer: boolean
  /**
   * Requests approval and waits; the tool's time limit is paused meanwhile. Returns CONTINUE, or EDIT with an input that
   * matches the tool's schema. REJECT and EXIT_EARLY are thrown, so a body that ignores the result does nothing:
   * REJECT becomes a failure for the model, EXIT_EARLY ends the run early.
   *
   * @throws {TuttiError} TOOL_CONFIGURATION without a reviewer: no answer never counts as approval.
   */
  readonly requestApproval: (
    description: string,
    options?: ApprovalOptions,
  ) => Promise<ApprovalDecision<Input>>
  /**
   * Asks the reviewer a question and waits; the tool's time limit is paused meanwhile. The answer matches `schema`, or
   * is marked as missing when the reviewer continues without one or does not answer in time.
   *
   * @throws {TuttiError} TOOL_CONFIGURATION without a reviewer, TOOL_REJECTED when the reviewer rejects the question,
   * TOOL_INPUT_INVALID for an invalid answer, EXIT_EARLY.
   */
  readonly requestAnswer: <Schema extends ToolSchema = TString>(
    question: string,
    options?: AnswerOptions<Schema>,
  ) => Promise<Answer<ValueOf<Schema>>>
  /** Returns the remaining limits of this call. */
  readonly remaining: () => Remaining
  /**
   * Calls another tool as a step of this call: with its signal, reviewer, metrics and logger, and within its time limit.
   * The outcome is reported as a step.
   *
   * @throws {TuttiError} EXIT_EARLY and TOOL_CONFIGURATION of the other tool, which also end this call.
   */
  readonly callTool: (
    tool: AgentTool,
    input: unknown,
    options?: CallToolOptions,
  ) => Promise<ToolCallOutcome>
}

/** Options of a call of another tool. */
export interface CallToolOptions {
  /** Name of the step within this call. @default its number, from 1 */
  readonly step?: string
  /** Aborts the step before the call that it is a part of. */
  readonly signal?: AbortSignal
}

/** Remaining limits of a call, its task and its run; Infinity where there is no limit. */
export interface Remaining {
  readonly timeMs: number
  readonly costUsd: number
  readonly tokens: number
}

/** Progress of a call. */
export interface ToolProgress {
  readonly message: string
  /** Completed part, from 0 to 1. */
  readonly fraction?: number
}

/** File that a tool changed. */
export interface FileChange {
  /** Path relative to the tool's directory. */
  readonly path: string
  readonly changeType: 'CREATED' | 'MODIFIED' | 'DELETED'
  readonly linesAdded: number
  readonly linesRemoved: number
}

/** Custom counters and values of a tool, by tool and agent role. */
export interface ToolMeter {
  /** Adds to a counter. @default by 1 */
  increment(name: string, by?: number): void
  /** Records one value of a distribution, such as bytes read. */
  record(name: string, value: number): void
}
