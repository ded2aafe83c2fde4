/** An answer of node:http as the `Response` that everybody reads. */
import { errorMessage } from '@tutti/core'
import { AgentError } from '@tutti/agent-call'
import { decompress } from '@tutti/net'

import { byteStream } from './byte-stream.ts'

import type { IncomingMessage } from 'node:http'

/** Where an answer came from. */
export interface AnswerOrigin {
  readonly url: URL
  /** What reading the body fails with, instead of what it failed with. */
  readonly asFailure: (problem: unknown) => unknown
}

/** What a final answer may have (RFC 9110, section 15). */
const FIRST_STATUS = 200
const LAST_STATUS = 599

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** Headers of a body that are not true of what it is decompressed to. */
const OF_CODED_BODY = ['content-encoding', 'content-length']

/**
 * The response. Its body is decompressed, and comes as it arrives.
 *
 * @throws {AgentError} invalid_response for a status or a content encoding that does not exist.
 */
export function toResponse(message: IncomingMessage, { url, asFailure }: AnswerOrigin): Response {
  const { statusCode: status = 0, statusMessage: statusText = '', rawHeaders } = message
  const headers = headersOf(rawHeaders)
  try {
    // Web servers put a Response of their own in place, which may take any number.
    if (status < FIRST_STATUS || status > LAST_STATUS)
      throw new RangeError(`${status} is no status`)
    const plain = decompress(message, headers.get('content-encoding'))
    if (plain !== message) for (const name of OF_CODED_BODY) headers.delete(name)
    const body = byteStream(plain, asFailure)
    const content = WITHOUT_BODY.has(status) ? null : body
    if (content === null) message.resume()
    return withUrl(new Response(content, { status, statusText, headers }), url.href)
  } catch (cause) {
    const message = `Cannot read the answer of the agent at ${url.origin}: ${errorMessage(cause)}`
    throw new AgentError(message, { failureType: 'invalid_response', retryable: false, cause })
  }
}

/** A response that says where it came from; only a real `fetch` can make one that does. */
export function withUrl(response: Response, url: string): Response {
  return Object.defineProperty(response, 'url', { value: url })
}

function headersOf(raw: readonly string[]): Headers {
  const headers = new Headers()
  for (let i = 0; i + 1 < raw.length; i += 2) headers.append(raw[i] ?? '', raw[i + 1] ?? '')
  return headers
}
