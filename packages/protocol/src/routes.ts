/**
 * All routes of the control API in one table. The server mounts it, the client calls it, and the OpenAPI document is
 * generated from it.
 *
 * `errors` of a route lists its specific codes; every route can also answer with `COMMON_ERRORS`.
 */
import type Type from 'typebox'
import { COMMANDS, type RunCommandKind } from './commands.ts'
import type { ErrorCode } from './error-codes.ts'
import type { Scope } from './schemas/enums.ts'
import { Capabilities } from './schemas/rest/capabilities.ts'
import {
  EventLink,
  EventLinkBody,
  EventReceived,
  LinkedEventData,
  LinkedEventReceived,
  SendEventBody,
} from './schemas/rest/external-events.ts'
import { ListReviewsQuery, ReviewList } from './schemas/rest/reviews.ts'
import { CompareRunsQuery, RunComparison } from './schemas/rest/compare-runs.ts'
import { ForkPreview, ForkRunBody } from './schemas/rest/fork-run.ts'
import { ReplayRunBody } from './schemas/rest/replay-run.ts'
import {
  BuildList,
  BuildShareSet,
  MigrateRunBody,
  RunMigrated,
  SetBuildShareBody,
} from './schemas/rest/builds.ts'
import { CancelRunsBody, RunsCancelled } from './schemas/rest/run-control.ts'
import { ListRunsQuery, RunDetail, RunEventsQuery, RunList } from './schemas/rest/runs.ts'
import {
  DrainAccepted,
  Liveness,
  Readiness,
  ServerStatus,
  WorkspaceFileQuery,
  WorkspaceFiles,
  WorkspaceFilesQuery,
} from './schemas/rest/server.ts'
import { AuditList, AuditQuery, Identity, SocketQuery, Ticket } from './schemas/rest/security.ts'
import {
  CreateScheduleBody,
  ReplaceScheduleBody,
  ScheduleDetail,
  ScheduleList,
  ScheduleQuery,
} from './schemas/rest/schedules.ts'
import { RunAccepted, SubmitRunBody, SubmitRunQuery } from './schemas/rest/submit-run.ts'
import {
  CreateThreadBody,
  ListThreadsQuery,
  Thread,
  ThreadList,
  ThreadRunList,
  ThreadRunsQuery,
} from './schemas/rest/threads.ts'
import { InvokeToolBody, ToolInvocation } from './schemas/rest/tools.ts'
import { StreamedRunEvent } from './schemas/repeats.ts'
import { JsonObject } from './schemas/scalars.ts'
import { DagModel } from './schemas/trace/dag-model.ts'
import { ExecutionTrace } from './schemas/trace/execution-trace.ts'

/** A route: its request, its responses and its errors. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Path, with parameters in braces. */
  readonly path: string
  /** Schema of the JSON body. */
  readonly body?: Type.TSchema
  /** True when the body can be omitted, which means an empty object. */
  readonly bodyOptional?: true
  /** Schema of the query, after its numbers are converted. */
  readonly query?: Type.TSchema
  /** Schema of the response body on success, or of one event of a stream; null for no JSON body. */
  readonly response: Type.TSchema | null
  /** Media type of the response on success; JSON when absent. */
  readonly mediaType?: 'text/event-stream' | 'text/plain' | 'text/html' | 'text/javascript'
  /** HTTP status on success. */
  readonly status: number
  /** Further responses that are not errors. */
  readonly others?: readonly OtherAnswer[]
  /** Scope that the key must have; null for a public route. */
  readonly scope: Scope | null
  /** True when a browser can send a ticket in the query instead of a key. */
  readonly takesTicket?: true
  readonly errors: readonly ErrorCode[]
  /** One line that starts with a verb in the imperative. */
  readonly summary: string
}

/** A response that is neither an error nor the usual one. */
export interface OtherAnswer {
  readonly status: number
  /** Schema of the body; null for none. */
  readonly response: Type.TSchema | null
  /** Schema of one event, if callers that accept `text/event-stream` get a stream with this status. */
  readonly event?: Type.TSchema
  readonly meaning: string
}

