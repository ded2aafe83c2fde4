/**
 * The endpoint of MCP clients of every era, with the MCP library behind it. This file is loaded at the first
 * request: the library costs more than a start should.
 *
 *   body ─▶ era ─┬─ 2026-07-28 ─▶ a server for this request
 *                └─ older ─▶ the server of its session
 *
 * E1 A body is read once, bounded and not too deep, as every other body of the API.
 * E2 The messages of a batch count as requests of their key, each.
 * E3 A call of a tool is answered by a stream from its first moment, so that no proxy or client takes a long
 *    one for dead; everything else is plain JSON.
 * E4 Ids, progress tokens and names of methods are short, as answers and notifications repeat them; so are
 *    errors of the library, which repeat what was sent.
 */
import { createMcpHandler, isLegacyRequest } from '@modelcontextprotocol/server'
import { errorMessage, TuttiError, Type } from '@tutti/core'

import { MAX_RPC_ID_LENGTH } from '../a2a/json-rpc.ts'
import { isObject } from '../a2a/modern-params.ts'
import { badRequest } from '../http/api-error.ts'
import { limitedMessage, MAX_ERROR_BYTES } from '../http/error-limits.ts'
import { readBody } from '../http/read-body.ts'
import { jsonRpcError } from './json-rpc-error.ts'
import { authInfoOf } from './mcp-caller.ts'
import { mcpServer, type McpDesk } from './mcp-server.ts'
import { McpSessions } from './mcp-sessions.ts'
import { offersOf } from './offers.ts'
import { roundStates } from './round-state.ts'

import type { Caller } from '../caller.ts'
import type { GatewayOptions, Signer } from '../gateway-options.ts'
import type { RunReader } from './mcp-resources.ts'

/** Parts that the MCP server needs in addition to the options. */
export interface McpParts {
  /** Signs the states of calls between two rounds. */
  readonly signer: Signer
  readonly reader: RunReader
}

/** Answers one HTTP request of a caller. */
export type McpEndpoint = (request: Request, caller: Caller) => Promise<Response>

/** Messages of one batch, at most; batches were taken out of MCP with 2025-06-18. */
const MAX_BATCH = 50

/** Makes the endpoint of a server. */
export function mcpEndpoint(options: GatewayOptions, parts: McpParts): McpEndpoint {
  const { signer, reader } = parts
  const desk: McpDesk = {
    options,
    offers: offersOf(options),
    states: roundStates(options.apiKeys, signer),
    reader,
  }
  const sessions = new McpSessions(desk)
  const modern = (responseMode: 'auto' | 'sse') =>
    createMcpHandler(() => mcpServer(desk, { era: 'modern' }), {
      legacy: 'reject',
      responseMode,
      keepAliveMs: options.heartbeatMs,
      onerror: (error) => {
        options.logger.debug('An MCP request was refused', { error: errorMessage(error) })
      },
    })
  const [plain, stream] = [modern('auto'), modern('sse')]
  return async (request, caller) => {
    const body = await bodyOf(request, options.maxBodyBytes)
    if (!body.ok) return jsonRpcError(400, { code: -32_700, message: body.problem })
    const { value: parsedBody } = body
    const long = longFieldOf(parsedBody)
    if (long !== undefined) return jsonRpcError(400, { code: -32_600, message: long })
    if (Array.isArray(parsedBody)) countBatch(parsedBody.length, caller)
    if (await isLegacyRequest(request, parsedBody)) {
      return limitedError(await sessions.handle(request, parsedBody, caller))
    }
    const handler = isCall(parsedBody) ? stream : plain
    return limitedError(await handler.fetch(request, { parsedBody, authInfo: authInfoOf(caller) }))
  }
}

/** JSON-RPC codes. @see https://www.jsonrpc.org/specification#error_object */
const INVALID_PARAMS = -32_602
const INTERNAL_ERROR = -32_603

/**
 * The response, with the message of its error cut and the details left out where they are too long. The library
 * reports parameters that do not match their schema as an internal error, with the issues as JSON.
 */
async function limitedError(response: Response): Promise<Response> {
  if (response.headers.get('content-type')?.startsWith('application/json') !== true) return response
  const { status, headers } = response
  const text = await response.text()
  const parsed: unknown = text === '' ? undefined : JSON.parse(text)
  const error = isObject(parsed) ? parsed['error'] : undefined
  if (!isObject(parsed) || !isObject(error)) return new Response(text, { status, headers })
  const { code, message } = error
  const issues = code === INTERNAL_ERROR ? issuesIn(String(message)) : undefined
  const isSmall = Buffer.byteLength(text) <= MAX_ERROR_BYTES
  if (issues === undefined && isSmall) return new Response(text, { status, headers })
  const said = issues === undefined ? String(message) : `Invalid parameters: ${issues}`
  const shown = {
    code: issues === undefined ? Number(code) : INVALID_PARAMS,
    message: limitedMessage(said),
  }
  const id = isSmall ? parsed['id'] : null
  const isFault = issues !== undefined && status >= 500
  return Response.json({ jsonrpc: '2.0', id, error: shown }, { status: isFault ? 400 : status })
}

/** The issues of a message of the library as one line; undefined when the message is not a list of issues. */
function issuesIn(message: string): string | undefined {
  if (!message.startsWith('[')) return undefined
  try {
    const issues: unknown = JSON.parse(message)
    if (!Array.isArray(issues) || !issues.every(isObject)) return undefined
    return issues
      .map(({ path, message: problem }) => `${[path].flat().join('.')}: ${String(problem)}`)
      .join('; ')
  } catch {
    return undefined
  }
}

/** Maximum length of a text that answers repeat. */
const MAX_REPEATED_LENGTH = MAX_RPC_ID_LENGTH

/** Returns the problem of the first message with a text too long to repeat (E4); undefined when there is none. */
function longFieldOf(body: unknown): string | undefined {
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body]
  for (const message of messages) {
    if (!isObject(message)) continue
    const meta = isObject(message['params']) ? message['params']['_meta'] : undefined
    const progressToken = isObject(meta) ? meta['progressToken'] : undefined
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

async function bodyOf(request: Request, maxBytes: number): Promise<Body> {
  if (request.method !== 'POST') return { ok: true, value: undefined }
  try {
    return { ok: true, value: await readBody(request, Type.Unknown(), maxBytes) }
  } catch (error) {
    if (!TuttiError.isInstance(error) || error.code !== 'BAD_REQUEST') throw error
    return { ok: false, problem: error.message }
  }
}

/** The request itself is counted already. */
function countBatch(length: number, caller: Caller): void {
  if (length > MAX_BATCH) {
    const message = `must hold at most ${MAX_BATCH} messages, got ${length}`
    throw badRequest('Request body', [{ path: '', message }])
  }
  for (let message = 1; message < length; message += 1) caller.count()
}

function isCall(body: unknown): boolean {
  return (
    typeof body === 'object' && body !== null && 'method' in body && body.method === 'tools/call'
  )
}
