/** Reviews over REST: which are open, and how one is decided. */
import Type from 'typebox'
import { ReviewDecisionKind } from '../enums.ts'
import { reviewedCall, reviewFields } from '../events/steering-events.ts'
import {
  CLOSED,
  Count,
  Instant,
  PositiveCount,
  StringMap,
  TagMap,
  requiredWhen,
} from '../scalars.ts'

/** A review that waits for a decision. AgentEnsemble REST; `timeoutMs` is the whole time it had. */
export const PendingReview = Type.Object({
  ...reviewFields,
  runId: Type.String(),
  createdAt: Instant,
  /** When the timeout's action applies; absent when the review waits forever. */
  expiresAt: Type.Optional(Instant),
  /** Which task waits; earlier versions do not say. Ours. */
  taskName: Type.Optional(Type.String()),
  /** The role that works on it. Ours. */
  agentRole: Type.Optional(Type.String()),
  /** Which try of the task. Ours. */
  attempt: Type.Optional(PositiveCount),
  /** In the list of reviews: the ensemble of the run. Ours. */
  ensemble: Type.Optional(Type.String()),
  /** In the list of reviews: the inputs of the run, each cut after 200 characters. Ours. */
  inputs: Type.Optional(StringMap),
  /** In the list of reviews: the tags of the run. Ours. */
  tags: Type.Optional(TagMap),
  /** In the list of reviews: whether the key of the caller has the scope and the role to decide it. Ours. */
  mayDecide: Type.Optional(Type.Boolean()),
  ...reviewedCall,
})
export type PendingReview = Type.Static<typeof PendingReview>

/** Query of `GET /api/reviews`. */
export const ListReviewsQuery = Type.Object(
  { runId: Type.Optional(Type.String({ minLength: 1 })) },
  CLOSED,
)
export type ListReviewsQuery = Type.Static<typeof ListReviewsQuery>

/** Answer to `GET /api/reviews`. AgentEnsemble REST. */
export const ReviewList = Type.Object({ reviews: Type.Array(PendingReview), total: Count })
export type ReviewList = Type.Static<typeof ReviewList>

/** The fields of a decision, shared by the body and the `review_decision` message. */
export const reviewDecisionFields = {
  decision: ReviewDecisionKind,
  /** The output that takes the place of the task's; needed for EDIT. */
  revisedOutput: Type.Optional(Type.String()),
  /** Feedback for the next attempt of the agent; required with REJECT, and not blank. Ours. */
  feedback: Type.Optional(Type.String()),
}

/** EDIT without a text is refused: AgentEnsemble would empty the output. */
export const EDIT_NEEDS_TEXT = requiredWhen('decision', 'EDIT', 'revisedOutput')

/** Body of `POST /api/reviews/{reviewId}`. Control API seed §4.7. */
export const ReviewDecisionBody = Type.Object(reviewDecisionFields, {
  ...CLOSED,
  ...EDIT_NEEDS_TEXT,
})
export type ReviewDecisionBody = Type.Static<typeof ReviewDecisionBody>

/** Answer to a decision that was the first one. Control API seed §4.7. */
export const ReviewDecisionApplied = Type.Object({
  reviewId: Type.String(),
  decision: ReviewDecisionKind,
  status: Type.Literal('APPLIED'),
})
export type ReviewDecisionApplied = Type.Static<typeof ReviewDecisionApplied>
