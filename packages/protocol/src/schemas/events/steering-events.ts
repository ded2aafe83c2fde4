/** Events of people and programs acting on a run: reviews, directives, model switches. */
import Type from 'typebox'
import { Priority, ReviewDecisionKind, ReviewTimeoutAction, ReviewTiming } from '../enums.ts'
import { Count, DurationMs, Instant, NullableText } from '../scalars.ts'
import { taskPosition } from './positions.ts'

/** The fields of a review, shared by `review_requested` and the review list. */
export const reviewFields = {
  reviewId: Type.String(),
  taskDescription: Type.String(),
  /** The output under review; empty before execution. */
  taskOutput: Type.String(),
  timing: ReviewTiming,
  /** Send null and not nothing: AgentEnsemble's dashboard draws an empty line for an absent prompt. */
  prompt: Type.Optional(NullableText),
  /** 0 means that the review waits forever. */
  timeoutMs: DurationMs,
  onTimeout: ReviewTimeoutAction,
  requiredRole: Type.Optional(Type.String()),
}

/** With DURING_EXECUTION: the tool call that is asked about, shared likewise. Ours. */
export const reviewedCall = {
  /** With DURING_EXECUTION: the tool that asks. */
  toolName: Type.Optional(Type.String()),
  /** With DURING_EXECUTION: its call. */
  toolCallId: Type.Optional(Type.String()),
  /** With DURING_EXECUTION: what the tool would be given. */
  toolInput: Type.Optional(Type.Unknown()),
}

/**
 * A review opened and waits; `timeoutMs` is the time left when this was sent. A BEFORE_EXECUTION review
 * opens while its task is pending, before `task_started`. AgentEnsemble wire.
 */
export const ReviewRequested = Type.Object({
  type: Type.Literal('review_requested'),
  ...reviewFields,
  ...taskPosition,
  agentRole: Type.String(),
  requestedAt: Instant,
  ...reviewedCall,
})
export type ReviewRequested = Type.Static<typeof ReviewRequested>

/** A review ended without its panel: it timed out, or was decided elsewhere. AgentEnsemble wire. */
export const ReviewTimedOut = Type.Object({
  type: Type.Literal('review_timed_out'),
  reviewId: Type.String(),
  action: ReviewTimeoutAction,
})
export type ReviewTimedOut = Type.Static<typeof ReviewTimedOut>

/** A review was decided. Added by Tutti. */
export const ReviewDecided = Type.Object({
  type: Type.Literal('review_decided'),
  reviewId: Type.String(),
  decision: ReviewDecisionKind,
  /** Who decided: the name of a key. */
  decidedBy: Type.Optional(Type.String()),
  decidedAt: Instant,
  /** With REJECT: what the agent is told. */
  feedback: Type.Optional(Type.String()),
  /** With EDIT: the output that takes the place of the task's. */
  revisedOutput: Type.Optional(Type.String()),
})
export type ReviewDecided = Type.Static<typeof ReviewDecided>

/** A review ended without a decision, because its task or its run ended. Added by Tutti. */
export const ReviewWithdrawn = Type.Object({
  type: Type.Literal('review_withdrawn'),
  reviewId: Type.String(),
  reason: Type.String(),
  withdrawnAt: Instant,
})
export type ReviewWithdrawn = Type.Static<typeof ReviewWithdrawn>

/** A directive was taken up. AgentEnsemble wire. */
export const DirectiveActive = Type.Object({
  type: Type.Literal('directive_active'),
  directiveId: Type.String(),
  from: Type.Optional(Type.String()),
  content: Type.Optional(Type.String()),
  action: Type.Optional(Type.String()),
  value: Type.Optional(Type.String()),
  expiresAt: Type.Optional(Instant),
  /** The name of the task or the role of the agents it is for; absent when it is for the whole run. */
  to: Type.Optional(Type.String()),
  priority: Type.Optional(Priority),
  /** Whose key it came with; `from` is what they call themselves. Ours. */
  actor: Type.Optional(Type.String()),
  /** When it was taken up; logs of earlier versions lack it. Ours. */
  activeAt: Type.Optional(Instant),
})
export type DirectiveActive = Type.Static<typeof DirectiveActive>

/** A directive reached a task: its next model call shows it. Ours. */
export const DirectiveDelivered = Type.Object({
  type: Type.Literal('directive_delivered'),
  directiveId: Type.String(),
  agentRole: Type.String(),
  ...taskPosition,
  /** The turn whose model call shows it. */
  iterationIndex: Count,
  deliveredAt: Instant,
})
export type DirectiveDelivered = Type.Static<typeof DirectiveDelivered>

/** The next model calls of the run, or of one task, go to another model. Ours. */
export const ModelSwitchedEvent = Type.Object({
  type: Type.Literal('model_switched'),
  model: Type.String(),
  previousModel: Type.Optional(Type.String()),
  taskName: Type.Optional(Type.String()),
  switchedAt: Instant,
  /** Who asked: the name of a key. */
  actor: Type.Optional(Type.String()),
  /** The tier that was asked for; absent for a switch to a model by its alias. */
  tier: Type.Optional(Type.String()),
  /** The rule of the ensemble that made the switch, as text; absent when a person made it. */
  rule: Type.Optional(Type.String()),
})
export type ModelSwitchedEvent = Type.Static<typeof ModelSwitchedEvent>
