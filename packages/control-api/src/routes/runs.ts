/** Submitting runs, looking at them, and cancelling them. */
import { CancelBody, ListRunsQuery, ROUTES, SubmitRunBody } from '@tutti/protocol'

import { cancelRun } from '../cancel-run.ts'
import { idempotencyKey } from '../http/idempotency-key.ts'
import { readBody } from '../http/read-body.ts'
import { readQuery } from '../http/read-query.ts'
import { listRuns } from '../list-runs.ts'
import { runDetail } from '../run-detail.ts'
import { submitRun } from '../submit-run.ts'
import { toRunAccepted } from '../to-wire.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { Route } from './route.ts'

/** The routes below `/api/runs`, but for the event stream. */
export function runRoutes({ runs, maxBodyBytes }: ResolvedControlApiOptions): readonly Route[] {
  return [
    {
      ...ROUTES.submitRun,
      async handle({ request }) {
        const key = idempotencyKey(request.headers)
        const body = await readBody(request, SubmitRunBody, maxBodyBytes)
        const run = await submitRun(runs, body, key === undefined ? {} : { idempotencyKey: key })
        const headers = { location: `/api/runs/${encodeURIComponent(run.runId)}` }
        return Response.json(toRunAccepted(run), { status: 202, headers })
      },
    },
    {
      ...ROUTES.listRuns,
      async handle({ request }) {
        return Response.json(await listRuns(runs, listQuery(request.url)))
      },
    },
    {
      ...ROUTES.getRun,
      async handle({ parameters: { runId = '' } }) {
        return Response.json(await runDetail(runs, runId))
      },
    },
    {
      ...ROUTES.cancelRun,
      async handle({ request, parameters: { runId = '' } }) {
        const { mode } = await readBody(request, CancelBody, maxBodyBytes)
        return Response.json({ runId, status: await cancelRun(runs, runId, mode) })
      },
    },
  ]
}

/** The query of a list; a status may be written in any case. */
function listQuery(url: string): ListRunsQuery {
  const asked = new URL(url)
  const status = asked.searchParams.get('status')
  if (status !== null) asked.searchParams.set('status', status.toUpperCase())
  return readQuery(asked.href, ListRunsQuery)
}
