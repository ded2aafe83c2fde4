/** Submitting runs, looking at them, and cancelling them. */
import { TuttiError } from '@tutti/core'
import { CancelBody, ListRunsQuery, ROUTES, SubmitRunBody } from '@tutti/protocol'

import { readBody } from '../http/read-body.ts'
import { readQuery } from '../http/read-query.ts'
import { listRuns } from '../list-runs.ts'
import { submitRun } from '../submit-run.ts'
import { toRunAccepted, toRunDetail } from '../to-wire.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { Route } from './route.ts'

/** The routes below `/api/runs`, but for the event stream. */
export function runRoutes({ runs, maxBodyBytes }: ResolvedControlApiOptions): readonly Route[] {
  return [
    {
      ...ROUTES.submitRun,
      async handle({ request }) {
        const body = await readBody(request, SubmitRunBody, maxBodyBytes)
        const run = await submitRun(runs, body)
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
        const found = await runs.get(runId)
        if (found === undefined) throw runNotFound(runId)
        return Response.json(toRunDetail(found))
      },
    },
    {
      ...ROUTES.cancelRun,
      async handle({ request, parameters: { runId = '' } }) {
        const { mode } = await readBody(request, CancelBody, maxBodyBytes)
        if (mode === 'boundary') throw notImplemented('cancel mode "boundary"')
        return Response.json({ runId, status: await runs.cancel(runId) })
      },
    },
  ]
}

/** The error for a run id that names nothing. */
export function runNotFound(runId: string): TuttiError {
  return new TuttiError('RUN_NOT_FOUND', `No run with ID ${runId}`)
}

/** The error for a part of the protocol that this version does not act on. */
export function notImplemented(what: string): TuttiError {
  return new TuttiError('NOT_IMPLEMENTED', `This version of the server does not support ${what}`)
}

/** The query of a list; a status may be written in any case. */
function listQuery(url: string): ListRunsQuery {
  const asked = new URL(url)
  const status = asked.searchParams.get('status')
  if (status !== null) asked.searchParams.set('status', status.toUpperCase())
  return readQuery(asked.href, ListRunsQuery)
}
