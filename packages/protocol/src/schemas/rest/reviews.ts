/** Reviews over REST: the list of open reviews, and decisions. */
import Type from 'typebox'
import { ReviewDecisionKind, ReviewKind } from '../enums.ts'
import { reviewedCall, reviewFields } from '../events/steering-events.ts'
import { CLOSED, Count, Instant, PositiveCount, StringMap, TagMap } from '../scalars.ts'

import type { Static } from '../../static.ts'

/** Review that waits for a decision. `timeoutMs` is its full time limit. */
export const PendingReview = Type.Object({
  ...reviewFields,
  /** Id of the run. */
  runId: Type.String(),
  /** Time at which the review opened. */
  createdAt: Instant,
  /** Time at which the timeout action applies; absent when the review has no time limit. */
  expiresAt: Type.Optional(Instant),
  /** Name of the task that waits. */
  taskName: Type.String(),
  /** Role of the agent that works on the task. */
  agentRole: Type.Optional(Type.String()),
  /** Attempt of the task, from 1. */
  attempt: Type.Optional(PositiveCount),
  /** Ensemble of the run; only in the list of reviews. */
  ensemble: Type.Optional(Type.String()),
  /** Inputs of the run, each truncated after 200 characters; only in the list of reviews. */
  inputs: Type.Optional(StringMap),
  /** Tags of the run; only in the list of reviews. */
  tags: Type.Optional(TagMap),
  /** Whether the caller's key has the scope and the role to decide the review; only in the list of reviews. */
  mayDecide: Type.Optional(Type.Boolean()),
  /** Reason why a part of the stored record cannot be read; the fields of that part are empty. Absent when all can be. */
  unreadable: Type.Optional(Type.String()),
  ...reviewedCall,
})
export type PendingReview = Static<typeof PendingReview>

/** Query of `GET /api/reviews`. */
export const ListReviewsQuery = Type.Object(
  {
    /** Only reviews of this run; all runs when absent. */
    runId: Type.Optional(Type.String({ minLength: 1 })),
    /** Only reviews of this kind; all kinds but CLIENT_TOOL when absent, because no person decides those. */
    kind: Type.Optional(ReviewKind),
  },
  CLOSED,
)
export type ListReviewsQuery = Static<typeof ListReviewsQuery>

/** Response of `GET /api/reviews`. */
export const ReviewList = Type.Object({
  reviews: Type.Array(PendingReview),
  /** Number of reviews. */
  total: Count,
})
export type ReviewList = Static<typeof ReviewList>

/** Fields of a decision, shared by the REST body and the `review_decision` message. */
export const reviewDecisionFields = {
  decision: ReviewDecisionKind,
  /**
   * Text that replaces the reviewed one: the description or output of the task, the input of the tool call as JSON, the
   * result of a client tool, or the answer to a question. An answer is the text itself if the schema of the answer has the
   * type `string`; with another schema it is the JSON value of the text, or the text if the schema accepts only that.
   * Required with EDIT, and not allowed with other decisions.
   */
  revisedOutput: Type.Optional(Type.String()),
  /** Feedback for the next attempt of the agent; required with REJECT, not blank, and not allowed with other decisions. */
  feedback: Type.Optional(Type.String()),
}

/**
 * Rules between the fields of a decision. EDIT without `revisedOutput` is rejected, because it would clear the output. A
 * field that the decision does not use is rejected: a text with CONTINUE shows that the reviewer means something else.
 */
export const DECISION_RULES: Type.TObjectOptions = {
  if: Type.Object({ decision: Type.Literal('EDIT') }),
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, never awaited
  then: { required: ['revisedOutput'], properties: { feedback: false } },
  else: {
    if: Type.Object({ decision: Type.Literal('REJECT') }),
    // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema, never awaited
    then: { properties: { revisedOutput: false } },
    else: { properties: { revisedOutput: false, feedback: false } },
  },
}

/** Body of `POST /api/reviews/{reviewId}`. */
export const ReviewDecisionBody = Type.Object(reviewDecisionFields, {
  ...CLOSED,
  ...DECISION_RULES,
})
export type ReviewDecisionBody = Static<typeof ReviewDecisionBody>

/** Response to the first decision of a review. */
export const ReviewDecisionApplied = Type.Object({
  /** Id of the review. */
  reviewId: Type.String(),
  decision: ReviewDecisionKind,
  status: Type.Literal('APPLIED'),
  /**
   * Build that the run waits for: the decision is stored, but no process has the code with which the run can continue.
   * Absent when the run can continue.
   */
  waitsForBuild: Type.Optional(Type.String()),
})
export type ReviewDecisionApplied = Static<typeof ReviewDecisionApplied>
