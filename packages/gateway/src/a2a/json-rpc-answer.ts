/**
 * Answers requests over JSON-RPC.
 *
 *   media type ─▶ JSON ─▶ request ─▶ version ─▶ method ─▶ parameters ─▶ operation ─▶ answer or stream
 *
 * GW-J1 Errors of A2A and JSON-RPC are answered with 200, because the HTTP request succeeded. Internal errors and
 *    temporary refusals have the status that they have on every route.
 * GW-J2 An answer has the id of its request, if that can be read.
 * GW-J3 The name of a method determines the version of its answer; its parameters may be of any version.
 * GW-J4 A request without an id is not performed. An unknown method is reported first; for methods of 0.3, invalid
 *    parameters are too, as its test kit expects.
 * GW-J5 Errors of the streaming methods of 0.3 are sent as the only message of a stream, as 0.3 requires. Methods
 *    of 1.0 answer with JSON.
 */
import { largeJson } from '../http/large-json.ts'
import { STREAM_HEADERS } from '../http/event-stream.ts'
import { A2A_ERRORS, A2aError, errorAnswer, type ErrorAnswer } from './errors.ts'
import {
  assertAnswerable,
  rpcError,
  readRpcId,
  rpcParams,
  rpcRequest,
  rpcResult,
  type JsonRpcId,
} from './json-rpc.ts'
import { toLegacyItem, toLegacyTask } from './legacy.ts'
import { findMethod, type Method } from './methods.ts'
import { readVersion, readRequest } from './read-request.ts'
import { streamTask } from './stream-task.ts'

import type { A2aCall } from './agent.ts'
import type { RouteAnswer } from '../http/route.ts'
import type { OperationOutcome } from './operations.ts'

/** Answers one request. */
export async function answerJsonRpc(request: Request, a2aCall: A2aCall): Promise<RouteAnswer> {
  const { headers, service } = a2aCall
  const { options } = service
  let id: JsonRpcId = null
  let method: Method | undefined
  try {
    const sent = await readJson(request, options.maxBodyBytes)
    id = readRpcId(sent)
    const { method: name, params } = rpcRequest(sent)
    readVersion(headers, ['1.0', '0.3'])
    method = findMethod(name)
    const given = rpcParams(params)
    if (method.version === '0.3' && id === null) method.assertParams(given)
    assertAnswerable(sent)
    const outcome = await method.operation(given, a2aCall)
    if (outcome.kind === 'stream') {
      const { stream } = outcome
      const isLegacy = method.version === '0.3'
      return streamTask(stream, options, {
        item: (item) =>
          rpcResult(id, isLegacy ? toLegacyItem(item, (state) => stream.endsWith(state)) : item),
        error: (error) => rpcError(id, error),
      })
    }
    const answer = await largeJson(rpcResult(id, toMethodResult(outcome, method)))
    return new Response(answer, { headers: JSON_HEADERS })
  } catch (error) {
    const answer = errorAnswer(error, options)
    const status = chooseStatus(answer)
    const body = JSON.stringify(rpcError(id, answer))
    const isStream = method?.isStreaming === true && method.version === '0.3' && status === 200
    return isStream
      ? new Response(`data: ${body}\n\n`, { headers: { ...STREAM_HEADERS, ...answer.headers } })
      : new Response(body, { status, headers: { ...JSON_HEADERS, ...answer.headers } })
  }
}

const JSON_HEADERS = { 'content-type': 'application/json' }

async function readJson(request: Request, maxBodyBytes: number): Promise<unknown> {
  const parsed = await readRequest(request, maxBodyBytes)
  if (parsed?.ok === true) return parsed.value
  const why = parsed === undefined ? 'it has no body' : `the body ${parsed.problem.message}`
  throw new A2aError('PARSE_ERROR', `Cannot read the request: ${why}`)
}

const A2A_CODES: ReadonlySet<number> = new Set(
  Object.values(A2A_ERRORS).map(({ rpcCode }) => rpcCode),
)

function chooseStatus({ rpcCode, httpStatus }: ErrorAnswer): number {
  return A2A_CODES.has(rpcCode) ? 200 : httpStatus
}

type SingleOutcome = Exclude<OperationOutcome, { kind: 'stream' }>

function toMethodResult(outcome: SingleOutcome, { version }: Method): unknown {
  const isLegacy = version === '0.3'
  switch (outcome.kind) {
    case 'sent':
      return isLegacy ? toLegacyTask(outcome.task) : { task: outcome.task }
    case 'task':
      return isLegacy ? toLegacyTask(outcome.task) : outcome.task
    case 'page': {
      const { tasks, ...page } = outcome.page
      return isLegacy ? { tasks: tasks.map(toLegacyTask), ...page } : outcome.page
    }
  }
}
