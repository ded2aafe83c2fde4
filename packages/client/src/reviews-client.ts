/** Everything that a client can do with reviews. */
import {
  decode,
  ROUTES,
  routePath,
  type ListReviewsQuery,
  type ReviewDecisionApplied,
  type ReviewDecisionBody,
  type ReviewList,
} from '@tutti/protocol'

import { callRoute, type CallOptions } from './http/call-route.ts'

import type { ResolvedClientOptions } from './options.ts'

/** Reviews of a server. Every method throws {@link TuttiClientError}; an empty `reviewId` is a TypeError. */
export interface ReviewsClient {
  /** The reviews that wait for a decision, of the run `runId` or of all, in the order in which they opened. */
  list(query?: ListReviewsQuery, options?: CallOptions): Promise<ReviewList>
  /**
   * Decides a review; the decision is durable when this resolves. The first one counts: later ones fail with
   * REVIEW_RESOLVED.
   */
  decide(
    reviewId: string,
    decision: ReviewDecisionBody,
    options?: CallOptions,
  ): Promise<ReviewDecisionApplied>
}

/** Makes the reviews part of a client. */
export function createReviewsClient(settings: ResolvedClientOptions): ReviewsClient {
  return {
    list: async (query = {}, options = {}) =>
      callRoute(settings, {
        ...options,
        method: ROUTES.listReviews.method,
        path: routePath('listReviews'),
        query,
        decode: (value) => decode(ROUTES.listReviews.response, value),
      }),
    decide: async (reviewId, decision, options) =>
      callRoute(settings, {
        ...options,
        method: ROUTES.decideReview.method,
        path: routePath('decideReview', { reviewId }),
        body: decision,
        decode: (value) => decode(ROUTES.decideReview.response, value),
      }),
  }
}
