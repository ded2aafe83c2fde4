/** The reviews of a server. */
import { ROUTES, routePath, type ReviewDecisionBody } from '@tutti/protocol'
import type { ListReviewsQuery, ReviewDecisionApplied, ReviewList } from '@tutti/protocol/internal'

import { commandSender, type CommandOptions } from './commands.ts'
import { callRoute } from './http/call-route.ts'

import type { CallOptions } from './http/exchange.ts'
import type { ResolvedClientOptions } from './options.ts'

/** Reviews of a server. Every method throws {@link TuttiClientError}; an empty `reviewId` is a TypeError. */
export interface ReviewsClient {
  /** Returns the open reviews of the run `runId`, or of all runs, oldest first. */
  list(query?: ListReviewsQuery, options?: CallOptions): Promise<ReviewList>
  /**
   * Decides a review; resolves when the decision is durable. The first decision counts; later ones fail with
   * REVIEW_RESOLVED.
   */
  decide(
    reviewId: string,
    decision: ReviewDecisionBody,
    options?: CommandOptions,
  ): Promise<ReviewDecisionApplied>
}

/** Creates the reviews part of a client. */
export function createReviewsClient(settings: ResolvedClientOptions): ReviewsClient {
  const send = commandSender(settings)
  return {
    list: async (query = {}, options = {}) =>
      callRoute(settings, ROUTES.listReviews, {
        ...options,
        path: routePath('listReviews'),
        query,
      }),
    decide: async (reviewId, { decision, revisedOutput, feedback }, options) =>
      send(
        { kind: 'decide', target: reviewId, body: { decision, revisedOutput, feedback } },
        options,
      ),
  }
}
