/** Events of steering a run: reviews, directives and model switches. */
import Type from 'typebox'
import {
  Priority,
  ReviewDecisionKind,
  ReviewKind,
  ReviewTimeoutAction,
  ReviewTiming,
} from '../enums.ts'
import {
  Count,
  DurationMs,
  ExternalEventKey,
  ExternalEventName,
  Instant,
  NullableText,
} from '../scalars.ts'
import { taskPosition } from './positions.ts'

import type { Static } from '../../static.ts'

/** Fields of a review, shared by `review_requested` and the list of reviews. */
export const reviewFields = {
  /** Id of the review. */
  reviewId: Type.String(),
  kind: ReviewKind,
  /** Description of the task, with its inputs filled in; with DURING_EXECUTION, of the tool call or the question. */
  taskDescription: Type.String(),
  /** Output under review; empty before execution. */
  taskOutput: Type.String(),
  timing: ReviewTiming,
  /**
   * Question for the reviewer; always a text with QUESTION. The server sends null instead of omitting it: some dashboards show an
   * empty line for an absent prompt.
   */
  prompt: Type.Optional(NullableText),
  /** Time limit in milliseconds; 0 means no limit. */
  timeoutMs: DurationMs,
  onTimeout: ReviewTimeoutAction,
  /** Role that the key of the reviewer must have. */
  requiredRole: Type.Optional(Type.String()),
}

/** An external event that a wait accepts. */
export const AwaitedEvent = Type.Object({
  name: ExternalEventName,
  /** Correlation key; only events with the same key match. Absent: only events without a key match. */
  key: Type.Optional(ExternalEventKey),
})
export type AwaitedEvent = Static<typeof AwaitedEvent>

/** The external event that decided a review. */
export const DecidingEvent = Type.Object({
  /** Id of the event. */
  id: Type.String(),
  name: Type.String(),
})
export type DecidingEvent = Static<typeof DecidingEvent>

/** Tool call under review, or the call that asks a question, with DURING_EXECUTION. */
export const reviewedCall = {
  /** With DURING_EXECUTION: name of the tool. */
  toolName: Type.Optional(Type.String()),
  /** With DURING_EXECUTION: id of the call. */
  toolCallId: Type.Optional(Type.String()),
  /** With TOOL_CALL and CLIENT_TOOL: input that the tool would get. */
  toolInput: Type.Optional(Type.Unknown()),
  /** With QUESTION: JSON Schema of the answer; `{ "type": "string" }` for any text. With EVENT: that of the event data. */
  answerSchema: Type.Optional(Type.Unknown()),
  /** External events that decide the review, each alone. Absent for a review that no event decides. */
  waitsFor: Type.Optional(Type.Array(AwaitedEvent)),
}

/**
 * A review opened and waits for a decision; `timeoutMs` is the time left when the event was sent. A BEFORE_EXECUTION
 * review opens while its task is pending, before `task_started`.
 */
export const ReviewRequested = Type.Object({
  type: Type.Literal('review_requested'),
  ...reviewFields,
  ...taskPosition,
  /** Role of the agent. */
  agentRole: Type.String(),
  requestedAt: Instant,
  ...reviewedCall,
})
export type ReviewRequested = Static<typeof ReviewRequested>

/** A review timed out. Also sent when a review was decided elsewhere, so that viewers close their panels. */
export const ReviewTimedOut = Type.Object({
  type: Type.Literal('review_timed_out'),
  /** Id of the review. */
  reviewId: Type.String(),
  /** Action that was taken. */
  action: ReviewTimeoutAction,
})
export type ReviewTimedOut = Static<typeof ReviewTimedOut>

/** A review was decided. */
export const ReviewDecided = Type.Object({
  type: Type.Literal('review_decided'),
  /** Id of the review. */
  reviewId: Type.String(),
  decision: ReviewDecisionKind,
  /** Name of the key that decided. */
  decidedBy: Type.Optional(Type.String()),
  decidedAt: Instant,
  /** With REJECT: feedback for the agent. */
  feedback: Type.Optional(Type.String()),
  /** With EDIT: output that replaces the task's, the answer to a question, or the data of an event. */
  revisedOutput: Type.Optional(Type.String()),
  /** External event that decided it. */
  event: Type.Optional(DecidingEvent),
})
export type ReviewDecided = Static<typeof ReviewDecided>

/** A review ended without a decision because its task or its run ended. */
export const ReviewWithdrawn = Type.Object({
  type: Type.Literal('review_withdrawn'),
  /** Id of the review. */
  reviewId: Type.String(),
  /** Reason why the review was withdrawn. */
  reason: Type.String(),
  withdrawnAt: Instant,
})
export type ReviewWithdrawn = Static<typeof ReviewWithdrawn>

/** A directive took effect. */
export const DirectiveActive = Type.Object({
  type: Type.Literal('directive_active'),
  /** Id of the directive. */
  directiveId: Type.String(),
  /** Author, as stated by the caller. */
  from: Type.Optional(Type.String()),
  /** Text for the agents. */
  content: Type.Optional(Type.String()),
  /** Action of the directive. */
  action: Type.Optional(Type.String()),
  /** Argument of the action. */
  value: Type.Optional(Type.String()),
  /** Time at which the directive expires; absent when it stays in force until the run ends. */
  expiresAt: Type.Optional(Instant),
  /** Task name or agent role that it applies to; absent for the whole run. */
  to: Type.Optional(Type.String()),
  priority: Type.Optional(Priority),
  /** Name of the caller's key; `from` is chosen by the caller. */
  actor: Type.Optional(Type.String()),
  /** Time at which it took effect. */
  activeAt: Instant,
})
export type DirectiveActive = Static<typeof DirectiveActive>

/** A directive reached a task: its next model call includes it. */
export const DirectiveDelivered = Type.Object({
  type: Type.Literal('directive_delivered'),
  /** Id of the directive. */
  directiveId: Type.String(),
  /** Role of the agent. */
  agentRole: Type.String(),
  ...taskPosition,
  /** Turn whose model call includes the directive. */
  iterationIndex: Count,
  deliveredAt: Instant,
})
export type DirectiveDelivered = Static<typeof DirectiveDelivered>

/** The next model calls of the run, or of one task, use another model. */
export const ModelSwitchedEvent = Type.Object({
  type: Type.Literal('model_switched'),
  /** Alias of the new model. */
  model: Type.String(),
  /** Alias of the model before. */
  previousModel: Type.Optional(Type.String()),
  /** The only task that switched; absent for the whole run. */
  taskName: Type.Optional(Type.String()),
  switchedAt: Instant,
  /** Name of the key that requested the switch. */
  actor: Type.Optional(Type.String()),
  /** Requested tier; absent for a switch to a model by its alias. */
  tier: Type.Optional(Type.String()),
  /** Rule of the ensemble that switched the model, as text; absent when a caller requested it. */
  rule: Type.Optional(Type.String()),
})
export type ModelSwitchedEvent = Static<typeof ModelSwitchedEvent>

/** The event types of this file, in the order of the union. */
export const STEERING_EVENTS = [
  ReviewRequested,
  ReviewTimedOut,
  ReviewDecided,
  ReviewWithdrawn,
  DirectiveActive,
  DirectiveDelivered,
  ModelSwitchedEvent,
] as const
