/** The tool contract: what agents, pipelines and the control API know of a tool, and what its body is given. */
import type { AgentReport } from './agent-report.ts'
import type { Answer, AnswerOptions, ApprovalDecision, ApprovalOptions } from './approval.ts'
import type { ToolCallOutcome } from './call/outcome.ts'
import type { CallerRequest } from './caller-request.ts'
import type { Clock } from './clock.ts'
import type { Limiter } from './limiter.ts'
import type { Logger } from './logger.ts'
import type { ToolResult } from './tool-result.ts'
import type { StandardToolSchema, ToolSchema, ValueOf } from './tool-schema.ts'
import type { Decoded } from '@tutti/protocol'
import type { TSchema, TString } from 'typebox'

/** Something a model can call by name. Made by `defineTool` or `defineTextTool`. */
export interface AgentTool {
  /** Name the model calls it by: letters, digits, `_` and `-`, at most 64 of them. */
  readonly name: string
  /** What it does, written for the model. */
  readonly description: string
  /** Whether its input is an object of its own shape, or one string under the field `input`. */
  readonly kind: 'typed' | 'text'
  /** The author's own JSON Schema of the arguments: it is sent to the model as it is. */
  readonly inputSchema: TSchema
  /** JSON Schema of the structured result, when the tool declares one. */
  readonly outputSchema?: TSchema
  /** How long one call may take, in milliseconds; the time a person takes to approve is not counted. */
  readonly timeoutMs: number
  /**
   * How long a cancelled call may take to stop, in milliseconds, when it needs longer than the calls around it;
   * Infinity for one whose work has limits of its own.
   */
  readonly graceMs?: number
  /** False when a call whose outcome is unknown must not be made again. */
  readonly idempotent: boolean
  /** Whether a person must agree to each call. */
  readonly requireApproval: boolean
  /** Bounds how many calls run at the same time; tools may share one. */
  readonly limiter?: Limiter
  /** The input as the body gets it (defaults filled in, slips of form mended), or every problem it has. */
  readInput(input: unknown): Decoded<unknown> | Promise<Decoded<unknown>>
  /**
   * Checks `input` and runs the tool body. Bad input is a failed result; what the body throws is
   * thrown. `runTool` is the safe way to call.
   */
  call(input: unknown, context: ToolContext): Promise<ToolResult>
}

/**
 * A tool whose input and output types are known to the compiler. `Input` is what the body gets, `Source`
 * what a caller gives: a schema library can make the one of the other. It is a Standard Schema of its input too:
 * whatever takes one (a router, a form, another tool) can take the tool.
 */
export interface TypedTool<Input, Output = string, Source = Input>
  extends AgentTool, StandardToolSchema<Source, Input> {
  readInput(input: unknown): Decoded<Input> | Promise<Decoded<Input>>
  /** The tool body itself, for tests: no check of the input, no time limit, no approval. */
  execute(input: Input, context: ToolContext<Input>): Promise<string | ToolResult | Output>
}

/** Identity and origin of one tool call. */
interface ToolCallInfo {
  /** The model's own id of the call. */
  readonly callId: string
  /**
   * Identity of this call: of its run, task, attempt, turn and the model's own id. A tool that is called
   * twice with the same key is asked to do the same thing once.
   */
  readonly idempotencyKey: string
  /** Role of the agent that called, or `unknown`. */
  readonly agentRole: string
  /** Name of the task the call belongs to, if any. */
  readonly taskName?: string
  /** Run the call belongs to, if any. */
  readonly runId?: string
  /** The request of the agent or MCP client that started the run; absent when it came over another API. */
  readonly request?: CallerRequest
  /** W3C trace context for what the call sends out, such as `00-<trace>-<span>-01`; undefined with no trace. */
  readonly traceparent: string | undefined
  /** W3C `tracestate`: passed on unchanged, and never without `traceparent`. */
  readonly tracestate?: string | undefined
}

