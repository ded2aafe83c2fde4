/**
 * Where a redirect leads, and what is sent there. Pure.
 *
 * D1 What is not GET or HEAD is only followed where it stays what it is, with 307 and 308: an agent that is
 *    asked with GET instead was not asked.
 * D2 What might be secret does not leave its origin: to another one go only headers that say what is spoken
 *    and what is sent.
 * D3 From https there is no way to http.
 */
import { AgentError } from '@tutti/core/agent'

import { shownUrl } from './agent-url.ts'
import { refused } from './http-failure.ts'

import type { Exchange } from './agent-connections.ts'

const ALWAYS: ReadonlySet<number> = new Set([307, 308])
const FOR_READING: ReadonlySet<number> = new Set([301, 302, 303])

/** Headers that are the same for everybody who speaks the protocol. */
const HARMLESS: ReadonlySet<string> = new Set([
  'a2a-extensions',
  'a2a-version',
  'accept',
  'accept-encoding',
  'accept-language',
  'content-type',
  'mcp-protocol-version',
  'user-agent',
])

/**
 * The request that follows an answer; undefined when the answer is what was asked for, or is not followed.
 *
 * @throws {AgentError} when it leads to what is no URL, or from https to http.
 */
export function nextExchange(
  exchange: Exchange,
  { status, location }: { readonly status: number; readonly location: string | null },
): Exchange | undefined {
  const isReading = exchange.method === 'GET' || exchange.method === 'HEAD'
  const isFollowed = ALWAYS.has(status) || (isReading && FOR_READING.has(status))
  if (!isFollowed || location === null) return undefined
  const from = exchange.url
  // Headers are read byte by byte, and servers write UTF-8.
  const url = URL.parse(Buffer.from(location, 'latin1').toString('utf8'), from)
  if (url === null) {
    const message = `The agent at ${shownUrl(from)} redirects to what is no URL`
    throw new AgentError(message, { failureType: 'invalid_response', retryable: false })
  }
  if (from.protocol === 'https:' && url.protocol === 'http:') {
    throw refused(
      `Refused a redirect of the agent at ${shownUrl(from)}: it leads from https: to http: (${url.host})`,
    )
  }
  const headers = url.origin === from.origin ? exchange.headers : harmless(exchange.headers)
  return { ...exchange, url, headers }
}

function harmless(headers: Headers): Headers {
  return new Headers([...headers].filter(([name]) => HARMLESS.has(name)))
}
