/** What a search service answered, or why it did not search. Pure. */
import { decodeBody, type GuardedResponse } from '@tutti/net'

/**
 * The value in an answer.
 *
 * @throws {Error} saying why the service gave none.
 */
export function serviceAnswer(response: GuardedResponse, service: string): unknown {
  const text = decodeBody(response)
  const value = parseJson(text)
  const { status } = response
  if (status < 200 || status > 299) throw new Error(refusalOf(response, { service, value, text }))
  if (response.truncated)
    throw new Error(`The answer of ${service} has more than ${response.body.length} bytes`)
  if (value === undefined) throw new Error(`${service} answered with no JSON: ${shortened(text)}`)
  return value
}

/** Statuses with a meaning of their own; 432 and 433 are Tavily's, for the limits of a plan. */
const MEANINGS: Readonly<Record<number, string>> = {
  401: 'refused the API key',
  403: 'refused the API key',
  429: 'allows no more searches for now',
  432: 'allows no more searches with this plan',
  433: 'allows no more searches with this plan',
}

interface Refused {
  readonly service: string
  readonly value: unknown
  readonly text: string
}

function refusalOf(
  { status, headers }: GuardedResponse,
  { service, value, text }: Refused,
): string {
  const meaning = MEANINGS[status]
  const what =
    meaning === undefined ? `answered with HTTP ${status}` : `${meaning} (HTTP ${status})`
  const retryAfter = status === 429 ? headers.get('retry-after') : null
  const when =
    retryAfter !== null && /^\d+$/.test(retryAfter) ? `; try again in ${retryAfter} s` : ''
  const reason = shortened(reasonIn(value) ?? text)
  return `${service} ${what}${reason === '' ? '' : `: ${reason}`}${when}`
}

/** The reason in an error body: `{"error": …}` of SerpAPI, `{"detail": …}` of Tavily. */
function reasonIn(value: unknown): string | undefined {
  if (typeof value === 'string') return value
  if (typeof value !== 'object' || value === null) return undefined
  const { error, detail } = value as { readonly error?: unknown; readonly detail?: unknown }
  return reasonIn(error ?? detail)
}

const SHOWN_LENGTH = 300

function shortened(text: string): string {
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
