/**
 * Where a redirect leads, and what is sent there. Pure.
 *
 * D1 What is not GET or HEAD is only followed where it stays what it is, with 307 and 308: an agent that is
 *    asked with GET instead was not asked.
 * D2 A redirect to another origin, which is another scheme, host or port, is refused: neither the request nor its
 *    credentials leave the origin that they are for.
 */
import { AgentError } from '@tutti/agent-call'

import { shownUrl } from './agent-url.ts'
import { refused } from './http-failure.ts'

import type { Exchange } from './agent-connections.ts'

const ALWAYS: ReadonlySet<number> = new Set([307, 308])
const FOR_READING: ReadonlySet<number> = new Set([301, 302, 303])

/**
 * The request that follows an answer; undefined when the answer is what was asked for, or is not followed.
 *
 * @throws {AgentError} when it leads to an invalid URL or to another origin.
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
  if (url.origin !== from.origin) {
    throw refused(
      `Refused a redirect of the agent at ${shownUrl(from)}: it leads to another origin (${url.origin}); ` +
        'if the agent has moved, use its new address',
    )
  }
  return { ...exchange, url }
}
