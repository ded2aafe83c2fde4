/** Submitting runs, looking at them, and cancelling them. */
import { TuttiError } from '@tutti/core'
import {
  CancelBody,
  CancelRunsBody,
  ListRunsQuery,
  ROUTES,
  SubmitRunBody,
  SubmitRunQuery,
  type RunDetail,
} from '@tutti/protocol'
import {
  actorOf,
  type Caller,
  cancelUnlessOver,
  findRecord,
  type HttpRoute,
  readIdempotencyKey,
  largeResponse,
  readJsonBody,
  runNotFound,
  submitRunAs,
  readTrace,
  waitForEnd,
  type WaitOptions,
} from '@tutti/gateway'

import { readQuery } from '../http/read-query.ts'
import { listRuns } from '../runs/list-runs.ts'
import { readRunDetail } from '../runs/run-detail.ts'
import { cancelTaggedRuns } from '../steering/broadcast.ts'
import { toRunAccepted } from '../runs/to-wire.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { RunRecord } from '@tutti/runs'

/** The routes below `/api/runs`, but for the event stream. */
export function runRoutes(options: ResolvedControlApiOptions): readonly HttpRoute[] {
  const { runs, reads, maxBodyBytes } = options
  return [
    {
      ...ROUTES.submitRun,
      async handle({ request, caller, addSubject }) {
        const key = readIdempotencyKey(request.headers)
        const { wait = 0 } = readQuery(request.url, SubmitRunQuery)
        const body = await readJsonBody(request, SubmitRunBody, maxBodyBytes)
        const run = await submitRunAs(options, body, {
          caller,
          ...readTrace(request.headers),
          ...(key === undefined ? {} : { idempotencyKey: key }),
        })
        addSubject({ runId: run.runId })
        const headers = { location: `/api/runs/${encodeURIComponent(run.runId)}` }
        const waiting = { timeoutMs: wait * 1_000, signal: request.signal }
        const ended = wait === 0 ? undefined : await waitForDetail(options, run, waiting)
        if (ended !== undefined) return Response.json(ended, { headers })
        return Response.json(toRunAccepted(run), { status: 202, headers })
      },
    },
    {
      ...ROUTES.listRuns,
      async handle({ request }) {
        const query = readListQuery(request.url)
        return largeResponse(reads, request, () => listRuns(options, query))
      },
    },
    {
      ...ROUTES.getRun,
      async handle({ request, parameters: { runId = '' } }) {
        return largeResponse(reads, request, () => readRunDetail(options, runId))
      },
    },
    {
      ...ROUTES.cancelRun,
      async handle({ request, caller, parameters: { runId = '' } }) {
        const body = await readJsonBody(request, CancelBody, maxBodyBytes)
        const command = { kind: 'cancel', ...body, ...actorOf(caller) } as const
        return Response.json({ runId, ...(await runs.send(runId, command)) })
      },
    },
    {
      ...ROUTES.cancelRuns,
      async handle({ request, caller, addSubject }) {
        const body = await readJsonBody(request, CancelRunsBody, maxBodyBytes)
        addSubject({ target: body.tag })
        return Response.json(await cancelTaggedRuns(runs, body, caller))
      },
    },
    {
      ...ROUTES.deleteRun,
      async handle({ caller, parameters: { runId = '' } }) {
        await deleteRun(options, runId, caller)
        return new Response(null, { status: 204 })
      },
    },
  ]
}

/**
 * A run when it has ended; undefined when it does not in time, or what became of it cannot be read: it was
 * taken in all the same, and whoever is told otherwise would submit it again.
 */
async function waitForDetail(
  options: ResolvedControlApiOptions,
  run: RunRecord,
  waiting: WaitOptions,
): Promise<RunDetail | undefined> {
  try {
    if (!(await waitForEnd(options, run, waiting))) return undefined
    return await options.reads.run(() => readRunDetail(options, run.runId))
  } catch (error) {
    options.logger.warn('The end of a run could not be waited for', { runId: run.runId, error })
    return undefined
  }
}

/** The query of a list; a status may be written in any case. */
function readListQuery(url: string): ListRunsQuery {
  const asked = new URL(url)
  const status = asked.searchParams.get('status')
  if (status !== null) asked.searchParams.set('status', status.toUpperCase())
  return readQuery(asked.href, ListRunsQuery)
}

/** Time for which the deletion of a run waits until the run has stopped, in milliseconds. */
const STOP_MS = 10_000

/**
 * Deletes a run with its events; one that has not ended is cancelled first.
 *
 * @throws {TuttiError} RUN_NOT_FOUND; NOT_CONFIRMED when it has not stopped in time, and then it is kept.
 */
async function deleteRun(
  options: Pick<ResolvedControlApiOptions, 'runs' | 'clock'>,
  runId: string,
  caller: Caller,
): Promise<void> {
  const { runs } = options
  const first = await runs.delete(runId)
  if (first === 'deleted') return
  const run = await findRecord(runs, runId)
  const status = await cancelUnlessOver(runs, runId, { mode: 'abort', caller })
  if (status !== undefined) await waitForEnd(options, run, { timeoutMs: STOP_MS })
  const end = await runs.delete(runId)
  if (end === 'deleted') return
  if (end === 'unknown') throw runNotFound(runId)
  throw new TuttiError(
    'NOT_CONFIRMED',
    `Run ${runId} is being cancelled, but has not stopped within ${STOP_MS} ms; delete it again`,
    { retryable: true },
  )
}
