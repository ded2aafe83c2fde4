/**
 * Every address of the control API, in one table: the server mounts it, the client calls it, OpenAPI
 * is made from it.
 *
 * Sources: control API seed §2.1 and §4, AgentEnsemble REST. A list of errors holds the codes that
 * belong to the address; `COMMON_ERRORS` can come from any of them.
 */
import type Type from 'typebox'
import type { ErrorCode } from './error-codes.ts'
import type { Scope } from './schemas/enums.ts'
import { Capabilities } from './schemas/rest/capabilities.ts'
import {
  ListReviewsQuery,
  ReviewDecisionApplied,
  ReviewDecisionBody,
  ReviewList,
} from './schemas/rest/reviews.ts'
import {
  CancelAccepted,
  CancelBody,
  CancelRunsBody,
  InjectAccepted,
  InjectBody,
  ModelSwitched,
  RunsCancelled,
  SwitchModelBody,
} from './schemas/rest/run-control.ts'
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
import { RunAccepted, SubmitRunBody, SubmitRunQuery } from './schemas/rest/submit-run.ts'
import { InvokeToolBody, ToolInvocation } from './schemas/rest/tools.ts'
import { LoggedRunEvent } from './schemas/run-event.ts'
import { JsonObject } from './schemas/scalars.ts'
import { DagModel } from './schemas/trace/dag-model.ts'
import { ExecutionTrace } from './schemas/trace/execution-trace.ts'

/** One address: what it takes, what it gives, and what it can refuse with. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE'
  /** Path with its parameters in braces. */
  readonly path: string
  /** Schema of the JSON body. */
  readonly body?: Type.TSchema
  /** True when the body may be left out; an empty object then. */
  readonly bodyOptional?: true
  /** Schema of the query, after numbers were made numbers. */
  readonly query?: Type.TSchema
  /** Schema of the body on success; of one event for a stream; null for none. */
  readonly response: Type.TSchema | null
  /** Media type of the answer on success. */
  readonly mediaType?: 'text/event-stream' | 'text/plain' | 'text/html' | 'text/javascript'
  /** HTTP status on success. */
  readonly status: number
  /** Answers that are no errors, beside the one above. */
  readonly others?: readonly OtherAnswer[]
  /** What a key must be allowed to do; null when nobody is asked for a key. */
  readonly scope: Scope | null
  /** True where a browser may show a ticket in the query in place of a key. */
  readonly takesTicket?: true
  readonly errors: readonly ErrorCode[]
  readonly summary: string
}

/** An answer that is no error and not the usual one. */
export interface OtherAnswer {
  readonly status: number
  /** Schema of its body; null for none. */
  readonly response: Type.TSchema | null
  readonly meaning: string
}

/** Codes that any address can answer with. */
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
  'STORE_UNAVAILABLE',
] as const satisfies readonly ErrorCode[]

/** Documents are kept by their readers, who ask whether theirs is still the one. */
const NOT_CHANGED = [
  { status: 304, response: null, meaning: 'The copy named by `If-None-Match` is still the one' },
] as const satisfies readonly OtherAnswer[]

