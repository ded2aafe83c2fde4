/** Events of people and programs acting on a run: reviews, directives, model switches. */
import Type from 'typebox'
import { ReviewDecisionKind, ReviewTimeoutAction, ReviewTiming } from '../enums.ts'
import { DurationMs, Instant, NullableText } from '../scalars.ts'

/** The fields of a gate, shared by `review_requested` and the review list. */
export const reviewGate = {
  reviewId: Type.String(),
  taskDescription: Type.String(),
  /** The output under review; empty before execution. */
  taskOutput: Type.String(),
  timing: ReviewTiming,
  /** Send null and not nothing: AgentEnsemble's dashboard draws an empty line for an absent prompt. */
  prompt: Type.Optional(NullableText),
  /** 0 means that the gate waits forever. */
  timeoutMs: DurationMs,
  onTimeout: ReviewTimeoutAction,
  requiredRole: Type.Optional(Type.String()),
}

/** A gate opened and waits; `timeoutMs` is the time left when this was sent. AgentEnsemble wire. */
export const ReviewRequested = Type.Object({
  type: Type.Literal('review_requested'),
  ...reviewGate,
})
export type ReviewRequested = Type.Static<typeof ReviewRequested>

/** A gate closed without its panel: nobody decided in time, or somebody did elsewhere. AgentEnsemble wire. */
export const ReviewTimedOut = Type.Object({
  type: Type.Literal('review_timed_out'),
  reviewId: Type.String(),
  action: ReviewTimeoutAction,
})
export type ReviewTimedOut = Type.Static<typeof ReviewTimedOut>

/** A gate was decided by somebody. Ours. */
export const ReviewDecided = Type.Object({
  type: Type.Literal('review_decided'),
  reviewId: Type.String(),
  decision: ReviewDecisionKind,
  decidedBy: Type.Optional(Type.String()),
  decidedAt: Instant,
})
export type ReviewDecided = Type.Static<typeof ReviewDecided>

/** A directive was taken up. AgentEnsemble wire. */
export const DirectiveActive = Type.Object({
  type: Type.Literal('directive_active'),
  directiveId: Type.String(),
  from: Type.Optional(Type.String()),
  content: Type.Optional(Type.String()),
  action: Type.Optional(Type.String()),
  value: Type.Optional(Type.String()),
  expiresAt: Type.Optional(Instant),
})
export type DirectiveActive = Type.Static<typeof DirectiveActive>

/** The next model calls of the run, or of one task, go to another model. Ours. */
export const ModelSwitchedEvent = Type.Object({
  type: Type.Literal('model_switched'),
  model: Type.String(),
  previousModel: Type.Optional(Type.String()),
  taskName: Type.Optional(Type.String()),
  switchedAt: Instant,
})
export type ModelSwitchedEvent = Type.Static<typeof ModelSwitchedEvent>
