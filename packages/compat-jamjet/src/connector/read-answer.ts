/** Reads responses of the `/tasks` wire that are not streams. */
import { AgentError } from '@tutti/agent-call/internal'
import { readLimitedBody } from '@tutti/net/internal'

import { assertAnswerSize, toStatusFailure } from '@tutti/agent-tool/internal'
import { taskFailure, unwrapEnvelope } from './wire-value.ts'

/**
 * Reads a response as JSON, regardless of its content type.
 *
 * @throws {AgentError} invalid_response when it is not JSON, longer than `maxBytes`, or too large to be parsed; errors of
 * reading it.
 */
export async function readJsonAnswer(response: Response, maxBytes: number): Promise<unknown> {
  const { bytes, truncated } = await readLimitedBody(response.body, maxBytes)
  if (truncated)
    throw createInvalidResponse(`The agent sent a response of more than ${maxBytes} bytes`)
  assertAnswerSize(new TextDecoder().decode(bytes))
  const json = parseJsonText(bytes)
  if (json !== undefined) return json
  const start = new TextDecoder().decode(bytes.subarray(0, QUOTED_BYTES)).trim()
  const shown = start === '' ? 'nothing' : JSON.stringify(start)
  throw createInvalidResponse(`The agent sent a response that is not JSON: ${shown}`)
}

/**
 * Returns the failure of a response that is not 2xx. A failed task in it explains more than the status, unless
 * the status means that a retry may help. `now` is in milliseconds since 1970.
 */
export async function toRefusal(
  response: Response,
  { maxBytes, now }: { readonly maxBytes: number; readonly now: number },
): Promise<AgentError> {
  const { status, statusText, headers } = response
  const bytes = await readQuotedBody(response, maxBytes)
  const { value } = unwrapEnvelope(parseJsonText(bytes))
  const body = bytes.byteLength === 0 ? null : bytes
  const answer = new Response(body, { status, statusText, headers })
  const error = await toStatusFailure(answer, now)
  const failure = taskFailure(value)
  if (error.retryable || failure === undefined) return error
  return new AgentError(failure.message, { ...failure, partial: value })
}

/** Maximum bytes of a response that a message quotes. */
const QUOTED_BYTES = 200

async function readQuotedBody(
  response: Response,
  maxBytes: number,
): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const { bytes } = await readLimitedBody(response.body, maxBytes)
    return new Uint8Array(bytes)
  } catch {
    // The status is known, so an unreadable body does not change the failure.
    return new Uint8Array()
  }
}

function parseJsonText(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

function createInvalidResponse(message: string): AgentError {
  return new AgentError(message, { failureType: 'invalid_response', retryable: false })
}
