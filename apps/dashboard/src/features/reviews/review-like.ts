/** A displayed review, built from the state of a run, an event, or the server's list. Pure. */
import type { LoggedRunEvent, PendingReview } from '@tutti/protocol'
import type {
  ReviewState,
  ReviewDecisionKind,
  ReviewKind,
  ReviewTimeoutAction,
  ReviewTiming,
  TagMap,
} from '@tutti/protocol/internal'

/** A review, open or closed. */
export interface ReviewLike {
  readonly reviewId: string
  readonly runId: string
  readonly kind: ReviewKind
  readonly timing: ReviewTiming
  /** Description of the task; during a tool call, description of the call. */
  readonly taskDescription: string
  /** Empty before and during the task. */
  readonly taskOutput: string
  /** Question for the reviewer; always a text with QUESTION. */
  readonly prompt: string | undefined
  /** JSON Schema of the answer to a question; undefined for other reviews. */
  readonly answerSchema: unknown
  readonly requiredRole: string | undefined
  readonly onTimeout: ReviewTimeoutAction
  /** Time at which it was opened (ISO 8601). */
  readonly openedAt: string
  /** Time at which `onTimeout` applies (ISO 8601); undefined without a deadline. */
  readonly expiresAt: string | undefined
  /** Undefined if an older server listed it. */
  readonly detail: ReviewDetail | undefined
  /** Its run; undefined until the server's list is loaded. */
  readonly run: ReviewedRun | undefined
  /** Whether the page's key may decide it; undefined while unknown. */
  readonly mayDecide: boolean | undefined
  /** Its outcome; undefined while it is open. */
  readonly end: ReviewClosing | undefined
}

export interface ReviewedRun {
  readonly ensemble: string
  readonly inputs: Readonly<Record<string, string>>
  readonly tags: Readonly<TagMap>
}

/** The task of a review, and the tool call it concerns. */
export interface ReviewDetail {
  readonly taskName: string
  readonly agentRole: string
  readonly attempt: number
  readonly tool: ToolAsked | undefined
}

/** The tool call under review. */
export interface ToolAsked {
  readonly name: string
  /** Undefined for a question. */
  readonly input: unknown
}

/** Outcome of a review; `gone` if it was closed while the page was disconnected. */
export type ReviewClosing =
  | {
      readonly kind: 'decided'
      readonly decision: ReviewDecisionKind
      readonly by: string | undefined
      readonly at: string
      readonly feedback: string | undefined
      readonly revisedOutput: string | undefined
    }
  | { readonly kind: 'timed_out'; readonly action: ReviewTimeoutAction }
  | { readonly kind: 'withdrawn'; readonly reason: string }
  | { readonly kind: 'gone' }

type Requested = Extract<LoggedRunEvent, { readonly type: 'review_requested' }>
type Decided = Extract<LoggedRunEvent, { readonly type: 'review_decided' }>

/** Converts the event that opened a review. */
export function fromReviewEvent(event: Requested): ReviewLike {
  return toOpenReview(event, event.runId)
}

export function fromReviewState(review: ReviewState, runId: string): ReviewLike {
  return { ...toOpenReview(review, runId), end: toReviewClosing(review) }
}

/** Converts an entry of the server's list. */
export function fromPendingReview(pending: PendingReview): ReviewLike {
  const { reviewId, runId, kind, timing, taskDescription, taskOutput, onTimeout } = pending
  return {
    reviewId,
    runId,
    kind,
    timing,
    taskDescription,
    taskOutput,
    onTimeout,
    prompt: pending.prompt ?? undefined,
    answerSchema: pending.answerSchema,
    requiredRole: pending.requiredRole,
    openedAt: pending.createdAt,
    expiresAt: pending.expiresAt,
    detail: toReviewDetail(pending),
    run: toReviewedRun(pending),
    mayDecide: pending.mayDecide,
    end: undefined,
  }
}

/** Converts the decision in an event. */
export function toDecidedEnd(event: Omit<Decided, 'type' | 'runId' | 'seq' | 'id'>): ReviewClosing {
  const { decision, decidedBy: by, decidedAt: at, feedback, revisedOutput } = event
  return { kind: 'decided', decision, by, at, feedback, revisedOutput }
}

/** Whether the client of the run executes the call, and its result is the decision. */
export function isClientCall({ kind }: Pick<ReviewLike, 'kind'>): boolean {
  return kind === 'CLIENT_TOOL'
}

/** Whether the review asks a question, and its answer is the decision. */
export function isQuestion({ kind }: Pick<ReviewLike, 'kind'>): boolean {
  return kind === 'QUESTION'
}

function toOpenReview(
  review: Omit<Requested, 'type' | 'runId' | 'seq' | 'id'>,
  runId: string,
): ReviewLike {
  const { reviewId, kind, timing, taskDescription, taskOutput, onTimeout } = review
  const { requestedAt, timeoutMs } = review
  return {
    reviewId,
    runId,
    kind,
    timing,
    taskDescription,
    taskOutput,
    onTimeout,
    prompt: review.prompt ?? undefined,
    answerSchema: review.answerSchema,
    requiredRole: review.requiredRole,
    openedAt: requestedAt,
    expiresAt: addMilliseconds(requestedAt, timeoutMs),
    detail: toReviewDetail(review),
    run: undefined,
    mayDecide: undefined,
    end: undefined,
  }
}

function toReviewedRun({
  ensemble,
  inputs = {},
  tags = {},
}: PendingReview): ReviewedRun | undefined {
  return ensemble === undefined ? undefined : { ensemble, inputs, tags }
}

function toReviewDetail({
  taskName,
  agentRole,
  attempt,
  toolName,
  toolInput,
}: Pick<PendingReview, keyof Omit<ReviewDetail, 'tool'> | 'toolName' | 'toolInput'>):
  | ReviewDetail
  | undefined {
  if (taskName === undefined || agentRole === undefined || attempt === undefined) return undefined
  const tool = toolName === undefined ? undefined : { name: toolName, input: toolInput }
  return { taskName, agentRole, attempt, tool }
}

/**
 * Adds milliseconds to an instant; undefined for 0, which means no deadline on the wire, and for
 * dates out of range.
 */
function addMilliseconds(instant: string, ms: number): string | undefined {
  const date = new Date(Date.parse(instant) + ms)
  return ms === 0 || Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

function toReviewClosing(review: ReviewState): ReviewClosing | undefined {
  const { status, decision, decidedAt, action, reason = '' } = review
  if (status === 'WITHDRAWN') return { kind: 'withdrawn', reason }
  if (status === 'TIMED_OUT' && action !== undefined) return { kind: 'timed_out', action }
  if (status !== 'DECIDED' || decision === undefined || decidedAt === undefined) return undefined
  return toDecidedEnd({ ...review, decision, decidedAt })
}
