/**
 * Answers requests over REST, the binding HTTP+JSON of A2A 1.0.
 *
 * R1 The address says the operation; its parameters are in the address, the query and the body.
 * R2 Errors are objects as in AIP-193, with the status that A2A gives them.
 * R3 A request that names no version is one of 1.0: what 0.3 had at these addresses is not spoken.
 */
import { Type, type TObject } from '@tutti/core'

import { largeJson } from '../http/large-json.ts'
import { A2aError, invalidParams } from './a2a-error.ts'
import { GetTaskParams, ListTasksParams } from './a2a-wire.ts'
import { errorAnswer, type ErrorAnswer } from './error-answer.ts'
import { isObject, type Params } from './modern-params.ts'
import { OPERATIONS, type Outcome, type OperationName } from './operations.ts'
import { protocolVersion } from './protocol-version.ts'
import { readRequest } from './read-request.ts'
import { STREAM_HEADERS, updateStream } from './update-stream.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { Asker } from './asker.ts'

/** What an address stands for. */
export interface RestCall {
  readonly operation: OperationName
  /** The parameters that are in the address. */
  readonly params: Params
}

/** The media type of answers. @see https://a2a-protocol.org/latest/specification/ section 11.1 */
const MEDIA_TYPE = 'application/a2a+json'

/** The answer to one request; `call` is undefined at an address that stands for nothing. */
export async function answerRest(
  request: Request,
  call: RestCall | undefined,
  asker: Asker,
): Promise<Response> {
  const { options } = asker
  try {
    protocolVersion(asker.headers, ['1.0'])
    if (call === undefined) throw new A2aError('METHOD_NOT_FOUND', nothingAt(request))
    const body = request.method === 'GET' ? {} : await bodyOf(request, options.maxBodyBytes)
    const params = { ...queryOf(request.url, call.operation), ...body, ...call.params }
    const outcome = await OPERATIONS[call.operation](params, asker)
    if (outcome.kind === 'stream') return streamed(outcome, options)
    const answer = await largeJson(bodyFor(outcome))
    return new Response(answer, { headers: { 'content-type': MEDIA_TYPE } })
  } catch (error) {
    const answer = errorAnswer(error, options)
    return Response.json(errorBody(answer), { status: answer.httpStatus, headers: answer.headers })
  }
}

function nothingAt({ method, url }: Request): string {
  return `There is nothing at ${method} ${new URL(url).pathname}`
}

async function bodyOf(request: Request, maxBodyBytes: number): Promise<Params> {
  const parsed = await readRequest(request, maxBodyBytes)
  if (parsed === undefined) return {}
  if (!parsed.ok) {
    throw new A2aError('PARSE_ERROR', `Cannot read the request: the body ${parsed.problem.message}`)
  }
  if (isObject(parsed.value)) return parsed.value
  throw invalidParams([{ path: '', message: 'must be an object' }])
}

/** Operations that have parameters in the query. */
const QUERIES: Partial<Record<OperationName, TObject>> = {
  GetTask: GetTaskParams,
  ListTasks: ListTasksParams,
}

/** The query, with numbers and yes or no where the operation takes them. */
function queryOf(url: string, operation: OperationName): Params {
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

type Whole = Exclude<Outcome, { kind: 'stream' }>

function bodyFor(outcome: Whole): object {
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
function errorBody({ httpStatus: code, status, message, details }: ErrorAnswer): object {
  return { error: { code, status, message, details } }
}

function streamed(
  { items, stop }: Extract<Outcome, { kind: 'stream' }>,
  options: GatewayOptions,
): Response {
  const { clock, heartbeatMs } = options
  const body = updateStream({ messages: messages(items, options), stop, clock, heartbeatMs })
  return new Response(body, { headers: STREAM_HEADERS })
}

async function* messages(
  items: Extract<Outcome, { kind: 'stream' }>['items'],
  options: GatewayOptions,
): AsyncGenerator<string> {
  try {
    for await (const item of items) yield JSON.stringify(item)
  } catch (error) {
    yield JSON.stringify(errorBody(errorAnswer(error, options)))
  }
}
