/**
 * Fetching from one agent.
 *
 *   request ─own headers─▶ guard ─▶ send ─▶ redirect? ─▶ guard … ─▶ answer ─decompress─▶ body
 *
 * F1 No time limit of its own, as agents may be silent for long: the signal of the request is the limit.
 * F2 The configured headers, and the user and password of the URL, go to the origin of the agent alone: to
 *    none that a card leads to.
 * F3 `http:` is for this machine, or by explicit allowance. The host of the agent is allowed by its name; any
 *    other one is reached through the network guard.
 * F4 At most 5 redirects are followed, within one origin: see `redirects.ts`.
 * F5 Nothing is sent beyond what the caller says, the headers above, `accept` and what HTTP needs.
 * F6 What fails is an `AgentError` that names the origin at most, also when it fails while the body is read;
 *    an abort is the reason of the signal.
 */
import { networkGuard, type ResolveHost } from '@tutti/net'
import { AgentError } from '@tutti/agent-call'

import { AgentConnections, type Exchange } from './agent-connections.ts'
import { exposedMessage, isExposed, readAgentUrl, shownUrl } from './agent-url.ts'
import { httpFailure, refused } from './http-failure.ts'
import { headerProblems, ownHeaders, type AgentHeaderSource } from './own-headers.ts'
import { nextExchange } from './redirects.ts'

import type { NetworkGuard } from '@tutti/net'

/** How an agent is reached over HTTP. */
export interface AgentHttpOptions {
  /**
   * Sent with each request to the origin of the agent, or a function that gives them for each. What the
   * protocol itself sends is not replaced.
   */
  readonly headers?: AgentHeaderSource
  /** Whether `http:` may lead to another machine. @default false */
  readonly allowHttp?: boolean
  /**
   * Where agent cards may lead besides the public internet and the host of the agent: hosts, addresses and blocks,
   * as `networkGuard` takes them. @default nothing
   */
  readonly allow?: readonly string[]
  /** Finds the addresses of a name. @default the resolver of the system */
  readonly resolve?: ResolveHost
}

/** `fetch` for one agent. */
export interface AgentFetch {
  (input: string | URL | Request, init?: RequestInit): Promise<Response>
  /** Ends its connections; requests under way fail, and later ones open new ones. Never rejects. */
  close(): Promise<void>
}

/** Redirects that are followed, at most. */
const MAX_REDIRECTS = 5

/**
 * Makes `fetch` for the agent at `url`. Nothing is opened before the first request.
 *
 * @throws {TypeError} for a URL that may not be asked, for headers that cannot be sent, and for rules of
 *   `allow` that are none.
 */
export function agentFetch(url: string | URL, options: AgentHttpOptions = {}): AgentFetch {
  const { agent, login } = withoutLogin(readAgentUrl(url, options))
  const { headers = {} } = options
  const problems = typeof headers === 'function' ? [] : headerProblems(headers)
  if (problems.length > 0) {
    throw new TypeError(`Cannot ask the agent at "${shownUrl(agent)}": ${problems.join('; ')}`)
  }
  const guard = networkGuard({
    allow: [agent.hostname, ...(options.allow ?? [])],
    ...(options.resolve === undefined ? {} : { resolve: options.resolve }),
  })
  const connections = new AgentConnections(guard)
  const { allowHttp = false } = options
  const line = { agent, login, headers, guard, connections, allowHttp }
  const fetch = async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> =>
    follow(await exchangeOf(input, init, line), line, init.redirect ?? 'follow')
  return Object.assign(fetch, {
    close: async () => {
      connections.close()
    },
  })
}

/** What all requests to one agent share. */
interface Line {
  readonly agent: URL
  readonly login: string | undefined
  readonly headers: AgentHeaderSource
  readonly guard: NetworkGuard
  readonly connections: AgentConnections
  readonly allowHttp: boolean
}

/** A URL, and the header that says the user and password in it. */
function withoutLogin(url: URL): { readonly agent: URL; readonly login: string | undefined } {
  const { username, password } = url
  const agent = new URL(url)
  agent.username = ''
  agent.password = ''
  if (username === '' && password === '') return { agent, login: undefined }
  const pair = `${decoded(username)}:${decoded(password)}`
  return { agent, login: `Basic ${Buffer.from(pair).toString('base64')}` }
}

/** A part of a URL without its escapes; as it is when these are none. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** @throws {TypeError} as `fetch`, for what is no request. */
async function exchangeOf(
  input: string | URL | Request,
  init: RequestInit,
  line: Line,
): Promise<Exchange> {
  const { signal, ...rest } = init
  const given = new URL(input instanceof Request ? input.url : input)
  const url = given.origin === line.agent.origin ? withoutLogin(given).agent : given
  assertReachable(url, line)
  const request = new Request(input instanceof Request ? input : url, rest)
  const { method, headers } = request
  if (!headers.has('accept')) headers.set('accept', '*/*')
  const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer())
  const aborting = signal ?? (input instanceof Request ? input.signal : undefined)
  return { url, method, headers, body, signal: aborting }
}

async function follow(
  first: Exchange,
  line: Line,
  redirect: NonNullable<RequestInit['redirect']>,
): Promise<Response> {
  let exchange = first
  for (let redirects = 0; ; redirects += 1) {
    const answer = await send(exchange, line)
    const { status, headers } = answer
    const location = headers.get('location')
    const next = redirect === 'manual' ? undefined : nextExchange(exchange, { status, location })
    if (next === undefined) return answer
    await answer.body?.cancel()
    if (redirect === 'error' || redirects === MAX_REDIRECTS) {
      const limit = redirect === 'error' ? 0 : MAX_REDIRECTS
      const message = `The agent at ${first.url.origin} redirects more than ${limit} times`
      throw new AgentError(message, { failureType: 'invalid_response', retryable: false })
    }
    assertReachable(next.url, line)
    exchange = next
  }
}

/** @throws {AgentError} when nothing may be sent there. */
function assertReachable(url: URL, { guard, allowHttp }: Line): void {
  if (!allowHttp && isExposed(url)) throw refused(exposedMessage(url))
  try {
    guard.assertUrl(url)
  } catch (problem) {
    throw httpFailure(problem, { origin: url.origin, phase: 'connect' })
  }
}

async function send(exchange: Exchange, line: Line): Promise<Response> {
  const { url, signal } = exchange
  signal?.throwIfAborted()
  const headers = new Headers(exchange.headers)
  if (url.origin === line.agent.origin) {
    const own = await ownHeaders(line.headers, signal)
    const given = new Set(headers.keys())
    for (const [name, value] of Object.entries(own)) {
      if (!given.has(name.toLowerCase())) headers.set(name, value)
    }
    if (line.login !== undefined && !headers.has('authorization')) {
      headers.set('authorization', line.login)
    }
  }
  return line.connections.send({ ...exchange, headers })
}
