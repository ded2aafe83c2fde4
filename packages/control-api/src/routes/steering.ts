/** Steers runs: model switches, directives and decisions of reviews. */
import {
  InjectBody,
  ListReviewsQuery,
  ReviewDecisionBody,
  ROUTES,
  SwitchModelBody,
  type InjectAccepted,
  type ModelSwitched,
} from '@tutti/protocol'
import { decideReview, findDecisionScope, readJsonBody, type HttpRoute } from '@tutti/gateway'

import { readQuery } from '../http/read-query.ts'
import { assertFeedback, listReviews } from '../steering/reviews.ts'
import { toInjectCommand, toSwitchCommand } from '../steering/to-command.ts'

import type { ResolvedControlApiOptions } from '../options.ts'

/** Returns the routes for model switches, directives and reviews. */
export function steeringRoutes(options: ResolvedControlApiOptions): readonly HttpRoute[] {
  const { runs, maxBodyBytes } = options
  return [
    {
      ...ROUTES.switchModel,
      async handle({ request, caller, parameters: { runId = '' } }) {
        const body = await readJsonBody(request, SwitchModelBody, maxBodyBytes)
        const switched = await runs.send(runId, toSwitchCommand(body, caller))
        return Response.json({ runId, ...switched, status: 'APPLIED' } satisfies ModelSwitched)
      },
    },
    {
      ...ROUTES.injectDirective,
      async handle({ request, caller, parameters: { runId = '' } }) {
        const body = await readJsonBody(request, InjectBody, maxBodyBytes)
        const { id } = await runs.send(runId, toInjectCommand(body, caller))
        return Response.json({ directiveId: id, status: 'ACTIVE' } satisfies InjectAccepted)
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
      findScope: ({ reviewId = '' }, caller) => findDecisionScope(runs, reviewId, caller),
      async handle({ request, caller, addSubject, parameters: { reviewId = '' } }) {
        const body = await readJsonBody(request, ReviewDecisionBody, maxBodyBytes)
        assertFeedback(body)
        return Response.json(await decideReview(runs, reviewId, { ...body, caller, addSubject }))
      },
    },
  ]
}