/** Reports of a tool while it works. */
interface ToolReports {
  /** Reports progress to the readers of the run. */
  readonly reportProgress: (progress: string | ToolProgress) => void
  /** Reports a changed file of the workspace. */
  readonly reportFileChange: (change: FileChange) => void
  /**
   * Reports a request to another agent, as it happens. Its usage counts for the budgets of the task and of
   * the run.
   */
  readonly reportAgent: (report: AgentReport) => void
}

/** The context of one tool call. Its members can be destructured: none needs `this`. */
export interface ToolContext<Input = unknown> extends ToolCallInfo, ToolReports {
  /** Aborts when the call is cancelled or has timed out. */
  readonly signal: AbortSignal
  /** Time, as the run measures it: what waits by it can be tested without waiting. */
  readonly clock: Clock
  /** A logger for this tool. */
  readonly logger: Logger
  /** The tool's own measurements, in addition to the counts and durations of every tool. */
  readonly metrics: ToolMeter
  /** Whether anything can decide a review. */
  readonly hasReviewer: boolean
  /**
   * Asks the reviewer and waits; the tool's time limit stands still meanwhile. CONTINUE and EDIT come
   * back, with an edit that fits the tool's schema. REJECT and EXIT_EARLY are thrown, so that a body
   * that forgets to look does nothing: the first becomes a failure that the model reads, the second
   * ends the run early.
   *
   * @throws {TuttiError} TOOL_CONFIGURATION when there is no reviewer: silence is never a yes.
   */
  readonly requestApproval: (
    description: string,
    options?: ApprovalOptions,
  ) => Promise<ApprovalDecision<Input>>
  /**
   * Asks the reviewer a question and waits, with the time limit standing still. The answer fits `schema`;
   * who lets the tool go on without one, or says nothing in time, is told apart.
   *
   * @throws {TuttiError} TOOL_CONFIGURATION when there is no reviewer, TOOL_REJECTED when the reviewer will
   * not answer, TOOL_INPUT_INVALID for an answer that does not fit, EXIT_EARLY.
   */
  readonly requestAnswer: <Schema extends ToolSchema = TString>(
    question: string,
    options?: AnswerOptions<Schema>,
  ) => Promise<Answer<ValueOf<Schema>>>
  /** Returns what this call may still use. */
  readonly remaining: () => Remaining
  /**
   * Calls another tool as a part of this call: with its signal, reviewer, metrics and logger, and within
   * its time. The outcome is reported as a step of this call.
   *
   * @throws {TuttiError} EXIT_EARLY and TOOL_CONFIGURATION of the other tool, which end this call too.
   */
  readonly callTool: (
    tool: AgentTool,
    input: unknown,
    options?: CallToolOptions,
  ) => Promise<ToolCallOutcome>
}

/** How another tool is called. */
export interface CallToolOptions {
  /** Names the call within this one. @default its number, from 1 */
  readonly step?: string
  /** Aborts this one call earlier than the call it is a part of. */
  readonly signal?: AbortSignal
}

/** What is left of the limits of a call, its task and its run; Infinity where there is none. */
export interface Remaining {
  readonly timeMs: number
  readonly costUsd: number
  readonly tokens: number
}

/** How far a call is. */
export interface ToolProgress {
  readonly message: string
  /** Done so far, from 0 to 1. */
  readonly fraction?: number
}

/** A file that a tool has changed. */
export interface FileChange {
  /** Relative to the tool's directory. */
  readonly path: string
  readonly changeType: 'CREATED' | 'MODIFIED' | 'DELETED'
  readonly linesAdded: number
  readonly linesRemoved: number
}

/** A tool's own counters and values, kept by tool and agent role. */
export interface ToolMeter {
  /** Adds to a counter. @default by 1 */
  increment(name: string, by?: number): void
  /** Records one value of a distribution, such as bytes read. */
  record(name: string, value: number): void
}
