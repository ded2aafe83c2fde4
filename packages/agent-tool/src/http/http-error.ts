/** Converts responses with an error status. */
import { AgentError } from '@tutti/agent-call/internal'

import { readLimitedBody, readRetryAfter } from '@tutti/net/internal'

/** Statuses of temporary failures. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])

/** Maximum bytes of the body that a message quotes. */
const QUOTED_BYTES = 2_000

/** Returns the failure of a response that is not 2xx. Reads only the quoted part of the body. */
export async function toStatusFailure(response: Response, now = Date.now()): Promise<AgentError> {
  const { status, statusText, headers } = response
  const body = await startOfBody(response)
  const name = [status, statusText].filter((part) => part !== '').join(' ')
  const retryAfterMs = readRetryAfter(headers.get('retry-after'), now)
  const said = body === '' ? '' : `: ${body}`
  return new AgentError(`Agent returned error ${name}${said}`, {
    failureType: 'http_error',
    retryable: RETRYABLE.has(status),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}

async function startOfBody(response: Response): Promise<string> {
  try {
    const { bytes, truncated } = await readLimitedBody(response.body, QUOTED_BYTES)
    const text = new TextDecoder().decode(bytes).trim()
    return truncated ? `${text}…` : text
  } catch {
    // The status is known; a lost body does not change the failure.
    return ''
  }
}
