/** Reads answers of the wire that are no streams. */
import { AgentError } from '@tutti/agent-call'
import { readLimitedBody } from '@tutti/net'

import { httpError } from '../http/http-error.ts'
import { taskFailure, unwrapped } from './wire-value.ts'

/**
 * The JSON that an answer is, whatever its content type says.
 *
 * @throws {AgentError} invalid_response when it is none, or longer than `maxBytes`; what reading it fails with.
 */
export async function readJson(response: Response, maxBytes: number): Promise<unknown> {
  const { bytes, truncated } = await readLimitedBody(response.body, maxBytes)
  if (truncated) throw invalid(`The agent answered with more than ${maxBytes} bytes`)
  const json = jsonOf(bytes)
  if (json !== undefined) return json
  const start = new TextDecoder().decode(bytes.subarray(0, QUOTED_BYTES)).trim()
  const shown = start === '' ? 'nothing' : JSON.stringify(start)
  throw invalid(`The agent answered with what is not JSON, got ${shown}`)
}

/**
 * The failure that an answer of another status than 2xx is. A task in it that failed says more than the status
 * does, unless the status says that another try may help. `now` is in milliseconds since 1970.
 */
export async function refusal(
  response: Response,
  { maxBytes, now }: { readonly maxBytes: number; readonly now: number },
): Promise<AgentError> {
  const { status, statusText, headers } = response
  const bytes = await bodyOf(response, maxBytes)
  const { value } = unwrapped(jsonOf(bytes))
  const body = bytes.byteLength === 0 ? null : bytes
  const answer = new Response(body, { status, statusText, headers })
  const error = await httpError(answer, now)
  const failure = taskFailure(value)
  if (error.retryable || failure === undefined) return error
  return new AgentError(failure.message, { ...failure, partial: value })
}

/** Bytes of an answer that a message quotes, at most. */
const QUOTED_BYTES = 200

async function bodyOf(response: Response, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  try {
    const { bytes } = await readLimitedBody(response.body, maxBytes)
    return new Uint8Array(bytes)
  } catch {
    // The status was heard: that the rest was lost changes nothing.
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
