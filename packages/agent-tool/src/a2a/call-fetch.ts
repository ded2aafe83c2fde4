/** `fetch` for the SDK in one call. It handles HTTP failures before the SDK sees them. */
import { isJsonObject } from '@tutti/protocol/internal'
import { AgentError } from '@tutti/agent-call/internal'
import { readLimitedBody, watchBody, type GuardedFetch } from '@tutti/net/internal'

import { assertAnswerSize } from '../http/answer-size.ts'
import { toStatusFailure } from '../http/http-error.ts'

/** Limits and callbacks of one call. */
export interface CallFetchOptions {
  /** Called whenever bytes arrive. */
  readonly onBytes: () => void
  /** Maximum bytes of a response that is not a stream. */
  readonly maxBodyBytes: number
}

/** Maximum bytes of an error that are read to recognize it. */
const MAX_ERROR_BYTES = 65_536

/** Client errors of HTTP itself, regardless of the body. */
const OF_HTTP: ReadonlySet<number> = new Set([401, 402, 403, 407, 408, 425, 429])

/**
 * Creates the `fetch` of one call. It rejects with an `AgentError` for a response that is not 2xx, unless its
 * body is an A2A error, which the SDK reads.
 */
export function createCallFetch(
  fetch: GuardedFetch,
  { onBytes, maxBodyBytes }: CallFetchOptions,
): typeof globalThis.fetch {
  return async (input, init) => {
    const answer = await fetch(input, init)
    onBytes()
    const watched = watchBody(answer, onBytes)
    if (!answer.ok) return requireA2aError(watched)
    const type = answer.headers.get('content-type') ?? ''
    // The SDK reads streams only with this content type.
    if (type.startsWith('text/event-stream')) return watched
    const { bytes, truncated } = await readLimitedBody(watched.body, maxBodyBytes)
    if (!truncated) {
      assertAnswerSize(new TextDecoder().decode(bytes))
      return withBody(answer, bytes)
    }
    throw new AgentError(`The agent sent a response of more than ${maxBodyBytes} bytes`, {
      failureType: 'invalid_response',
      retryable: false,
    })
  }
}

/** @throws {AgentError} http_error, when the body is not an A2A error. */
async function requireA2aError(answer: Response): Promise<Response> {
  if (answer.status >= 500 || OF_HTTP.has(answer.status)) throw await toStatusFailure(answer)
  const { bytes } = await readLimitedBody(answer.body, MAX_ERROR_BYTES)
  if (isA2aError(bytes)) return withBody(answer, bytes)
  throw await toStatusFailure(withBody(answer, bytes))
}

/** On JSON-RPC and REST of 1.0 the error is a member; on REST of 0.3 it is the body. */
function isA2aError(bytes: Uint8Array): boolean {
  try {
    const body: unknown = JSON.parse(new TextDecoder().decode(bytes))
    if (!isJsonObject(body)) return false
    return (
      isJsonObject(body['error']) ||
      (typeof body['code'] === 'number' && typeof body['message'] === 'string')
    )
  } catch {
    return false
  }
}

function withBody({ status, statusText, headers }: Response, bytes: Uint8Array): Response {
  // NOTE: the bytes were read into a separate buffer, which is not shared.
  const body = bytes.byteLength === 0 ? null : (bytes as Uint8Array<ArrayBuffer>)
  return new Response(body, { status, statusText, headers })
}
