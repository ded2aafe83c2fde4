/** Creates, changes, lists and deletes schedules, and submits their runs. */
import { ROUTES, type ScheduleDetail } from '@tutti/protocol'
import {
  CreateScheduleBody,
  ReplaceScheduleBody,
  ScheduleQuery,
  type ScheduleList,
} from '@tutti/protocol/internal'
import {
  actorOf,
  assertMayRead,
  type Caller,
  type HttpRoute,
  largeResponse,
  readIdempotencyKey,
  readJsonBody,
  readTrace,
  submitRunAs,
} from '@tutti/gateway/internal'

import { assertMaySchedule } from '../auth/authorize-schedule.ts'
import { readQuery } from '../http/read-query.ts'
import { toSavedSchedule, toSchedule, toScheduleSummary } from '../runs/to-schedule.ts'
import { toRunAccepted } from '../runs/to-wire.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { ScheduleRecord } from '@tutti/runs/adapter'

/** Number of next ticks of each listed schedule. */
const LISTED_TICKS = 1

/** Default number of next ticks of one schedule. */
const DEFAULT_TICKS = 5

/** Returns the routes below `/api/schedules`. */
export function scheduleRoutes(options: ResolvedControlApiOptions): readonly HttpRoute[] {
  const { runs, reads, maxBodyBytes, redactor } = options
  const { schedules } = runs
  const describe = async (
    schedule: ScheduleRecord,
    count = DEFAULT_TICKS,
  ): Promise<ScheduleDetail> =>
    redactor.value(toSchedule(schedule, await schedules.nextTicks(schedule, count)))
  return [
    {
      ...ROUTES.createSchedule,
      async handle({ request, caller, addSubject }) {
        const { name, ...body } = await readJsonBody(request, CreateScheduleBody, maxBodyBytes)
        addSubject({ target: name })
        await assertMaySchedule(options, body.run, caller)
        const added = await schedules.add(toSavedSchedule(name, body, actorOf(caller)))
        return Response.json(await describe(added), {
          status: 201,
          headers: { location: `/api/schedules/${encodeURIComponent(name)}` },
        })
      },
    },
    {
      ...ROUTES.listSchedules,
      async handle({ request }) {
        return largeResponse(reads, request, () => listSchedules(options))
      },
    },
    {
      ...ROUTES.getSchedule,
      async handle({ request, parameters: { name = '' } }) {
        const { next } = readQuery(request.url, ScheduleQuery)
        return Response.json(await describe(await schedules.get(name), next))
      },
    },
    {
      ...ROUTES.replaceSchedule,
      async handle({ request, caller, parameters: { name = '' } }) {
        const body = await readJsonBody(request, ReplaceScheduleBody, maxBodyBytes)
        await assertMaySchedule(options, body.run, caller)
        assertMayRead(caller, await schedules.get(name))
        const saved = toSavedSchedule(name, body, actorOf(caller))
        return Response.json(await describe(await schedules.replace(saved)))
      },
    },
    {
      ...ROUTES.deleteSchedule,
      async handle({ parameters: { name = '' } }) {
        await schedules.delete(name)
        return new Response(null, { status: 204 })
      },
    },
    {
      ...ROUTES.pauseSchedule,
      async handle({ caller, parameters: { name = '' } }) {
        assertMayRead(caller, await schedules.get(name))
        return Response.json(await describe(await schedules.setPaused(name, true)))
      },
    },
    {
      ...ROUTES.resumeSchedule,
      async handle({ caller, parameters: { name = '' } }) {
        assertMayRead(caller, await schedules.get(name))
        return Response.json(await describe(await schedules.setPaused(name, false)))
      },
    },
    {
      ...ROUTES.runSchedule,
      async handle({ request, caller, addSubject, parameters: { name = '' } }) {
        const run = await runNow(options, { name, caller, headers: request.headers })
        addSubject({ runId: run.runId })
        return Response.json(toRunAccepted(run), {
          status: 202,
          headers: { location: `/api/runs/${encodeURIComponent(run.runId)}` },
        })
      },
    },
  ]
}

async function listSchedules({
  runs: { schedules },
  redactor,
}: Pick<ResolvedControlApiOptions, 'runs' | 'redactor'>): Promise<ScheduleList> {
  const found = await schedules.list()
  return {
    schedules: await Promise.all(
      found.map(async (schedule) => {
        const next = await schedules.nextTicks(schedule, LISTED_TICKS)
        return redactor.value(toScheduleSummary(schedule, next))
      }),
    ),
  }
}

interface RunNowRequest {
  readonly name: string
  readonly caller: Caller
  readonly headers: Headers
}

/** Submits a run of a schedule for the caller, with the caller's rights and limits. */
async function runNow(
  options: ResolvedControlApiOptions,
  { name, caller, headers }: RunNowRequest,
) {
  const { schedules } = options.runs
  assertMayRead(caller, await schedules.get(name))
  const idempotencyKey = readIdempotencyKey(headers)
  // NOTE: a cast at the boundary: the body of a schedule was validated when it was saved.
  const body = (await schedules.prepareRun(name)) as Parameters<typeof submitRunAs>[1]
  return submitRunAs(options, body, {
    caller,
    ...readTrace(headers),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  })
}
