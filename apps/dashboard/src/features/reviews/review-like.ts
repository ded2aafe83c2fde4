/** Pure: a review as it is shown, made of a gate of a run, of an event, or of the server's list. */
import type {
  ReviewState,
  LoggedRunEvent,
  PendingReview,
  ReviewDecisionKind,
  ReviewTimeoutAction,
  ReviewTiming,
  TagMap,
} from '@tutti/protocol'

/** A question to a person, open or closed. */
export interface ReviewLike {
  readonly reviewId: string
  readonly runId: string
  readonly timing: ReviewTiming
  /** What the task is to do; while a tool asks, what the tool is about to do. */
  readonly taskDescription: string
  /** Empty before and during the task. */
  readonly taskOutput: string
  readonly prompt: string | undefined
  readonly requiredRole: string | undefined
  readonly onTimeout: ReviewTimeoutAction
  /** When it opened (ISO 8601). */
  readonly openedAt: string
  /** When `onTimeout` happens (ISO 8601); undefined when it waits for ever. */
  readonly expiresAt: string | undefined
  /** Undefined when a server of an earlier version listed it. */
  readonly detail: ReviewDetail | undefined
  /** Its run, as the server's list shows it; undefined until the list was read. */
  readonly run: ReviewedRun | undefined
  /** Whether the key of this page may decide it; undefined until the server has said so. */
  readonly mayDecide: boolean | undefined
  /** How it was closed; undefined while it is open. */
  readonly end: ReviewClosing | undefined
}

/** Facts of the run that a reviewer needs. */
export interface ReviewedRun {
  readonly ensemble: string
  readonly inputs: Readonly<Record<string, string>>
  readonly tags: Readonly<TagMap>
}

/** Where in the run a review is, and what a tool asks for. */
export interface ReviewDetail {
  readonly taskName: string
  readonly agentRole: string
  readonly attempt: number
  readonly tool: ToolAsked | undefined
}

/** The tool that asks, and what it would be given. */
export interface ToolAsked {
  readonly name: string
  readonly input: unknown
}

/** How a review was closed. `gone`: while the page did not hear from the server. */
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

/** The review of an event that opened it. */
export function reviewOfEvent(event: Requested): ReviewLike {
  return opened(event, event.runId)
}

export function reviewOfGate(gate: ReviewState, runId: string): ReviewLike {
  return { ...opened(gate, runId), end: endOfGate(gate) }
}

/** The review of a line of the server's list. */
export function reviewOfPending(pending: PendingReview): ReviewLike {
  const { reviewId, runId, timing, taskDescription, taskOutput, onTimeout } = pending
  return {
    reviewId,
    runId,
    timing,
    taskDescription,
    taskOutput,
    onTimeout,
    prompt: pending.prompt ?? undefined,
    requiredRole: pending.requiredRole,
    openedAt: pending.createdAt,
    expiresAt: pending.expiresAt,
    detail: detailOf(pending),
    run: runOf(pending),
    mayDecide: pending.mayDecide,
    end: undefined,
  }
}

/** What an event says of how a review was decided. */
export function decidedEnd(event: Omit<Decided, 'type' | 'runId' | 'seq' | 'id'>): ReviewClosing {
  const { decision, decidedBy: by, decidedAt: at, feedback, revisedOutput } = event
  return { kind: 'decided', decision, by, at, feedback, revisedOutput }
}

/**
 * Whether a tool asks for words, and not whether it may be called: what it asks is all that it was given,
 * or it was given nothing.
 */
export function asksForText({ timing, taskDescription: asked, detail }: ReviewLike): boolean {
  if (timing !== 'DURING_EXECUTION' || detail?.tool === undefined) return false
  const { input } = detail.tool
  if (input === null || input === asked) return true
  return typeof input === 'object' && 'input' in input && input.input === asked
}

function opened(gate: Omit<Requested, 'type' | 'runId' | 'seq' | 'id'>, runId: string): ReviewLike {
  const { reviewId, timing, taskDescription, taskOutput, onTimeout, requestedAt, timeoutMs } = gate
  return {
    reviewId,
    runId,
    timing,
    taskDescription,
    taskOutput,
    onTimeout,
    prompt: gate.prompt ?? undefined,
    requiredRole: gate.requiredRole,
    openedAt: requestedAt,
    expiresAt: instantAfter(requestedAt, timeoutMs),
    detail: detailOf(gate),
    run: undefined,
    mayDecide: undefined,
    end: undefined,
  }
}

function runOf({ ensemble, inputs = {}, tags = {} }: PendingReview): ReviewedRun | undefined {
  return ensemble === undefined ? undefined : { ensemble, inputs, tags }
}

function detailOf({
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

/** 0 is the wire's word for a review that waits for ever; an instant that no date can say is as good. */
function instantAfter(instant: string, ms: number): string | undefined {
  const date = new Date(Date.parse(instant) + ms)
  return ms === 0 || Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

function endOfGate(gate: ReviewState): ReviewClosing | undefined {
  const { status, decision, decidedAt, action, reason = '' } = gate
  if (status === 'WITHDRAWN') return { kind: 'withdrawn', reason }
  if (status === 'TIMED_OUT' && action !== undefined) return { kind: 'timed_out', action }
  if (status !== 'DECIDED' || decision === undefined || decidedAt === undefined) return undefined
  return decidedEnd({ ...gate, decision, decidedAt })
}
