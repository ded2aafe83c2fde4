/** Pure: reads requests and formats answers of JSON-RPC 2.0. @see https://www.jsonrpc.org/specification */
import { previewOf } from '@tutti/protocol/internal'

import { A2aError } from './errors.ts'
import { isParams, type Params } from './params.ts'

import type { ErrorAnswer } from './errors.ts'

/** Id of a request, which its answer repeats; null when it cannot be read. */
export type JsonRpcId = string | number | null

/** A JSON-RPC request. */
export interface RpcRequest {
  readonly id: JsonRpcId
  readonly method: string
  readonly params: unknown
}

/** Maximum length of an id: every answer repeats it. */
export const MAX_RPC_ID_LENGTH = 255

/** Returns the id of a request; null when it has none, or one that is too long. */
export function readRpcId(sent: unknown): JsonRpcId {
  const id = isParams(sent) ? sent['id'] : undefined
  if (typeof id === 'string') return id.length <= MAX_RPC_ID_LENGTH ? id : null
  return typeof id === 'number' ? id : null
}

/**
 * Reads the request in a parsed body; `assertAnswerable` checks that it has an id.
 *
 * @throws {A2aError} INVALID_REQUEST naming every problem.
 */
export function rpcRequest(sent: unknown): RpcRequest {
  if (Array.isArray(sent)) throw invalid(['must be a single request: batches are not supported'])
  if (!isParams(sent)) throw invalid([`must be an object, got ${preview(sent)}`])
  const { jsonrpc, method, id, params } = sent
  const isId = ['string', 'number', 'undefined'].includes(typeof id) || id === null
  const problems = [
    ...(jsonrpc === '2.0' ? [] : [`jsonrpc must be "2.0", got ${preview(jsonrpc)}`]),
    ...(typeof method === 'string' && method !== ''
      ? []
      : [`method must be a non-empty string, got ${preview(method)}`]),
    ...(isId ? [] : [`id must be a string or a number, got ${preview(id)}`]),
    ...(typeof id === 'string' && id.length > MAX_RPC_ID_LENGTH
      ? [`id must have at most ${MAX_RPC_ID_LENGTH} characters, got ${id.length}`]
      : []),
  ]
  if (problems.length > 0) throw invalid(problems)
  return { id: readRpcId(sent), method: String(method), params }
}

/**
 * Rejects a request without an id: it would be a notification, and every method of A2A has an answer.
 *
 * @throws {A2aError} INVALID_REQUEST when there is no id.
 */
export function assertAnswerable(sent: unknown): void {
  if (isParams(sent) && sent['id'] !== undefined) return
  throw invalid(['id must be a string or a number, got nothing'])
}

/**
 * Returns the parameters of a request as an object, which is empty when they are absent.
 *
 * @throws {A2aError} INVALID_PARAMS when they are not an object.
 */
export function rpcParams(params: unknown): Params {
  if (params === undefined) return {}
  if (isParams(params)) return params
  throw new A2aError('INVALID_PARAMS', `params must be an object, got ${preview(params)}`)
}

/** Returns an answer with a result. */
export function rpcResult(id: JsonRpcId, result: unknown): object {
  return { jsonrpc: '2.0', id, result }
}

/** Returns an answer with an error. */
export function rpcError(id: JsonRpcId, { rpcCode, message, details }: ErrorAnswer): object {
  return { jsonrpc: '2.0', id, error: { code: rpcCode, message, data: details } }
}

function invalid(problems: readonly string[]): A2aError {
  return new A2aError('INVALID_REQUEST', `Invalid request: ${problems.join('; ')}`)
}

function preview(value: unknown): string {
  return value === undefined ? 'nothing' : previewOf(value)
}
