/**
 * Guarded `fetch` for one agent, with the headers of the agent.
 *
 * AGENT-F1 There is no time limit here, because agents may be silent for long: the signal of the request is the limit.
 * AGENT-F2 The configured headers, and user and password of the URL, are sent only to the origin of the agent, not to
 *    origins that its card names.
 * AGENT-F3 `http:` is allowed to this machine, or explicitly. The host of the agent is allowed by name, on its port
 *    only; other hosts and ports pass the network guard.
 * AGENT-F4 At most 5 redirects are followed, within one origin.
 * AGENT-F5 Requests have only the headers of the caller, the headers above, `accept` and those that HTTP needs.
 * AGENT-F6 Every failure is an `AgentError` that shows at most the origin, also while the body is read. An abort
 *    rejects with the reason of the signal.
 */
import {
  findHeaderProblems,
  guardAround,
  guardedFetch,
  separateLogin,
  type GuardedFetch,
  type Hop,
  type ResolveHost,
} from '@tutti/net/internal'

import { exposedMessage, isExposed, readAgentUrl, formatShownUrl } from './agent-url.ts'
import { toHttpFailure, createConfigurationFailure } from './http-failure.ts'
import { ownHeaders, type AgentHeaders, type AgentHeaderSource } from './own-headers.ts'

/** Options of requests to an agent. */
export interface AgentHttpOptions {
  /**
   * Headers of each request to the origin of the agent, or a function that returns them for each request.
   * Headers of the protocol itself take precedence.
   */
  readonly headers?: AgentHeaderSource
  /** Whether `http:` may lead to another machine. @default false */
  readonly allowHttp?: boolean
  /**
   * Targets that agent cards may name in addition to the public internet and the host and port of the agent: hosts,
   * addresses and blocks in the form of `networkGuard`. @default none
   */
  readonly allow?: readonly string[]
  /** Resolves host names. @default the resolver of the system */
  readonly resolve?: ResolveHost
}

/**
 * Creates the `fetch` for the agent at `url`. It connects at the first request.
 *
 * @throws {TypeError} for a URL that is not allowed, invalid headers, and invalid rules in `allow`.
 */
export function createAgentFetch(url: string | URL, options: AgentHttpOptions = {}): GuardedFetch {
  const { url: agent, login } = separateLogin(readAgentUrl(url, options))
  const { headers = {}, allowHttp = false } = options
  const problems = typeof headers === 'function' ? [] : findHeaderProblems(headers)
  if (problems.length > 0) {
    throw new TypeError(
      `Cannot ask the agent at "${formatShownUrl(agent)}": ${problems.join('; ')}`,
    )
  }
  const guard = guardAround(agent, {
    allow: options.allow ?? [],
    ...(options.resolve === undefined ? {} : { resolve: options.resolve }),
  })
  const assertReachable = (target: URL): void => {
    if (!allowHttp && isExposed(target)) throw createConfigurationFailure(exposedMessage(target))
    try {
      guard.assertUrl(target)
    } catch (problem) {
      throw toHttpFailure(problem, target.origin)
    }
  }
  const fetch = guardedFetch({
    guard,
    async prepare(hop, signal) {
      assertReachable(hop.url)
      if (hop.url.origin !== agent.origin) return hop
      return withOwnHeaders(hop, await ownHeaders(headers, signal), login)
    },
    toError: (failure, target) => toHttpFailure(failure, target.origin),
  })
  const fetchFromAgent = async (
    input: string | URL | Request,
    init: RequestInit = {},
  ): Promise<Response> => {
    if (input instanceof Request) return fetch(input, init)
    const given = new URL(input)
    const target = given.origin === agent.origin ? separateLogin(given).url : given
    // The Request constructor rejects a URL with a password; its message is passed on.
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
