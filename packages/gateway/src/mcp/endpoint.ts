/**
 * The endpoint for MCP clients of every era, based on the MCP SDK. This file is loaded at the first request, because
 * the SDK would slow down the start.
 *
 *   body ─▶ era ─┬─ 2026-07-28 ─▶ a server for this request
 *                └─ older ─▶ the server of its session
 *
 * GW-E1 A body is read once, with the same limits as every other body.
 * GW-E2 Each message of a batch counts as a request of its key.
 * GW-E3 A tool call is answered with a stream from the start, so that proxies and clients do not time out. Everything
 *    else is plain JSON.
 * GW-E4 Ids, progress tokens and method names are limited in length, because answers and notifications repeat them.
 *    Errors of the SDK are cut, because they repeat parts of the request.
 */
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server'
import { TuttiError, Type } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'

import { MAX_RPC_ID_LENGTH } from '../a2a/json-rpc.ts'
import { isParams } from '../a2a/params.ts'
import { badRequest } from '../http/api-error.ts'
import { limitMessage, MAX_ERROR_BYTES } from '../http/error-limits.ts'
import { readJsonBody } from '../http/read-body.ts'
import { GatewayService } from '../service/gateway-service.ts'
import { toAuthInfo } from './caller.ts'
import { listTools } from './listed-tools.ts'
import { roundStates } from './round-state.ts'
import { createMcpServer, type McpServerParts } from './server.ts'
import { jsonRpcError, McpSessions } from './sessions.ts'

import type { Caller } from '../caller.ts'
import type { GatewayOptions, Signer } from '../gateway-options.ts'
import type { RunReader } from './resources.ts'

/** Parts that the MCP server needs in addition to the options. */
export interface McpParts {
  /** Signs the state of a call between two rounds. */
  readonly signer: Signer
  readonly reader: RunReader
}

/** Answers one HTTP request of a caller. */
export type AnswerMcp = (request: Request, caller: Caller) => Promise<Response>

/** Maximum number of messages in a batch; MCP has no batches since 2025-06-18. */
const MAX_BATCH = 50

/** Creates the endpoint of a server. */
export function mcpEndpoint(options: GatewayOptions, parts: McpParts): AnswerMcp {
  const { signer, reader } = parts
  const serverParts: McpServerParts = {
    service: new GatewayService(options),
    tools: listTools(options),
    states: roundStates(options.apiKeys, signer),
    reader,
  }
  const sessions = new McpSessions(serverParts)
  const modern = (responseMode: 'auto' | 'sse') =>
    createMcpHandler(() => createMcpServer(serverParts, { era: 'modern' }), {
      legacy: 'reject',
      responseMode,
      keepAliveMs: options.heartbeatMs,
      onerror: (error) => {
        options.logger.debug('Refused an MCP request', { error: errorMessage(error) })
      },
    })
  const [plain, stream] = [modern('auto'), modern('sse')]
  return async (request, caller) => {
    const body = await readMcpBody(request, options.maxBodyBytes)
    if (!body.ok) return jsonRpcError(400, { code: -32_700, message: body.problem })
    const { value: parsedBody } = body
    const long = findLongField(parsedBody)
    if (long !== undefined) return jsonRpcError(400, { code: -32_600, message: long })
    if (Array.isArray(parsedBody)) countBatch(parsedBody.length, caller)
    if (await isLegacyRequest(request, parsedBody)) {
      return limitError(await sessions.handle(request, parsedBody, caller))
    }
    const handler = isCall(parsedBody) ? stream : plain
    return limitError(await handler.fetch(request, { parsedBody, authInfo: toAuthInfo(caller) }))
  }
}

/** Cuts the message of a long SDK error and omits its details (GW-E4). */
async function limitError(response: Response): Promise<Response> {
  const { status, headers } = response
  const isJson = headers.get('content-type')?.startsWith('application/json') === true
  if (status < 400 || !isJson) return response
  const text = await response.text()
  if (Buffer.byteLength(text) <= MAX_ERROR_BYTES) return new Response(text, { status, headers })
  const parsed: unknown = JSON.parse(text)
  const { id = null, error } = isParams(parsed) ? parsed : {}
  const { code, message } = isParams(error) ? error : {}
  const cut = { code: Number(code), message: limitMessage(String(message)) }
  return Response.json({ jsonrpc: '2.0', id, error: cut }, { status })
}

/** Maximum length of a text that answers repeat, in characters. */
const MAX_REPEATED_LENGTH = MAX_RPC_ID_LENGTH

/** Returns the problem of the first message with a text too long to repeat (GW-E4); undefined when there is none. */
function findLongField(body: unknown): string | undefined {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body]
  for (const message of messages) {
    if (!isParams(message)) continue
    const meta = isParams(message['params']) ? message['params']['_meta'] : undefined
    const progressToken = isParams(meta) ? meta['progressToken'] : undefined
    const { id, method } = message
    for (const [name, value] of Object.entries({ id, method, progressToken })) {
      if (typeof value !== 'string' || value.length <= MAX_REPEATED_LENGTH) continue
      return `${name} must have at most ${MAX_REPEATED_LENGTH} characters, got ${value.length}`
    }
  }
  return undefined
}

type Body =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string }

async function readMcpBody(request: Request, maxBytes: number): Promise<Body> {
  if (request.method !== 'POST') return { ok: true, value: undefined }
  try {
    return { ok: true, value: await readJsonBody(request, Type.Unknown(), maxBytes) }
  } catch (error) {
    if (!TuttiError.isInstance(error) || error.code !== 'BAD_REQUEST') throw error
    return { ok: false, problem: error.message }
  }
}

/** Counts the messages of a batch after the first, which was counted as the request. */
function countBatch(length: number, caller: Caller): void {
  if (length > MAX_BATCH) {
    const message = `must hold at most ${MAX_BATCH} messages, got ${length}`
    throw badRequest('request body', [{ path: '', message }])
  }
  for (let message = 1; message < length; message += 1) caller.count()
}

function isCall(body: unknown): boolean {
  return (
    typeof body === 'object' && body !== null && 'method' in body && body.method === 'tools/call'
  )
}
