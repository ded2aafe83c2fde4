/** Answers that say by their status that the request failed. */
import { AgentError } from '@tutti/agent-call'

import { readLimitedBody, readRetryAfter } from '@tutti/net'

/** Statuses that may be another one next time. */
const RETRYABLE: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])

/** Bytes of the body that a message quotes, at most. */
const QUOTED_BYTES = 2_000

/** The failure that an answer of another status than 2xx is; its body is read as far as it is quoted. */
export async function httpError(response: Response, now = Date.now()): Promise<AgentError> {
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
    // The status was heard: that the rest was lost changes nothing.
    return ''
  }
}
