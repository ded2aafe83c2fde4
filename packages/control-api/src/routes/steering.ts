/** Steering runs: other models, words to their agents, decisions of reviews. */
import {
  InjectBody,
  ListReviewsQuery,
  ReviewDecisionBody,
  ROUTES,
  SwitchModelBody,
} from '@tutti/protocol'
import { decideReview, readBody, type Route } from '@tutti/gateway'

import { readQuery } from '../http/read-query.ts'
import { injectDirective } from '../inject-directive.ts'
import { assertFeedback, listReviews } from '../reviews.ts'
import { switchModel } from '../switch-model.ts'

import type { ResolvedControlApiOptions } from '../options.ts'

/** The routes for model switches, directives and reviews. */
export function steeringRoutes(options: ResolvedControlApiOptions): readonly Route[] {
  const { runs, maxBodyBytes } = options
  return [
    {
      ...ROUTES.switchModel,
      async handle({ request, caller, parameters: { runId = '' } }) {
        const body = await readBody(request, SwitchModelBody, maxBodyBytes)
        return Response.json(await switchModel(runs, runId, { ...body, caller }))
      },
    },
    {
      ...ROUTES.injectDirective,
      async handle({ request, caller, parameters: { runId = '' } }) {
        const body = await readBody(request, InjectBody, maxBodyBytes)
        return Response.json(await injectDirective(runs, runId, { ...body, caller }))
      },
    },
    {
      ...ROUTES.listReviews,
      async handle({ request, caller }) {
        const query = { ...readQuery(request.url, ListReviewsQuery), caller }
        return Response.json(await options.reads.run(() => listReviews(runs, query)))
      },
    },
    {
      ...ROUTES.decideReview,
      async handle({ request, caller, parameters: { reviewId = '' } }) {
        const body = await readBody(request, ReviewDecisionBody, maxBodyBytes)
        assertFeedback(body)
        return Response.json(await decideReview(runs, reviewId, { ...body, caller }))
      },
    },
  ]
}
