/** What is to say of single routes that the table of routes does not hold: their headers, and more words. */
import type { ApiResponse, Header, Parameter } from './open-api-types.ts'
import type { Route, RouteName } from '@tutti/protocol'

const IDEMPOTENCY_KEY: Parameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'What you call this submission. Sent again with the same body it gives the same run, with another body IDEMPOTENCY_CONFLICT.',
  schema: { type: 'string', pattern: '^[!-~]{1,255}$' },
}

const LAST_EVENT_ID: Parameter = {
  name: 'Last-Event-ID',
  in: 'header',
  required: false,
  description: 'Id of the last event that you have; the stream goes on after it.',
  schema: { type: 'string' },
}

const IF_NONE_MATCH: Parameter = {
  name: 'If-None-Match',
  in: 'header',
  required: false,
  description: 'The `ETag` of the copy that you have.',
  schema: { type: 'string' },
}

const LOCATION: Header = {
  description: 'Path of the run',
  required: true,
  schema: { type: 'string' },
}

const ETAG: Header = {
  description: 'Changes when the document does',
  required: true,
  schema: { type: 'string' },
}

const REQUEST_HEADERS: Readonly<Partial<Record<RouteName, readonly Parameter[]>>> = {
  submitRun: [IDEMPOTENCY_KEY],
  streamRunEvents: [LAST_EVENT_ID],
  getOpenApi: [IF_NONE_MATCH],
  getAsyncApi: [IF_NONE_MATCH],
  getDocs: [IF_NONE_MATCH],
  getDocsScript: [IF_NONE_MATCH],
}

const RESPONSE_HEADERS: Readonly<Partial<Record<RouteName, Readonly<Record<string, Header>>>>> = {
  submitRun: { Location: LOCATION },
  getOpenApi: { ETag: ETAG },
  getAsyncApi: { ETag: ETAG },
  getDocs: { ETag: ETAG },
  getDocsScript: { ETag: ETAG },
}

const NOTES: Readonly<Partial<Record<RouteName, string>>> = {
  submitRun:
    'Three levels: inputs for an ensemble as it is, overrides of its tasks, or tasks of your own. The run goes on when you leave; follow it at `/api/runs/{runId}/events`.',
  listRuns:
    'The answer is one page; `total` counts every run that matches. `status` takes several with commas between them. `q` finds runs whose id begins with it, or one of whose tags or inputs has it in its value, in any case.',
  streamRunEvents:
    'Begins with what has happened and goes on live, with no gap and no repetition. `from` counts from the end when it is negative; `Last-Event-ID` comes before it.',
  decideReview: 'REJECT has the task done again with your feedback; EDIT needs `revisedOutput`.',
  getMetrics:
    'The text format 0.0.4. A reader that takes `application/openmetrics-text` gets OpenMetrics 1.0.0. Prometheus sends a key as `authorization: { credentials: … }`.',
  openSocket: 'Messages go both ways; they are described in `/asyncapi.json`.',
  openRunSocket: 'Messages go both ways; they are described in `/asyncapi.json`.',
  createTicket:
    'A ticket can do what the key can that it was made with, for a short time, in the query `ticket`.',
}

/** Headers that a route reads. */
export function requestHeaders(name: RouteName): readonly Parameter[] {
  return REQUEST_HEADERS[name] ?? []
}

/** Headers of an answer that is no error. */
export function responseHeaders(name: RouteName): Pick<ApiResponse, 'headers'> {
  const headers = RESPONSE_HEADERS[name]
  return headers === undefined ? {} : { headers }
}

/** What a route does beyond its summary, and what a key needs for it. */
export function describeRoute(name: RouteName, { scope }: Route): string {
  const needs = scope === null ? 'Needs no key.' : `Needs a key with the scope \`${scope}\`.`
  return [NOTES[name], needs].filter((words) => words !== undefined).join('\n\n')
}
