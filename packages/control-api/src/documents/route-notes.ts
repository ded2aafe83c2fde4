/** Descriptions and headers of routes in addition to the route table. */
import type { RouteName } from '@tutti/protocol'
import { COMMANDS, type Route } from '@tutti/protocol/internal'

import type { ApiResponse, Header, Parameter } from './open-api-types.ts'

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Your key for this submission. A repeated key returns the same run if the body is the same, and IDEMPOTENCY_CONFLICT otherwise.',
  schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
}

const LAST_EVENT_ID: Parameter = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'Id of the last event that you received; the stream resumes after it.',
  schema: { type: 'string' },
}

const LAST_EVENT_ID_OF_REPEAT: Parameter = {
  ...LAST_EVENT_ID,
  description:
    'With `Accept: text/event-stream` and a repeated `Idempotency-Key`: id of the last event that you received; the stream resumes after it.',
}

const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of your copy.',
  schema: { type: 'string' },
}

const LOCATION: Header = {
  description: 'Path of the run',
  required: true,
  schema: { type: 'string' },
}

const THREAD_LOCATION: Header = { ...LOCATION, description: 'Path of the thread' }

const SCHEDULE_LOCATION: Header = { ...LOCATION, description: 'Path of the schedule' }

const RUN_ID: Header = {
  description: 'Id of the run',
  required: true,
  schema: { type: 'string' },
}

const ETAG: Header = {
  description: 'Changes with the document',
  required: true,
  schema: { type: 'string' },
}

const REQUEST_HEADERS: Readonly<Partial<Record<RouteName, readonly Parameter[]>>> = {
  submitRun: [IDEMPOTENCY_KEY, LAST_EVENT_ID_OF_REPEAT],
  forkRun: [IDEMPOTENCY_KEY],
  replayRun: [IDEMPOTENCY_KEY],
  runSchedule: [IDEMPOTENCY_KEY],
  streamRunEvents: [LAST_EVENT_ID],
  getOpenApi: [IF_NONE_MATCH],
  getAsyncApi: [IF_NONE_MATCH],
  getDocs: [IF_NONE_MATCH],
  getDocsScript: [IF_NONE_MATCH],
}

const RESPONSE_HEADERS: Readonly<Partial<Record<RouteName, Readonly<Record<string, Header>>>>> = {
  createThread: { Location: THREAD_LOCATION },
  createSchedule: { Location: SCHEDULE_LOCATION },
  runSchedule: { Location: LOCATION },
  submitRun: { Location: LOCATION, 'Tutti-Run-Id': RUN_ID },
  forkRun: { Location: LOCATION, 'Tutti-Run-Id': RUN_ID },
  replayRun: { Location: LOCATION, 'Tutti-Run-Id': RUN_ID },
  getOpenApi: { ETag: ETAG },
  getAsyncApi: { ETag: ETAG },
  getDocs: { ETag: ETAG },
  getDocsScript: { ETag: ETAG },
}

const NOTES: Readonly<Partial<Record<RouteName, string>>> = {
  submitRun:
    'A submission has inputs for an ensemble, overrides of its tasks, or tasks of your own. The run continues when you disconnect; follow it at `/api/runs/{runId}/events`, or send `Accept: text/event-stream` to get its events in the response.',
  replayRun:
    'The replay fails with REPLAY_MISMATCH where its code asks for something that is not recorded. Only a completed run can be replayed; a replay cannot be replayed or forked.',
  forkRun:
    'The copied part costs nothing and repeats no call. Inputs and overrides are added to those of the forked run. If tools that are not idempotent might be called again, the fork is refused with SIDE_EFFECTS unless `allowSideEffects` is true. A task with an output in `results` calls no model and no tool; its reviews and guardrails apply. With `preview`, no run is created, and the response lists what the fork would reuse, call and cost.',
  compareRuns:
    'Tasks are aligned by name, tool calls by tool and arguments. Runs that have not ended are compared as they are now. Long texts are cut, and have `cut`.',
  listRuns:
    'The response is one page, and `nextCursor` continues it; `total` counts matching runs up to 10,000. `status` is a comma-separated list. `q` matches the start of the run id and any part of a tag or input value, ignoring case.',
  createThread:
    'Submit runs to a thread with its `threadId`. A thread has at most one unended run: a submission meanwhile is refused with THREAD_BUSY.',
  createSchedule:
    'Each tick submits at most one run, over all processes. The run belongs to the key that saved the schedule, whose rights and limits are checked at each tick. A fixed time that the clock skips in spring has its tick at the first time after the gap; one that occurs twice in autumn has one tick, at the first. Other expressions skip the gap and count both.',
  runSchedule: 'The run belongs to the caller, and has the tag `schedule`.',
  listThreadRuns:
    'A run is a message of the user, which is its only input, else all inputs as JSON, and a message of the assistant: the output of its output task. A run that failed or was cancelled before has the text so far.',
  streamRunEvents:
    'Starts with past events and continues live, without gaps or duplicates. A negative `from` counts from the end. `Last-Event-ID` takes precedence over `from`. With `repeats=omit`, an event that repeats a long text of the same stream has an empty text and refers to the earlier event in `repeats`.',
  decideReview: 'REJECT repeats the task with your feedback. EDIT requires `revisedOutput`.',
  getMetrics:
    'Prometheus text format 0.0.4, or OpenMetrics 1.0.0 if `Accept` contains `application/openmetrics-text`. To send a key from Prometheus, configure `authorization: { credentials: … }`.',
  openSocket: '`/asyncapi.json` describes the messages of both directions.',
  openRunSocket: '`/asyncapi.json` describes the messages of both directions.',
  createTicket:
    'A ticket grants the rights of the key that created it for a short time. Send it as the query parameter `ticket`.',
}

/** Returns the request headers that a route reads. */
export function requestHeaders(name: RouteName): readonly Parameter[] {
  return REQUEST_HEADERS[name] ?? []
}

/** Returns the headers of a successful response. */
export function responseHeaders(name: RouteName): Pick<ApiResponse, 'headers'> {
  const headers = RESPONSE_HEADERS[name]
  return headers === undefined ? {} : { headers }
}

/** Further responses that do not have the headers of their route, because they name no run. */
const WITHOUT_HEADERS: ReadonlySet<string> = new Set(['forkRun 200'])

/** Returns the headers of a further response that is not an error. */
export function otherHeaders(name: RouteName, status: number): Pick<ApiResponse, 'headers'> {
  return WITHOUT_HEADERS.has(`${name} ${status}`) ? {} : responseHeaders(name)
}

/** Returns the description of a route, with the event of a command and the scope that it requires. */
export function describeRoute(name: RouteName, { scope }: Route): string {
  const requirement =
    scope === null ? 'Requires no key.' : `Requires a key with the scope \`${scope}\`.`
  const command = Object.values(COMMANDS).find(({ routeName }) => routeName === name)
  const effect = command === undefined ? undefined : `Recorded by the event \`${command.event}\`.`
  return [NOTES[name], effect, requirement].filter((text) => text !== undefined).join('\n\n')
}