/** Codes that every route can answer with. */
export const COMMON_ERRORS = [
  'BAD_REQUEST',
  'UNAUTHORIZED',
  'FORBIDDEN',
  'ORIGIN_NOT_ALLOWED',
  'HOST_NOT_ALLOWED',
  'METHOD_NOT_ALLOWED',
  'NOT_ACCEPTABLE',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'REQUEST_TIMEOUT',
  'HEADERS_TOO_LARGE',
  'RATE_LIMITED',
  'INTERNAL',
  'OVERLOADED',
  'QUERY_TOO_SLOW',
  'STORE_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]

/** Response to a conditional request for a document that has not changed. */
const NOT_CHANGED = [
  { status: 304, response: null, meaning: 'The copy named by `If-None-Match` is up to date' },
] as const satisfies readonly OtherAnswer[]

/** Routes of commands by name. */
type CommandRoutes = {
  readonly [K in RunCommandKind as (typeof COMMANDS)[K]['routeName']]: (typeof COMMANDS)[K]['route']
}

// NOTE: TypeScript does not derive the keys of an object that a loop builds.
const COMMAND_ROUTES = Object.fromEntries(
  Object.values(COMMANDS).map(({ routeName, route }) => [routeName, route]),
) as CommandRoutes

/** Routes by name. */
export const ROUTES = {
  getStatus: {
    method: 'GET',
    path: '/api/status',
    response: ServerStatus,
    status: 200,
    scope: 'runs:read',
    errors: [],
    summary: 'Get the status of the server',
  },
  getLiveness: {
    method: 'GET',
    path: '/api/health/live',
    response: Liveness,
    status: 200,
    scope: null,
    errors: [],
    summary: 'Check that the process is alive',
  },
  getReadiness: {
    method: 'GET',
    path: '/api/health/ready',
    response: Readiness,
    status: 200,
    others: [
      {
        status: 503,
        response: Readiness,
        meaning: 'The server does not accept runs at the moment',
      },
    ],
    scope: null,
    errors: [],
    summary: 'Check whether the server accepts runs',
  },
  getMetrics: {
    method: 'GET',
    path: '/metrics',
    response: null,
    mediaType: 'text/plain',
    status: 200,
    scope: 'runs:read',
    errors: [],
    summary: 'Get the metrics of the process in the Prometheus text format',
  },
  drain: {
    method: 'POST',
    path: '/api/lifecycle/drain',
    response: DrainAccepted,
    status: 200,
    scope: 'admin',
    errors: ['NOT_CONFIGURED'],
    summary: 'Drain the server: accept no new runs, finish or hand over running ones, then stop',
  },
  listWorkspaceFiles: {
    method: 'GET',
    path: '/api/workspace/files',
    query: WorkspaceFilesQuery,
    response: WorkspaceFiles,
    status: 200,
    scope: 'runs:read',
    errors: ['NOT_FOUND', 'NOT_CONFIGURED'],
    summary: 'List a directory of the workspace',
  },
  readWorkspaceFile: {
    method: 'GET',
    path: '/api/workspace/file',
    query: WorkspaceFileQuery,
    response: null,
    mediaType: 'text/plain',
    status: 200,
    scope: 'runs:read',
    errors: ['NOT_FOUND', 'NOT_CONFIGURED'],
    summary: 'Read a text file of the workspace, up to 1 MiB',
  },
  submitRun: {
    method: 'POST',
    path: '/api/runs',
    query: SubmitRunQuery,
    body: SubmitRunBody,
    response: RunAccepted,
    status: 202,
    others: [
      {
        status: 200,
        response: RunDetail,
        event: StreamedRunEvent,
        meaning:
          'The run ended within the time of `wait`; or, if `Accept` prefers `text/event-stream`, the stream of its events',
      },
      {
        status: 204,
        response: null,
        meaning: 'The run of an earlier submission has ended and the reader has all events',
      },
    ],
    scope: 'runs:write',
    errors: [
      'INVALID_TOOL',
      'INVALID_MODEL',
      'INVALID_TASK_OVERRIDE',
      'CIRCULAR_DEPENDENCY',
      'INVALID_ENSEMBLE',
      'INVALID_WEBHOOK',
      'RUN_EXISTS',
      'THREAD_NOT_FOUND',
      'THREAD_BUSY',
      'IDEMPOTENCY_CONFLICT',
      'CONCURRENCY_LIMIT',
      'SPEND_LIMIT',
      'CURSOR_PAST_END',
      'NOT_CONFIGURED',
      'DRAINING',
    ],
    summary: 'Submit a run of an ensemble, with overrides, or of tasks in the request',
  },
  listRuns: {
    method: 'GET',
    path: '/api/runs',
    query: ListRunsQuery,
    response: RunList,
    status: 200,
    scope: 'runs:read',
    errors: [],
    summary: 'List runs, newest first',
  },
  compareRuns: {
    method: 'GET',
    path: '/api/runs/compare',
    query: CompareRunsQuery,
    response: RunComparison,
    status: 200,
    scope: 'runs:read',
    errors: ['RUN_NOT_FOUND'],
    summary: 'Compare two runs: tasks, outputs, tool calls, tokens, cost and time',
  },
  getRun: {
    method: 'GET',
    path: '/api/runs/{runId}',
    response: RunDetail,
    status: 200,
    scope: 'runs:read',
    errors: ['RUN_NOT_FOUND'],
    summary: 'Get a run with its tasks and outputs',
  },
  deleteRun: {
    method: 'DELETE',
    path: '/api/runs/{runId}',
    response: null,
    status: 204,
    scope: 'runs:control',
    errors: ['RUN_NOT_FOUND', 'NOT_CONFIRMED'],
    summary: 'Delete a run and its events; an active run is cancelled first',
  },
  createThread: {
    method: 'POST',
    path: '/api/threads',
    body: CreateThreadBody,
    bodyOptional: true,
    response: Thread,
    status: 201,
    others: [{ status: 200, response: Thread, meaning: 'An earlier request created the thread' }],
    scope: 'runs:write',
    errors: ['THREAD_EXISTS'],
    summary: 'Create a thread, to which runs can then be submitted',
  },
  listThreads: {
    method: 'GET',
    path: '/api/threads',
    query: ListThreadsQuery,
    response: ThreadList,
    status: 200,
    scope: 'runs:read',
    errors: [],
    summary: 'List threads, the one with the newest submission first',
  },
  getThread: {
    method: 'GET',
    path: '/api/threads/{threadId}',
    response: Thread,
    status: 200,
    scope: 'runs:read',
    errors: ['THREAD_NOT_FOUND'],
    summary: 'Get a thread',
  },
  deleteThread: {
    method: 'DELETE',
    path: '/api/threads/{threadId}',
    response: null,
    status: 204,
    scope: 'runs:control',
    errors: ['THREAD_NOT_FOUND', 'THREAD_BUSY', 'NOT_CONFIRMED'],
    summary: 'Delete a thread with its runs; an active run is cancelled first',
  },
  listThreadRuns: {
    method: 'GET',
    path: '/api/threads/{threadId}/runs',
    query: ThreadRunsQuery,
    response: ThreadRunList,
    status: 200,
    scope: 'runs:read',
    errors: ['THREAD_NOT_FOUND'],
    summary: 'List the runs of a thread as messages, newest first',
  },
  createSchedule: {
    method: 'POST',
    path: '/api/schedules',
    body: CreateScheduleBody,
    response: ScheduleDetail,
    status: 201,
    scope: 'runs:write',
    errors: ['INVALID_WEBHOOK', 'SCHEDULE_EXISTS', 'SCHEDULE_LIMIT'],
    summary: 'Create a schedule, which submits a run at each tick',
  },
  listSchedules: {
    method: 'GET',
    path: '/api/schedules',
    response: ScheduleList,
    status: 200,
    scope: 'runs:read',
    errors: [],
    summary: 'List all schedules, by name',
  },
  getSchedule: {
    method: 'GET',
    path: '/api/schedules/{name}',
    query: ScheduleQuery,
    response: ScheduleDetail,
    status: 200,
    scope: 'runs:read',
    errors: ['SCHEDULE_NOT_FOUND'],
    summary: 'Get a schedule with its next ticks',
  },
  replaceSchedule: {
    method: 'POST',
    path: '/api/schedules/{name}',
    body: ReplaceScheduleBody,
    response: ScheduleDetail,
    status: 200,
    scope: 'runs:control',
    errors: ['INVALID_WEBHOOK', 'SCHEDULE_NOT_FOUND', 'SCHEDULE_READ_ONLY'],
    summary: 'Replace the definition of a schedule; its runs then belong to the caller',
  },
  deleteSchedule: {
    method: 'DELETE',
    path: '/api/schedules/{name}',
    response: null,
    status: 204,
    scope: 'runs:control',
    errors: ['SCHEDULE_NOT_FOUND', 'SCHEDULE_READ_ONLY'],
    summary: 'Delete a schedule; its runs remain',
  },
  pauseSchedule: {
    method: 'POST',
    path: '/api/schedules/{name}/pause',
    response: ScheduleDetail,
    status: 200,
    scope: 'runs:control',
    errors: ['SCHEDULE_NOT_FOUND', 'SCHEDULE_READ_ONLY'],
    summary: 'Pause a schedule: it has no ticks until it is resumed',
  },
  resumeSchedule: {
    method: 'POST',
    path: '/api/schedules/{name}/resume',
    response: ScheduleDetail,
    status: 200,
    scope: 'runs:control',
    errors: ['SCHEDULE_NOT_FOUND', 'SCHEDULE_READ_ONLY'],
    summary: 'Resume a schedule at its next tick',
  },
  runSchedule: {
    method: 'POST',
    path: '/api/schedules/{name}/run',
    response: RunAccepted,
    status: 202,
    scope: 'runs:write',
    errors: [
      'SCHEDULE_NOT_FOUND',
      'INVALID_ENSEMBLE',
      'IDEMPOTENCY_CONFLICT',
      'CONCURRENCY_LIMIT',
      'SPEND_LIMIT',
      'DRAINING',
    ],
    summary: 'Submit a run of a schedule now; its ticks are not affected',
  },
  ...COMMAND_ROUTES,
  cancelRuns: {
    method: 'POST',
    path: '/api/runs/cancel',
    body: CancelRunsBody,
    response: RunsCancelled,
    status: 200,
    scope: 'runs:control',
    errors: [],
    summary: 'Cancel every run that has a tag',
  },
  forkRun: {
    method: 'POST',
    path: '/api/runs/{runId}/fork',
    body: ForkRunBody,
    response: RunAccepted,
    status: 202,
    others: [
      { status: 200, response: ForkPreview, meaning: 'With `preview`: what the fork would do' },
    ],
    scope: 'runs:write',
    errors: [
      'RUN_NOT_FOUND',
      'INVALID_TOOL',
      'INVALID_MODEL',
      'INVALID_TASK_OVERRIDE',
      'INVALID_ENSEMBLE',
      'INVALID_WEBHOOK',
      'RUN_EXISTS',
      'SIDE_EFFECTS',
      'STEPS_NOT_RETAINED',
      'IDEMPOTENCY_CONFLICT',
      'CONCURRENCY_LIMIT',
      'SPEND_LIMIT',
      'NOT_CONFIGURED',
      'DRAINING',
    ],
    summary: 'Submit a run that begins with the events and results of another one',
  },
  replayRun: {
    method: 'POST',
    path: '/api/runs/{runId}/replay',
    body: ReplayRunBody,
    response: RunAccepted,
    status: 202,
    scope: 'runs:write',
    errors: [
      'RUN_NOT_FOUND',
      'INVALID_TOOL',
      'INVALID_MODEL',
      'INVALID_TASK_OVERRIDE',
      'INVALID_ENSEMBLE',
      'INVALID_WEBHOOK',
      'RUN_EXISTS',
      'RUN_NOT_REPLAYABLE',
      'STEPS_NOT_RETAINED',
      'IDEMPOTENCY_CONFLICT',
      'CONCURRENCY_LIMIT',
      'SPEND_LIMIT',
      'NOT_CONFIGURED',
      'DRAINING',
    ],
    summary: 'Submit a run that executes another one again with its recorded results',
  },
  migrateRun: {
    method: 'POST',
    path: '/api/runs/{runId}/migrate',
    body: MigrateRunBody,
    response: RunMigrated,
    status: 200,
    scope: 'runs:control',
    errors: ['RUN_NOT_FOUND', 'RUN_COMPLETED'],
    summary: 'Move a run that waits to the code of another build, or show the differences',
  },
  listBuilds: {
    method: 'GET',
    path: '/api/builds',
    response: BuildList,
    status: 200,
    scope: 'runs:read',
    errors: [],
    summary: 'List the builds that have started, newest first',
  },
  setBuildShare: {
    method: 'POST',
    path: '/api/builds/{build}/share',
    body: SetBuildShareBody,
    response: BuildShareSet,
    status: 200,
    scope: 'admin',
    errors: ['BUILD_NOT_FOUND'],
    summary: 'Set the percentage of new runs that a build gets',
  },
  getRunTrace: {
    method: 'GET',
    path: '/api/runs/{runId}/trace',
    response: ExecutionTrace,
    status: 200,
    scope: 'runs:read',
    errors: ['RUN_NOT_FOUND'],
    summary: 'Get the trace of a run in the format of AgentEnsemble',
  },
  getRunDag: {
    method: 'GET',
    path: '/api/runs/{runId}/dag',
    response: DagModel,
    status: 200,
    scope: 'runs:read',
    errors: ['RUN_NOT_FOUND'],
    summary: 'Get the task graph of a run in the format of AgentEnsemble',
  },
  streamRunEvents: {
    method: 'GET',
    path: '/api/runs/{runId}/events',
    query: RunEventsQuery,
    response: StreamedRunEvent,
    mediaType: 'text/event-stream',
    status: 200,
    others: [
      {
        status: 204,
        response: null,
        meaning: 'The run has ended and the reader has all events; do not reconnect',
      },
    ],
    scope: 'runs:read',
    takesTicket: true,
    errors: ['RUN_NOT_FOUND', 'CURSOR_PAST_END'],
    summary: 'Stream the events of a run as server-sent events, from any position',
  },
  listReviews: {
    method: 'GET',
    path: '/api/reviews',
    query: ListReviewsQuery,
    response: ReviewList,
    status: 200,
    scope: 'runs:read',
    errors: ['RUN_NOT_FOUND'],
    summary: 'List the reviews that wait for a decision',
  },
  sendEvent: {
    method: 'POST',
    path: '/api/events/{name}',
    body: SendEventBody,
    bodyOptional: true,
    response: EventReceived,
    status: 202,
    scope: 'events:send',
    errors: [
      'RUN_NOT_FOUND',
      'RUN_COMPLETED',
      'IDEMPOTENCY_CONFLICT',
      'EVENT_REFUSED',
      'EVENTS_FULL',
    ],
    summary:
      'Send an external event to the wait that opened first for its name and key, or store it for one',
  },
  createEventLink: {
    method: 'POST',
    path: '/api/events/{name}/links',
    body: EventLinkBody,
    bodyOptional: true,
    response: EventLink,
    status: 201,
    scope: 'events:send',
    errors: ['RUN_NOT_FOUND', 'RUN_COMPLETED'],
    summary: 'Create a link with which a caller without a key sends one external event',
  },
  sendLinkedEvent: {
    method: 'POST',
    path: '/api/event-links/{token}',
    body: LinkedEventData,
    bodyOptional: true,
    response: LinkedEventReceived,
    status: 202,
    scope: null,
    errors: [
      'NOT_FOUND',
      'RUN_NOT_FOUND',
      'RUN_COMPLETED',
      'IDEMPOTENCY_CONFLICT',
      'EVENT_REFUSED',
      'EVENTS_FULL',
    ],
    summary: 'Send the external event of a link',
  },
  getCapabilities: {
    method: 'GET',
    path: '/api/capabilities',
    response: Capabilities,
    status: 200,
    scope: 'runs:read',
    errors: [],
    summary: 'List the tools, models, ensembles and shared capabilities',
  },
  invokeTool: {
    method: 'POST',
    path: '/api/tools/{name}/invoke',
    body: InvokeToolBody,
    response: ToolInvocation,
    status: 200,
    scope: 'tools:invoke',
    errors: ['TOOL_NOT_FOUND', 'TOOL_EXECUTION_FAILED', 'CONCURRENCY_LIMIT', 'NOT_CONFIGURED'],
    summary: 'Call a tool; a failure that it reports is 200 with status FAILED',
  },
  createTicket: {
    method: 'POST',
    path: '/api/tickets',
    response: Ticket,
    status: 201,
    scope: 'runs:read',
    errors: ['NOT_CONFIGURED'],
    summary: 'Create a ticket, which browsers send instead of a key',
  },
  getIdentity: {
    method: 'GET',
    path: '/api/me',
    response: Identity,
    status: 200,
    scope: 'runs:read',
    errors: [],
    summary: 'Get the name, scopes and roles of the key in the request',
  },
  listAudit: {
    method: 'GET',
    path: '/api/audit',
    query: AuditQuery,
    response: AuditList,
    status: 200,
    scope: 'admin',
    errors: [],
    summary: 'List the entries of the audit log, newest first',
  },
  getOpenApi: {
    method: 'GET',
    path: '/openapi.json',
    response: JsonObject,
    status: 200,
    others: NOT_CHANGED,
    scope: null,
    errors: [],
    summary: 'Get the OpenAPI 3.1 document of this API',
  },
  getAsyncApi: {
    method: 'GET',
    path: '/asyncapi.json',
    response: JsonObject,
    status: 200,
    others: NOT_CHANGED,
    scope: null,
    errors: [],
    summary: 'Get the AsyncAPI 3.0 document of the WebSocket API',
  },
  getDocs: {
    method: 'GET',
    path: '/docs',
    response: null,
    mediaType: 'text/html',
    status: 200,
    others: NOT_CHANGED,
    scope: null,
    errors: [],
    summary: 'Get the API reference as a web page',
  },
  getDocsScript: {
    method: 'GET',
    path: '/docs/reference.js',
    response: null,
    mediaType: 'text/javascript',
    status: 200,
    others: NOT_CHANGED,
    scope: null,
    errors: ['NOT_FOUND'],
    summary: 'Get the script of the API reference page',
  },
  openSocket: {
    method: 'GET',
    path: '/ws',
    query: SocketQuery,
    response: null,
    status: 101,
    scope: 'runs:read',
    takesTicket: true,
    errors: [],
    summary: 'Open a WebSocket to all runs',
  },
  openRunSocket: {
    method: 'GET',
    path: '/runs/{runId}/ws',
    query: SocketQuery,
    response: null,
    status: 101,
    scope: 'runs:read',
    takesTicket: true,
    errors: ['RUN_NOT_FOUND'],
    summary: 'Open a WebSocket to one run',
  },
  listRunWorkspaceFiles: {
    method: 'GET',
    path: '/runs/{runId}/api/workspace/files',
    query: WorkspaceFilesQuery,
    response: WorkspaceFiles,
    status: 200,
    scope: 'runs:read',
    errors: ['RUN_NOT_FOUND', 'NOT_FOUND', 'NOT_CONFIGURED'],
    summary: 'List a directory of the workspace, relative to the URL of a run socket',
  },
  readRunWorkspaceFile: {
    method: 'GET',
    path: '/runs/{runId}/api/workspace/file',
    query: WorkspaceFileQuery,
    response: null,
    mediaType: 'text/plain',
    status: 200,
    scope: 'runs:read',
    errors: ['RUN_NOT_FOUND', 'NOT_FOUND', 'NOT_CONFIGURED'],
    summary: 'Read a text file of the workspace, relative to the URL of a run socket',
  },
} as const satisfies Record<string, Route>

/** Name of a route in `ROUTES`, such as `submitRun`. */
export type RouteName = keyof typeof ROUTES

/** Path parameters of a route: `{ runId: string }` for `/api/runs/{runId}`. */
export type RouteParams<N extends RouteName> = Record<
  PathParameter<(typeof ROUTES)[N]['path']>,
  string
>

type PathParameter<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParameter<Rest>
  : never

/**
 * Returns the path of a route with its parameters filled in and URL-encoded.
 *
 * @throws {TypeError} when a parameter is missing, empty, `.` or `..`, because the path would name another route.
 */
export function routePath<N extends RouteName>(
  name: N,
  ...[params]: PathParameter<(typeof ROUTES)[N]['path']> extends never ? [] : [RouteParams<N>]
): string {
  return fillPath(ROUTES[name].path, params ?? {}, name)
}

/**
 * Returns the path of a command's route for a target: the id of a run or a review.
 *
 * @throws {TypeError} as {@link routePath}.
 */
export function commandPath(kind: RunCommandKind, id: string): string {
  const { route, routeName, target } = COMMANDS[kind]
  return fillPath(route.path, { [target]: id }, routeName)
}

function fillPath(path: string, values: Readonly<Record<string, string>>, route: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) =>
    encodeSegment(values[parameter], parameter, route),
  )
}

function encodeSegment(value: string | undefined, parameter: string, route: string): string {
  // A URL parser removes `.` and `..` even when they are percent-encoded.
  if (value === undefined || value === '' || value === '.' || value === '..') {
    throw new TypeError(
      `Cannot build the path of "${route}": ${parameter} must be a path segment, got ${JSON.stringify(value) ?? 'nothing'}`,
    )
  }
  return encodeURIComponent(value)
}
