/** Reads answers of the wire that are not streams. */
import { AgentError } from '@tutti/agent-call'
import { readLimitedBody } from '@tutti/net'

import { httpError } from '../http/http-error.ts'
import { taskFailure, unwrapEnvelope } from './wire-value.ts'

/**
 * Reads an answer as JSON, whatever its content type says.
 *
 * @throws {AgentError} invalid_response when it is not JSON, or longer than `maxBytes`; errors of reading it.
 */
export async function readJsonAnswer(response: Response, maxBytes: number): Promise<unknown> {
  const { bytes, truncated } = await readLimitedBody(response.body, maxBytes)
  if (truncated) throw invalid(`The agent answered with more than ${maxBytes} bytes`)
  const json = jsonOf(bytes)
  if (json !== undefined) return json
  const start = new TextDecoder().decode(bytes.subarray(0, QUOTED_BYTES)).trim()
  const shown = start === '' ? 'nothing' : JSON.stringify(start)
  throw invalid(`The agent answered with what is not JSON, got ${shown}`)
}

/**
 * Returns the failure of an answer whose status is not 2xx. A failed task in it explains more than the status, unless
 * the status says that a retry may help. `now` is in milliseconds since 1970.
 */
export async function toRefusal(
  response: Response,
  { maxBytes, now }: { readonly maxBytes: number; readonly now: number },
): Promise<AgentError> {
  const { status, statusText, headers } = response
  const bytes = await bodyOf(response, maxBytes)
  const { value } = unwrapEnvelope(jsonOf(bytes))
  const body = bytes.byteLength === 0 ? null : bytes
  const answer = new Response(body, { status, statusText, headers })
  const error = await httpError(answer, now)
  const failure = taskFailure(value)
  if (error.retryable || failure === undefined) return error
  return new AgentError(failure.message, { ...failure, partial: value })
}

/** Maximum bytes of an answer that a message quotes. */
const QUOTED_BYTES = 200

async function bodyOf(response: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const { bytes } = await readLimitedBody(response.body, maxBytes)
    return new Uint8Array(bytes)
  } catch {
    // The status is known, so a body that cannot be read changes nothing.
    return new Uint8Array()
  }
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    return undefined
  }
}

function invalid(message: string): AgentError {
  return new AgentError(message, { failureType: 'invalid_response', retryable: false })
}
