/** Sends commands to runs, and lists reviews. */
import { ROUTES } from '@tutti/protocol'
import { commandEntry, ListReviewsQuery, RUN_COMMAND_KINDS } from '@tutti/protocol/internal'
import { readJsonBody, type HttpRoute } from '@tutti/gateway/internal'

import { readQuery } from '../http/read-query.ts'
import { findCommandScope, performCommand } from '../steering/perform-command.ts'
import { listReviews } from '../steering/reviews.ts'

import type { RunCommandKind } from '@tutti/protocol/internal'
import type { ResolvedControlApiOptions } from '../options.ts'

/** Returns a route for each command, and the list of reviews. */
export function steeringRoutes(options: ResolvedControlApiOptions): readonly HttpRoute[] {
  const { reads } = options
  return [
    ...RUN_COMMAND_KINDS.map((kind) => commandRoute(kind, options)),
    {
      ...ROUTES.listReviews,
      async handle({ request, caller }) {
        const query = { ...readQuery(request.url, ListReviewsQuery), caller }
        return Response.json(await reads.run(() => listReviews(options, query)))
      },
    },
  ]
}

function commandRoute(
  kind: RunCommandKind,
  { runs, maxBodyBytes }: ResolvedControlApiOptions,
): HttpRoute {
  const { route, target: parameter } = commandEntry(kind)
  return {
    ...route,
    findScope: async ({ [parameter]: target = '' }, caller) =>
      findCommandScope(kind, { runs, target, caller }),
    async handle({ request, caller, addSubject, parameters: { [parameter]: target = '' } }) {
      const body = await readJsonBody(request, route.body, maxBodyBytes)
      return Response.json(await performCommand(kind, { runs, caller, addSubject, target, body }))
    },
  }
}
