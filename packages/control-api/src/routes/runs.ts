/** Submits, lists, inspects, cancels and deletes runs. */
import {
  ForkRunBody,
  ReplayRunBody,
  ListRunsQuery,
  ROUTES,
  SubmitRunBody,
  type LoggedRunEvent,
  type RunAccepted,
  type RunDetail,
} from '@tutti/protocol'
import { CancelRunsBody, CompareRunsQuery, SubmitRunQuery } from '@tutti/protocol/internal'
import {
  deleteRun,
  forkRunAs,
  previewForkAs,
  replayRunAs,
  type HttpRoute,
  readIdempotencyKey,
  largeResponse,
  readJsonBody,
  badRequest,
  type HttpRouteCall,
  resolvePlace,
  type RouteAnswer,
  submitAndFollowAs,
  submitRunAs,
  type SubmissionOptions,
  readTrace,
  waitForEnd,
  type WaitOptions,
} from '@tutti/gateway/internal'
import { FoldedTasks } from '@tutti/runs/internal'

import { prefersEvents } from '../http/accept.ts'
import { readQuery } from '../http/read-query.ts'
import { compareRuns } from '../runs/compare-runs.ts'
import { listRuns } from '../runs/list-runs.ts'
import { readEndedRun, readRunDetail } from '../runs/run-detail.ts'
import { toForkBody } from '../runs/to-fork-body.ts'
import { createTypeFilter, streamRun, type TypeFilter } from '../runs/stream-run.ts'
import { cancelTaggedRuns } from '../steering/cancel-tagged-runs.ts'
import { toRunAccepted } from '../runs/to-wire.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { RunRecord } from '@tutti/runs/adapter'

