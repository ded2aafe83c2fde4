/**
 * Answers requests over REST, the HTTP+JSON binding of A2A 1.0.
 *
 * GW-H1 The path determines the operation; its parameters are in the path, the query and the body.
 * GW-H2 Errors are objects of AIP-193, with the status that A2A defines.
 * GW-H3 A request without a version is one of 1.0; the REST binding of 0.3 is not supported.
 */
import { Type } from '@tutti/core'
import type { TObject } from '@tutti/core/internal'

import { largeJson } from '../http/large-json.ts'
import { A2aError, errorAnswer, invalidParams, type ErrorAnswer } from './errors.ts'
import { OPERATIONS, type OperationOutcome, type OperationName } from './operations.ts'
import { isParams, type Params } from './params.ts'
import { readVersion, readRequest } from './read-request.ts'
import { streamTask } from './stream-task.ts'
import { GetTaskParams, ListTasksParams } from './wire.ts'

import type { RouteAnswer } from '../http/route.ts'
import type { A2aCall } from './agent.ts'

/** Operation of a path. */
export interface RestCall {
  readonly operation: OperationName
  /** Parameters in the path. */
  readonly params: Params
}

/** Media type of answers. @see https://a2a-protocol.org/latest/specification/ section 11.1 */
const MEDIA_TYPE = 'application/a2a+json'

/** Answers one request; `call` is undefined for an unknown path. */
export async function answerRest(
  request: Request,
  call: RestCall | undefined,
  a2aCall: A2aCall,
): Promise<RouteAnswer> {
  const { options } = a2aCall.service
  try {
    readVersion(a2aCall.headers, ['1.0'])
    if (call === undefined) throw new A2aError('METHOD_NOT_FOUND', formatNoRoute(request))
    const body = request.method === 'GET' ? {} : await readBody(request, options.maxBodyBytes)
    const params = { ...readQueryParams(request.url, call.operation), ...body, ...call.params }
    const outcome = await OPERATIONS[call.operation](params, a2aCall)
    if (outcome.kind === 'stream') {
      return streamTask(outcome.stream, options, { item: (item) => item, error: toErrorBody })
    }
    const answer = await largeJson(toBody(outcome))
    return new Response(answer, { headers: { 'content-type': MEDIA_TYPE } })
  } catch (error) {
    const answer = errorAnswer(error, options)
    return Response.json(toErrorBody(answer), {
      status: answer.httpStatus,
      headers: answer.headers,
    })
  }
}

function formatNoRoute({ method, url }: Request): string {
  return `No route matches ${method} ${new URL(url).pathname}`
}

async function readBody(request: Request, maxBodyBytes: number): Promise<Params> {
  const parsed = await readRequest(request, maxBodyBytes)
  if (parsed === undefined) return {}
  if (!parsed.ok) {
    throw new A2aError('PARSE_ERROR', `Cannot read the request: the body ${parsed.problem.message}`)
  }
  if (isParams(parsed.value)) return parsed.value
  throw invalidParams([{ path: '', message: 'must be an object' }])
}

/** Operations that have parameters in the query. */
const QUERIES: Partial<Record<OperationName, TObject>> = {
  GetTask: GetTaskParams,
  ListTasks: ListTasksParams,
}

/** Reads the query, with integers and booleans where the operation has them. */
function readQueryParams(url: string, operation: OperationName): Params {
  const schema = QUERIES[operation]
  if (schema === undefined) return {}
  const entries = [...new URL(url).searchParams].map(([key, text]): [string, unknown] => {
    const name = key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
    const field = schema.properties[name]
    if (field === undefined) return [name, text]
    if (Type.IsInteger(field) && /^[+-]?\d{1,15}$/.test(text)) return [name, Number(text)]
    if (Type.IsBoolean(field) && /^(?:true|false)$/.test(text)) return [name, text === 'true']
    return [name, text]
  })
  return Object.fromEntries(entries)
}

type SingleOutcome = Exclude<OperationOutcome, { kind: 'stream' }>

function toBody(outcome: SingleOutcome): object {
  switch (outcome.kind) {
    case 'sent':
      return { task: outcome.task }
    case 'task':
      return outcome.task
    case 'page':
      return outcome.page
  }
}

/** @see https://google.aip.dev/193 */
function toErrorBody({ httpStatus: code, status, message, details }: ErrorAnswer): object {
  return { error: { code, status, message, details } }
}

/**
 * Parses the decoded segments of a path, such as `['tasks', 'run-1:cancel']`; undefined for an unknown path.
 *
 * @see https://github.com/a2aproject/A2A/blob/main/specification/a2a.proto `google.api.http`
 */
export function parseRestPath(method: string, path: readonly string[]): RestCall | undefined {
  const [first = '', second, third, ...rest] = path
  if (rest.length > 1) return undefined
  if (first === 'tasks' && second !== undefined) {
    return third === undefined
      ? parseTaskPath(method, second)
      : parsePushPath(method, { taskId: second, collection: third, id: rest[0] })
  }
  if (second !== undefined) return undefined
  switch (`${method} ${first}`) {
    case 'POST message:send':
      return { operation: 'SendMessage', params: {} }
    case 'POST message:stream':
      return { operation: 'SendStreamingMessage', params: {} }
    case 'GET tasks':
      return { operation: 'ListTasks', params: {} }
    case 'GET extendedAgentCard':
      return { operation: 'GetExtendedAgentCard', params: {} }
    default:
      return undefined
  }
}

/** Parses `{id}`, `{id}:cancel` or `{id}:subscribe`; ids of tasks contain no colon. */
function parseTaskPath(method: string, segment: string): RestCall | undefined {
  const [id = '', verb, ...more] = segment.split(':')
  if (more.length > 0) return undefined
  const params = { id }
  if (verb === undefined) return method === 'GET' ? { operation: 'GetTask', params } : undefined
  // The proto has GET; early clients of 1.0 send POST.
  if (verb === 'subscribe') return { operation: 'SubscribeToTask', params }
  return verb === 'cancel' && method === 'POST' ? { operation: 'CancelTask', params } : undefined
}

interface PushAddress {
  readonly taskId: string
  readonly collection: string
  readonly id: string | undefined
}

function parsePushPath(
  method: string,
  { taskId, collection, id }: PushAddress,
): RestCall | undefined {
  if (collection !== 'pushNotificationConfigs') return undefined
  const operation = PUSH_OPERATIONS[`${method} ${id === undefined ? 'all' : 'one'}`]
  return operation === undefined ? undefined : { operation, params: { taskId } }
}

const PUSH_OPERATIONS: Readonly<Record<string, RestCall['operation']>> = {
  'POST all': 'CreateTaskPushNotificationConfig',
  'GET all': 'ListTaskPushNotificationConfigs',
  'GET one': 'GetTaskPushNotificationConfig',
  'DELETE one': 'DeleteTaskPushNotificationConfig',
}
