/** Approval of a tool call by a person: what is asked, and what can be answered. */
import type { Problem } from '@tutti/protocol'
import type { ToolSchema } from './tool-schema.ts'
import type { TSchema, TString } from 'typebox'

/** Time a reviewer has when nothing else is said; AgentEnsemble's. */
export const DEFAULT_APPROVAL_TIMEOUT_MS = 300_000

/** The actions that can follow when no answer arrives in time. */
export const APPROVAL_TIMEOUT_ACTIONS = ['CONTINUE', 'EXIT_EARLY', 'FAIL'] as const

/** Action when no answer arrives in time. */
export type ApprovalTimeoutAction = (typeof APPROVAL_TIMEOUT_ACTIONS)[number]

/** How long to wait for an answer, and what silence means. */
export interface ApprovalOptions {
  /** In milliseconds; Infinity waits for ever. @default 300000 */
  readonly timeoutMs?: number
  /** @default EXIT_EARLY */
  readonly onTimeout?: ApprovalTimeoutAction
  /** Role that the reviewer must have, where reviewers have roles. */
  readonly requiredRole?: string
}

/** What a tool that asked learns: go on, or go on with another input. */
export type ApprovalDecision<Input = unknown> =
  | { readonly action: 'CONTINUE'; readonly timedOut: boolean }
  | { readonly action: 'EDIT'; readonly input: Input }

/** How a question is asked. */
export interface AnswerOptions<Schema extends ToolSchema = TString> extends ApprovalOptions {
  /** What an answer looks like. @default a text */
  readonly schema?: Schema
  /** Takes the question back when it aborts: the wait for its answer rejects with the reason. */
  readonly signal?: AbortSignal
}

/** What came of a question. */
export type Answer<Value = string> =
  | { readonly answered: true; readonly value: Value }
  /** Nobody answered in time, or the reviewer lets the tool go on without an answer. */
  | { readonly answered: false; readonly timedOut: boolean }

/** The tool call under review. */
interface CallUnderReview {
  readonly toolName: string
  readonly callId: string
  readonly agentRole: string
  readonly taskName?: string
  readonly runId?: string
  /** The input that the call came with. */
  readonly input: unknown
  /** JSON Schema that an edited input must fit. */
  readonly inputSchema: TSchema
  /**
   * Whether the body of the tool is at work already; false when it is asked for permission to begin. Taken
   * as true where it is not said.
   */
  readonly hasBegun?: boolean
  /**
   * Whether the call can be cut off while it waits and be made again for the answer: its tool is idempotent,
   * and the call has made no step and is not a step itself. Taken as false where it is not said.
   */
  readonly isRepeatable?: boolean
}

/** A request to a reviewer. */
export interface ApprovalRequest extends CallUnderReview {
  /** Description of the call by its tool. */
  readonly description: string
  /** Whether it asks for an answer, not for the approval of the call. */
  readonly asksForAnswer?: boolean
  /** The problems of an edited input; none when it fits. */
  checkEdit(input: unknown): Promise<readonly Problem[]>
  readonly timeoutMs: number
  readonly onTimeout: ApprovalTimeoutAction
  /** Role that the reviewer must have, where reviewers have roles. */
  readonly requiredRole?: string
}

/** What a reviewer can answer. */
export type ApprovalAnswer =
  | { readonly action: 'CONTINUE' }
  /** Goes on with this input in place of the model's. */
  | { readonly action: 'EDIT'; readonly input: unknown }
  /** Does not do it; the model reads why. */
  | { readonly action: 'REJECT'; readonly feedback?: string }
  /** Ends the whole run, keeping what is done. */
  | { readonly action: 'EXIT_EARLY' }

/** The port to whoever decides. */
export interface Reviewer {
  /**
   * Answers a request. The signal aborts when the answer is no longer needed: it came too late, or the
   * call was cancelled.
   */
  decide(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalAnswer>
}
