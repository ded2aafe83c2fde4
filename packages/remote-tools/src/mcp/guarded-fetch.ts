/**
 * `fetch` for one MCP server.
 *
 *   request ─origin─▶ guard ─own headers─▶ send ─▶ redirect? ─▶ answer, message by message
 *
 * M4 Requests go to the origin of the server only, also after a redirect, and only where its guard allows.
 * M5 A message that is longer than the limit is not read: its body fails, and the owner of the connection is told.
 *    Messages are the events of an event stream, and whole bodies otherwise. Bytes count after decompression.
 * M6 There is no time limit here: servers may be silent for long, and calls have limits of their own.
 */
import { MessageSize, type NetworkGuard } from '@tutti/net'

import type * as Undici from 'undici'
import type { Agent } from 'undici'
import type { McpEndpoint } from './options.ts'

/** The server, and what is asked of it. */
export interface GuardedFetchOptions {
  readonly url: URL
  readonly headers: McpEndpoint['headers']
  readonly guard: NetworkGuard
  /** Bytes of one message, at most. */
  readonly maxMessageBytes: number
  /** Called with the reason when a message is longer. */
  readonly onTooLong: (reason: string) => void
}

/** `fetch` for one server. */
export interface GuardedFetch {
  readonly fetch: typeof globalThis.fetch
  /** Ends its connections; requests under way fail. */
  close(): Promise<void>
}

/** Time until a connection is there, in milliseconds; undici's own default. */
const CONNECT_TIMEOUT_MS = 10_000

/** Redirects that are followed, at most. */
const MAX_REDIRECTS = 5

/** Statuses whose redirect keeps the method and the body. */
const ALWAYS_FOLLOWED: ReadonlySet<number> = new Set([307, 308])
const FOLLOWED_WHEN_READING: ReadonlySet<number> = new Set([301, 302, 303])

/** Opens nothing before the first request. */
export async function guardedFetch(options: GuardedFetchOptions): Promise<GuardedFetch> {
  const undici = await import('undici')
  const agent = new undici.Agent({
    connect: { lookup: options.guard.lookup, timeout: CONNECT_TIMEOUT_MS },
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  const send: Send = (exchange) => sendOver(agent, exchange)
  return {
    fetch: async (input, init) => {
      const first = await exchangeOf(input, init, options)
      return limited(await follow(first, options, send), options)
    },
    close: () => agent.destroy(),
  }
}

/** One request to one place. */
interface Exchange {
  readonly url: URL
  readonly method: string
  readonly headers: Headers
  readonly body: Uint8Array | undefined
  readonly signal: AbortSignal | undefined
}

/** An answer of undici. Its types are not those of the global `Response`. */
type Answer = Awaited<ReturnType<typeof Undici.fetch>>

type Send = (exchange: Exchange) => Promise<Answer>

/** Headers of the author win over those of the protocol's library. */
async function exchangeOf(
  input: Parameters<typeof fetch>[0],
  init: RequestInit = {},
  { headers: source = {} }: GuardedFetchOptions,
): Promise<Exchange> {
  const { signal, ...rest } = init
  const request = new Request(input, rest)
  const own = typeof source === 'function' ? await source() : source
  for (const [name, value] of Object.entries(own)) request.headers.set(name, value)
  return {
    url: new URL(request.url),
    method: request.method,
    headers: request.headers,
    body: request.body === null ? undefined : new Uint8Array(await request.arrayBuffer()),
    signal: signal ?? undefined,
  }
}

async function sendOver(
  agent: Agent,
  { url, method, headers, body, signal }: Exchange,
): Promise<Answer> {
  const { fetch } = await import('undici')
  return fetch(url, {
    method,
    headers: [...headers],
    redirect: 'manual',
    dispatcher: agent,
    ...(body === undefined ? {} : { body }),
    ...(signal === undefined ? {} : { signal }),
  }).catch((error: unknown) => {
    // undici says "fetch failed"; its cause is the refusal of the guard, or what the system says.
    throw error instanceof TypeError ? (error.cause ?? error) : error
  })
}

async function follow(
  first: Exchange,
  { url: server, guard }: GuardedFetchOptions,
  send: Send,
): Promise<Answer> {
  let { url } = first
  for (let redirects = 0; ; redirects += 1) {
    if (url.origin !== server.origin) {
      throw new Error(
        `Refused to send a request for ${server.origin} to another origin (${url.origin})`,
      )
    }
    const answer = await send({ ...first, url: guard.assertUrl(url) })
    const target = targetOf({ ...first, url }, answer)
    if (target === undefined) return answer
    await answer.body?.cancel()
    if (redirects === MAX_REDIRECTS) {
      throw new Error(`${server.origin} redirects more than ${MAX_REDIRECTS} times`)
    }
    url = target
  }
}

/** Returns where a redirect leads; undefined for an answer that is not one, or is not followed. */
function targetOf({ url, method }: Exchange, { status, headers }: Answer): URL | undefined {
  const isReading = method === 'GET' || method === 'HEAD'
  const isFollowed = ALWAYS_FOLLOWED.has(status) || (isReading && FOLLOWED_WHEN_READING.has(status))
  const location = headers.get('location')
  return isFollowed && location !== null ? (URL.parse(location, url) ?? undefined) : undefined
}

/** Returns the answer as a response with a limit for each of its messages. */
function limited(
  { status, statusText, headers, body }: Answer,
  { url, maxMessageBytes, onTooLong }: GuardedFetchOptions,
): Response {
  const init = { status, statusText, headers: [...headers] }
  if (body === null) return new Response(null, init)
  const isStream = headers.get('content-type')?.includes('text/event-stream') === true
  const size = new MessageSize(isStream)
  const reader = body.getReader()
  const source = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) {
          controller.close()
        } else if (size.add(value) <= maxMessageBytes) {
          controller.enqueue(value)
        } else {
          const reason = `${url.origin} sent a message longer than ${maxMessageBytes} bytes`
          onTooLong(reason)
          controller.error(new Error(reason))
          await reader.cancel()
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
  return new Response(source, init)
}
