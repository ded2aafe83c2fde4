/** Approval of tool calls: requests to a reviewer, and answers. */
import type { Problem } from '@tutti/protocol/internal'
import type { ToolSchema } from './tool-schema.ts'
import type { TSchema, TString } from 'typebox'

/** Default time limit of a review in milliseconds. */
export const DEFAULT_APPROVAL_TIMEOUT_MS = 300_000

/** Actions that can follow when no answer arrives in time. */
export const APPROVAL_TIMEOUT_ACTIONS = ['CONTINUE', 'EXIT_EARLY', 'FAIL'] as const

/** Action when no answer arrives in time. */
export type ApprovalTimeoutAction = (typeof APPROVAL_TIMEOUT_ACTIONS)[number]

/** Time limit of a review, and the action when it passes. */
export interface ApprovalOptions {
  /** In milliseconds; Infinity waits without a limit. @default 300000 */
  readonly timeoutMs?: number
  /** Action when no answer arrives in time. @default EXIT_EARLY */
  readonly onTimeout?: ApprovalTimeoutAction
  /** Role that the reviewer must have, where reviewers have roles. */
  readonly requiredRole?: string
}

/** Result of an approval for the tool: continue, or continue with another input. */
export type ApprovalDecision<Input = unknown> =
  | { readonly action: 'CONTINUE'; readonly timedOut: boolean }
  | { readonly action: 'EDIT'; readonly input: Input }

/** Options of a question to the reviewer. */
export interface AnswerOptions<Schema extends ToolSchema = TString> extends ApprovalOptions {
  /** Schema of the answer. @default a text */
  readonly schema?: Schema
  /**
   * Input with which the client of the run executes the call; the answer is its result. The reviewer then sees the
   * input, and cannot let the tool continue without an answer.
   */
  readonly clientTool?: { readonly input: unknown }
  /** Withdraws the question when it aborts: the wait for its answer rejects with the reason. */
  readonly signal?: AbortSignal
}

/** Result of a question. */
export type Answer<Value = string> =
  | { readonly answered: true; readonly value: Value }
  /** No answer arrived in time, or the reviewer lets the tool continue without one. */
  | { readonly answered: false; readonly timedOut: boolean }

/** Tool call under review. */
interface CallUnderReview {
  readonly toolName: string
  readonly callId: string
  readonly agentRole: string
  readonly taskName?: string
  readonly runId?: string
  /** Input of the call. */
  readonly input: unknown
  /** JSON Schema that an edited input must match. */
  readonly inputSchema: TSchema
  /**
   * Whether the body of the tool has begun; false while it waits for permission to begin. True when absent.
   */
  readonly hasBegun?: boolean
  /**
   * Whether the call can be interrupted while it waits, and repeated for the answer: its tool is idempotent, and the
   * call has made no step and is not a step itself. False when absent.
   */
  readonly isRepeatable?: boolean
}

/** Request to a reviewer. */
export interface ApprovalRequest extends CallUnderReview {
  /** Description of the call, by its tool. */
  readonly description: string
  /** Whether the tool asks a question instead of requesting approval. */
  readonly asksForAnswer?: boolean
  /** Whether the client of the run executes the call, and the answer is its result. False when absent. */
  readonly clientTool?: boolean
  /** Returns the problems of an edited input; none when it is valid. */
  checkEdit(input: unknown): Promise<readonly Problem[]>
  readonly timeoutMs: number
  readonly onTimeout: ApprovalTimeoutAction
  /** Role that the reviewer must have, where reviewers have roles. */
  readonly requiredRole?: string
}

/** Answer of a reviewer. */
export type ApprovalAnswer =
  | { readonly action: 'CONTINUE' }
  /** Continues with this input instead of the model's. */
  | { readonly action: 'EDIT'; readonly input: unknown }
  /** Rejects the call; the model gets the feedback. */
  | { readonly action: 'REJECT'; readonly feedback?: string }
  /** Ends the whole run and keeps its results. */
  | { readonly action: 'EXIT_EARLY' }

/** Port to the person or system that decides reviews. */
export interface Reviewer {
  /**
   * Answers a request. The signal aborts when the answer is no longer needed, because the time limit passed or the
   * call was cancelled.
   */
  decide(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>
}
