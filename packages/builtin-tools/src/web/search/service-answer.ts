/** Reads the responses of search services. Pure. */
import { decodeBody, type GuardedResponse } from '@tutti/net/internal'

/**
 * Returns the JSON value of a response.
 *
 * @throws {Error} with the reason when the service returned an error or invalid JSON.
 */
export function readServiceResponse(response: GuardedResponse, service: string): unknown {
  const text = decodeBody(response)
  const value = parseJson(text)
  const { status } = response
  if (status < 200 || status > 299)
    throw new Error(describeFailure(response, { service, value, text }))
  if (response.truncated)
    throw new Error(`The response of ${service} is larger than ${response.body.length} bytes`)
  if (value === undefined) throw new Error(`${service} did not return JSON: ${shorten(text)}`)
  return value
}

/** Meanings of statuses; 432 and 433 are those of Tavily for the limits of a plan. */
const MEANINGS: Readonly<Record<number, string>> = {
  401: 'refused the API key',
  403: 'refused the API key',
  429: 'refused the search because of its rate limit',
  432: 'refused the search because of a plan limit',
  433: 'refused the search because of a plan limit',
}

interface FailedResponse {
  readonly service: string
  readonly value: unknown
  readonly text: string
}

function describeFailure(
  { status, headers }: GuardedResponse,
  { service, value, text }: FailedResponse,
): string {
  const meaning = MEANINGS[status]
  const what = meaning === undefined ? `returned HTTP ${status}` : `${meaning} (HTTP ${status})`
  const retryAfter = status === 429 ? headers.get('retry-after') : null
  const when =
    retryAfter !== null && /^\d+$/.test(retryAfter) ? `; try again in ${retryAfter} s` : ''
  const reason = shorten(readReason(value) ?? text)
  return `${service} ${what}${reason === '' ? '' : `: ${reason}`}${when}`
}

/** Returns the reason in an error body: `{"error": …}` of SerpAPI, `{"detail": …}` of Tavily. */
function readReason(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return undefined
  const { error, detail } = value as { readonly error?: unknown; readonly detail?: unknown }
  return readReason(error ?? detail)
}

const SHOWN_LENGTH = 300

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > SHOWN_LENGTH ? `${line.slice(0, SHOWN_LENGTH)}…` : line
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