/** Returns the routes below `/api/runs`, except the event stream. */
export function runRoutes(options: ResolvedControlApiOptions): readonly HttpRoute[] {
  const { runs, reads, maxBodyBytes } = options
  return [
    {
      ...ROUTES.submitRun,
      async handle(call) {
        const { request, addSubject } = call
        const submission = readSubmission(call)
        const query = readQuery(request.url, SubmitRunQuery)
        const isStream = prefersEvents(request.headers.get('accept'))
        assertSubmitQuery(query, isStream)
        const wants = createTypeFilter(query.events)
        const body = await readJsonBody(request, SubmitRunBody, maxBodyBytes)
        if (isStream) {
          const omitsRepeats = query.repeats === 'omit'
          return submitAndStream(options, call, { body, submission, wants, omitsRepeats })
        }
        const { wait = 0 } = query
        if (wait === 0) {
          const run = await submitRunAs(options, body, submission)
          addSubject({ runId: run.runId })
          return runResponse(202, run, toRunAccepted(run))
        }
        const { run, events } = await submitAndFollowAs(options, body, submission)
        addSubject({ runId: run.runId })
        const waiting = { timeoutMs: wait * 1_000, signal: request.signal, events }
        const ended = await waitForDetail(options, run, { ...waiting, caller: call.caller })
        if (ended !== undefined) return runResponse(200, run, ended)
        return runResponse(202, run, toRunAccepted(run))
      },
    },
    ...forkRoutes(options),
    {
      ...ROUTES.listRuns,
      async handle({ request }) {
        const query = readListQuery(request.url)
        return largeResponse(reads, request, () => listRuns(options, query))
      },
    },
    {
      ...ROUTES.compareRuns,
      async handle({ request, caller }) {
        const query = readQuery(request.url, CompareRunsQuery)
        return largeResponse(reads, request, () => compareRuns(options, query, caller))
      },
    },
    {
      ...ROUTES.getRun,
      async handle({ request, caller, parameters: { runId = '' } }) {
        return largeResponse(reads, request, () => readRunDetail(options, runId, caller))
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

/** Returns the routes that submit runs from recorded ones. */
function forkRoutes(options: ResolvedControlApiOptions): readonly HttpRoute[] {
  const { maxBodyBytes } = options
  return [
    {
      ...ROUTES.forkRun,
      async handle(call) {
        const { request, addSubject, parameters } = call
        const { runId: parentRunId = '' } = parameters
        const submission = readSubmission(call)
        const body = await readJsonBody(request, ForkRunBody, maxBodyBytes)
        const fork = { body: toForkBody(body, submission.caller), ...submission }
        if (body.preview === true) {
          return Response.json(await previewForkAs(options, parentRunId, fork))
        }
        const run = await forkRunAs(options, parentRunId, fork)
        addSubject({ runId: run.runId, target: parentRunId })
        return runResponse(202, run, toRunAccepted(run))
      },
    },
    {
      ...ROUTES.replayRun,
      async handle(call) {
        const { request, addSubject, parameters } = call
        const { runId: parentRunId = '' } = parameters
        const submission = readSubmission(call)
        const body = await readJsonBody(request, ReplayRunBody, maxBodyBytes)
        const run = await replayRunAs(options, parentRunId, { body, ...submission })
        addSubject({ runId: run.runId, target: parentRunId })
        return runResponse(202, run, toRunAccepted(run))
      },
    },
  ]
}

/** Returns the caller of a submission, and what its headers say. */
function readSubmission({
  request,
  caller,
}: HttpRouteCall): Pick<
  SubmissionOptions,
  'caller' | 'idempotencyKey' | 'traceparent' | 'tracestate'
> {
  const key = readIdempotencyKey(request.headers)
  return {
    caller,
    ...readTrace(request.headers),
    ...(key === undefined ? {} : { idempotencyKey: key }),
  }
}

/** Checks that the parameters of a submission fit the kind of its response. */
function assertSubmitQuery({ wait, events, repeats }: SubmitRunQuery, isStream: boolean): void {
  if (isStream && wait !== undefined) {
    const message = 'cannot be combined with Accept: text/event-stream'
    throw badRequest('query', [{ path: '/wait', message }])
  }
  const problems = Object.entries({ events, repeats })
    .filter(([, value]) => !isStream && value !== undefined)
    .map(([name]) => ({ path: `/${name}`, message: 'requires Accept: text/event-stream' }))
  if (problems.length > 0) throw badRequest('query', problems)
}

/** Returns the headers that name the run of a response. */
function runHeaders({ runId }: Pick<RunRecord, 'runId'>): Readonly<Record<string, string>> {
  return { location: `/api/runs/${encodeURIComponent(runId)}`, 'tutti-run-id': runId }
}

function runResponse(
  status: 200 | 202,
  run: Pick<RunRecord, 'runId'>,
  body: RunAccepted | RunDetail,
): Response {
  // Response.json would copy the headers.
  const headers = { 'content-type': 'application/json', ...runHeaders(run) }
  return new Response(JSON.stringify(body), { status, headers })
}

/** A submission whose events are sent in the response. */
interface StreamedSubmission {
  readonly body: SubmitRunBody
  readonly submission: SubmissionOptions
  readonly wants: TypeFilter
  readonly omitsRepeats: boolean
}

/**
 * Submits a run and answers with its events. A repeated submission continues after `Last-Event-ID`; a new run has no
 * earlier events, so the header has no effect.
 */
async function submitAndStream(
  options: ResolvedControlApiOptions,
  { request, addSubject }: HttpRouteCall,
  { body, submission, wants, omitsRepeats }: StreamedSubmission,
): Promise<RouteAnswer> {
  const { runs } = options
  const { run, events } = await submitAndFollowAs(options, body, submission)
  const { runId } = run
  addSubject({ runId })
  const headers = runHeaders(run)
  if (events !== undefined) {
    return streamRun(options, { runId, batches: events, wants, omitsRepeats, headers })
  }
  const lastEventId = request.headers.get('last-event-id') ?? undefined
  const { cursor, over } = resolvePlace(run, { lastEventId })
  if (over) return new Response(null, { status: 204, headers })
  const batches = runs.follow({ runId, from: cursor })
  return streamRun(options, { runId, batches, wants, omitsRepeats, headers })
}

/**
 * Waits until a run has ended and returns its detail. Returns undefined on a timeout, and also when the detail cannot be
 * read: the run was accepted, and after an error the caller would submit it again.
 */
async function waitForDetail(
  options: ResolvedControlApiOptions,
  run: RunRecord,
  { caller, ...waiting }: WaitOptions & Pick<HttpRouteCall, 'caller'>,
): Promise<RunDetail | undefined> {
  const folded = new FoldedTasks()
  const onEvents = (events: readonly LoggedRunEvent[]): void => {
    // Only the events of a new run are known from the first one on.
    if (waiting.events !== undefined) folded.add(events)
  }
  try {
    if (!(await waitForEnd(options, run, { ...waiting, onEvents }))) return undefined
    return await options.reads.finish(() =>
      readEndedRun(options, { runId: run.runId, caller, folded: folded.ended }),
    )
  } catch (error) {
    options.logger.warn('Failed to wait for the end of a run', { runId: run.runId, error })
    return undefined
  }
}

/** Reads the query of a list; statuses are case-insensitive. */
function readListQuery(url: string): ListRunsQuery {
  const parsed = new URL(url)
  const status = parsed.searchParams.get('status')
  if (status !== null) parsed.searchParams.set('status', status.toUpperCase())
  return readQuery(parsed.href, ListRunsQuery)
}
