/** Why a peer did not open a WebSocket. */
import { Readable } from 'node:stream'

import { errorMessage } from '@tutti/core'
import { AgentError } from '@tutti/agent-call'

import { httpError } from '../http/http-error.ts'
import { httpFailure } from '../http/http-failure.ts'

import type { IncomingMessage } from 'node:http'

/** Statuses of answers without a body. */
const BODILESS = [204, 205, 304]

/** A handshake that was answered with something else; resolves when as much of it was read as is quoted. */
export function refusedHandshake(response: IncomingMessage): Promise<AgentError> {
  const { statusCode: status = 0, statusMessage = '', headers } = response
  const after = headers['retry-after']
  const init = {
    status,
    statusText: statusMessage,
    headers: after === undefined ? {} : { 'retry-after': after },
  }
  const hasBody = !BODILESS.includes(status)
  if (!hasBody) response.destroy()
  // NOTE: the web stream of Node is the one that its Response takes; the types know two.
  const body = hasBody ? (Readable.toWeb(response) as BodyInit) : null
  return httpError(new Response(body, init))
}

/** A handshake that failed on the way; `origin` is shown. */
export function failedHandshake(cause: unknown, origin: string): AgentError {
  // Errors of the system have a code; those of the handshake itself have none.
  const isNetwork = cause instanceof Error && 'code' in cause
  if (isNetwork) return httpFailure(cause, origin)
  const message = `The agent at ${origin} did not open a WebSocket: ${errorMessage(cause)}`
  return new AgentError(message, { failureType: 'invalid_response', retryable: false, cause })
}
