/**
 * `fetch` for one agent: a guarded `fetch` with the headers of the agent.
 *
 * F1 There is no time limit here, as agents may be silent for long: the signal of the request is the limit.
 * F2 The configured headers, and the user and password of the URL, go to the origin of the agent alone: to
 *    none that a card leads to.
 * F3 `http:` is for this machine, or by explicit allowance. The host of the agent is allowed by its name; any
 *    other one is reached through the network guard.
 * F4 At most 5 redirects are followed, within one origin.
 * F5 Nothing is sent beyond what the caller says, the headers above, `accept` and what HTTP needs.
 * F6 What fails is an `AgentError` that names the origin at most, also when it fails while the body is read;
 *    an abort is the reason of the signal.
 */
import {
  findHeaderProblems,
  guardedFetch,
  networkGuard,
  separateLogin,
  type GuardedFetch,
  type Hop,
  type ResolveHost,
} from '@tutti/net'

import { exposedMessage, isExposed, readAgentUrl, shownUrl } from './agent-url.ts'
import { httpFailure, refused } from './http-failure.ts'
import { ownHeaders, type AgentHeaders, type AgentHeaderSource } from './own-headers.ts'

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

/**
 * Makes `fetch` for the agent at `url`. Nothing is opened before the first request.
 *
 * @throws {TypeError} for a URL that may not be asked, for headers that cannot be sent, and for rules of
 *   `allow` that are none.
 */
export function agentFetch(url: string | URL, options: AgentHttpOptions = {}): GuardedFetch {
  const { url: agent, login } = separateLogin(readAgentUrl(url, options))
  const { headers = {}, allowHttp = false } = options
  const problems = typeof headers === 'function' ? [] : findHeaderProblems(headers)
  if (problems.length > 0) {
    throw new TypeError(`Cannot ask the agent at "${shownUrl(agent)}": ${problems.join('; ')}`)
  }
  const guard = networkGuard({
    allow: [agent.hostname, ...(options.allow ?? [])],
    ...(options.resolve === undefined ? {} : { resolve: options.resolve }),
  })
  const assertReachable = (target: URL): void => {
    if (!allowHttp && isExposed(target)) throw refused(exposedMessage(target))
    try {
      guard.assertUrl(target)
    } catch (problem) {
      throw httpFailure(problem, target.origin)
    }
  }
  const fetch = guardedFetch({
    guard,
    async prepare(hop, signal) {
      assertReachable(hop.url)
      if (hop.url.origin !== agent.origin) return hop
      return withOwnHeaders(hop, await ownHeaders(headers, signal), login)
    },
    toError: (failure, target) => httpFailure(failure, target.origin),
  })
  const fetchFromAgent = async (
    input: string | URL | Request,
    init: RequestInit = {},
  ): Promise<Response> => {
    if (input instanceof Request) return fetch(input, init)
    const given = new URL(input)
    const target = given.origin === agent.origin ? separateLogin(given).url : given
    // A request cannot be made of a URL with a password, which is refused with its reason.
    assertReachable(target)
    return fetch(target, init)
  }
  return Object.assign(fetchFromAgent, { close: () => fetch.close() })
}

/** Adds the headers that the request does not have. */
function withOwnHeaders(hop: Hop, own: AgentHeaders, login: string | undefined): Hop {
  const added = Object.entries(own).map(([name, value]) => [name.toLowerCase(), value] as const)
  const authorization = login === undefined ? {} : { authorization: login }
  return { ...hop, headers: { ...authorization, ...Object.fromEntries(added), ...hop.headers } }
}