/** Name of a route → the route. */
export const ROUTES = {
  getStatus: {
    method: 'GET',
    path: '/api/status',
    response: ServerStatus,
    status: 200,
    scope: 'runs:read',
    errors: [],
    summary: 'Say how the server is',
  },
  getLiveness: {
    method: 'GET',
    path: '/api/health/live',
    response: Liveness,
    status: 200,
    scope: null,
    errors: [],
    summary: 'Say that the process is alive',
  },
  getReadiness: {
    method: 'GET',
    path: '/api/health/ready',
    response: Readiness,
    status: 200,
    others: [{ status: 503, response: Readiness, meaning: 'No runs are taken at this moment' }],
    scope: null,
    errors: [],
    summary: 'Say whether runs are taken: 200 when READY, 503 with the same body when not',
  },
  getMetrics: {
    method: 'GET',
    path: '/metrics',
    response: null,
    mediaType: 'text/plain',
    status: 200,
    scope: 'runs:read',
    errors: [],
    summary: 'Read the metrics of the process in the text format of Prometheus',
  },
  drain: {
    method: 'POST',
    path: '/api/lifecycle/drain',
    response: DrainAccepted,
    status: 200,
    scope: 'admin',
    errors: ['NOT_CONFIGURED'],
    summary: 'Take no new runs, end or hand over the running ones, then stop',
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
    summary: 'Read a text file of the workspace, at most 1 MiB',
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
        meaning: 'The run, which has ended within the time of `wait`',
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
      'IDEMPOTENCY_CONFLICT',
      'CONCURRENCY_LIMIT',
      'SPEND_LIMIT',
      'NOT_CONFIGURED',
      'DRAINING',
    ],
    summary: 'Submit a run of an ensemble, with overrides, or of tasks of its own',
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
  getRun: {
    method: 'GET',
    path: '/api/runs/{runId}',
    response: RunDetail,
    status: 200,
    scope: 'runs:read',
    errors: ['RUN_NOT_FOUND'],
    summary: 'Get one run with its tasks and outputs',
  },
  deleteRun: {
    method: 'DELETE',
    path: '/api/runs/{runId}',
    response: null,
    status: 204,
    scope: 'runs:control',
    errors: ['RUN_NOT_FOUND', 'NOT_CONFIRMED'],
    summary: 'Remove a run and its events; an active one is cancelled first',
  },
  cancelRun: {
    method: 'POST',
    path: '/api/runs/{runId}/cancel',
    body: CancelBody,
    bodyOptional: true,
    response: CancelAccepted,
    status: 200,
    scope: 'runs:control',
    errors: ['RUN_NOT_FOUND', 'RUN_COMPLETED'],
    summary: 'Cancel a run; repeating it does no harm',
  },
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
  getRunTrace: {
    method: 'GET',
    path: '/api/runs/{runId}/trace',
    response: ExecutionTrace,
    status: 200,
    scope: 'runs:read',
    errors: ['RUN_NOT_FOUND'],
    summary: "Get the trace of a run, in AgentEnsemble's form",
  },
  getRunDag: {
    method: 'GET',
    path: '/api/runs/{runId}/dag',
    response: DagModel,
    status: 200,
    scope: 'runs:read',
    errors: ['RUN_NOT_FOUND'],
    summary: "Get the task graph of a run, in AgentEnsemble's form",
  },
  switchModel: {
    method: 'POST',
    path: '/api/runs/{runId}/model',
    body: SwitchModelBody,
    response: ModelSwitched,
    status: 200,
    scope: 'runs:control',
    errors: [
      'RUN_NOT_FOUND',
      'RUN_COMPLETED',
      'RUN_NOT_RUNNING',
      'INVALID_MODEL',
      'NOT_CONFIGURED',
      'NOT_CONFIRMED',
    ],
    summary: 'Switch the model of a run, or of one task, from its next model call on',
  },
  injectDirective: {
    method: 'POST',
    path: '/api/runs/{runId}/inject',
    body: InjectBody,
    response: InjectAccepted,
    status: 200,
    scope: 'runs:control',
    errors: ['RUN_NOT_FOUND', 'RUN_COMPLETED', 'RUN_NOT_RUNNING', 'INVALID_MODEL', 'NOT_CONFIRMED'],
    summary:
      'Tell the agents of a run something before their next model call, or set its model tier or profile',
  },
  streamRunEvents: {
    method: 'GET',
    path: '/api/runs/{runId}/events',
    query: RunEventsQuery,
    response: LoggedRunEvent,
    mediaType: 'text/event-stream',
    status: 200,
    others: [
      {
        status: 204,
        response: null,
        meaning: 'The run has ended and the reader has all of it: nothing to come back for',
      },
    ],
    scope: 'runs:read',
    takesTicket: true,
    errors: ['RUN_NOT_FOUND', 'CURSOR_PAST_END'],
    summary: 'Follow the events of a run from any position, as server-sent events',
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
  decideReview: {
    method: 'POST',
    path: '/api/reviews/{reviewId}',
    body: ReviewDecisionBody,
    response: ReviewDecisionApplied,
    status: 200,
    scope: 'reviews:decide',
    errors: ['REVIEW_NOT_FOUND', 'REVIEW_RESOLVED', 'NOT_CONFIRMED'],
    summary: 'Decide a review; the first decision counts',
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
    summary: 'Call one tool by hand; a failure of its own is 200 with status FAILED',
  },
  createTicket: {
    method: 'POST',
    path: '/api/tickets',
    response: Ticket,
    status: 201,
    scope: 'runs:read',
    errors: ['NOT_CONFIGURED'],
    summary: 'Get a ticket that takes the place of the key where a browser cannot send one',
  },
  getIdentity: {
    method: 'GET',
    path: '/api/me',
    response: Identity,
    status: 200,
    scope: 'runs:read',
    errors: [],
    summary: 'Get the name, scopes and roles of the key that the request carries',
  },
  listAudit: {
    method: 'GET',
    path: '/api/audit',
    query: AuditQuery,
    response: AuditList,
    status: 200,
    scope: 'admin',
    errors: [],
    summary: 'List who did what, newest first',
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
    summary: 'Get the AsyncAPI 3.0 document of the WebSocket',
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
    summary: 'Read this API in a browser',
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
    summary: 'Get the script of that page',
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
    summary: 'Open a WebSocket to every run: ClientMessage in, ServerMessage out',
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
    summary: 'Open a WebSocket to one run, for viewers that show one at a time',
  },
  listRunWorkspaceFiles: {
    method: 'GET',
    path: '/runs/{runId}/api/workspace/files',
    query: WorkspaceFilesQuery,
    response: WorkspaceFiles,
    status: 200,
    scope: 'runs:read',
    errors: ['RUN_NOT_FOUND', 'NOT_FOUND', 'NOT_CONFIGURED'],
    summary: 'List a directory of the workspace, under the address of a run socket',
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
    summary: 'Read a text file of the workspace, under the address of a run socket',
  },
} as const satisfies Record<string, Route>

/** Name of a route. */
export type RouteName = keyof typeof ROUTES

/** The path parameters of a route: `{ runId: string }` for `/api/runs/{runId}`. */
export type RouteParams<N extends RouteName> = Record<
  PathParameter<(typeof ROUTES)[N]['path']>,
  string
>

type PathParameter<P extends string> = P extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParameter<Rest>
  : never

/**
 * The path of a route with its parameters filled in and URL-encoded.
 *
 * @throws {TypeError} when a parameter is missing, empty, `.` or `..`: the path would be another one.
 */
export function routePath<N extends RouteName>(
  name: N,
  ...[params]: PathParameter<(typeof ROUTES)[N]['path']> extends never ? [] : [RouteParams<N>]
): string {
  const values: Readonly<Record<string, string>> = params ?? {}
  return ROUTES[name].path.replaceAll(/\{(\w+)\}/g, (_, parameter: string) =>
    encodeSegment(values[parameter], parameter, name),
  )
}

function encodeSegment(value: string | undefined, parameter: string, route: string): string {
  // A URL parser takes `.` and `..` away even when they are percent-encoded.
  if (value === undefined || value === '' || value === '.' || value === '..') {
    throw new TypeError(
      `Cannot build the path of "${route}": ${parameter} must be a path segment, got ${JSON.stringify(value) ?? 'nothing'}`,
    )
  }
  return encodeURIComponent(value)
}
