/**
 * The way to a shared task or tool of another Tutti server (or of AgentEnsemble), over its WebSocket.
 *
 *   call ─▶ request ─▶ link ─▶ task_accepted, task_progress … (chunks) ─▶ task_response (end)
 *
 * P1 One link is shared by all calls, each under its own `requestId`.
 * P2 The same call is the same request, also when it is made again. A task whose link was lost is asked for
 *    once more over a new one, and is still the same run there; what was told of it is not told again. A
 *    tool is not: its call ended with the link.
 * P3 A task that is cancelled is cancelled there by its run, as soon as that is known. For a tool there is
 *    no such message: its call ends with the link, which is dropped when nobody else uses it, and closed
 *    when the others are done.
 * P4 A task that was cancelled from here or has failed is over: the same call after that is a new one.
 */
import {
  findHeaderProblems,
  guardAround,
  quietSystemClock,
  SocketLink,
  type SocketLinkSettings,
} from '@tutti/net'

import { ownHeaders } from '../http/own-headers.ts'
import { PendingRequests } from './pending-requests.ts'
import { readPeerAddress, type PeerKind } from './peer-address.ts'
import { peerDialect } from './peer-dialect.ts'
import { PeerSession, type PeerShared } from './peer-session.ts'

import type { AgentHttpOptions } from '../http/agent-fetch.ts'
import type { AgentConnector } from '@tutti/agent-call'
import type { Clock } from '@tutti/core'
import type { PeerReply } from './peer-request.ts'

/** A task or tool of a peer. */
export interface PeerConnectorOptions extends Pick<AgentHttpOptions, 'headers' | 'allowHttp'> {
  /**
   * Where the peer is and what is asked of it: `wss://host/path#task:name`, `#tool:name`, or `#name`, for
   * which the peer is asked what it is. No path means `/ws`.
   */
  readonly url: string | URL
  /** What the name in the address is the name of. @default as the address says, or the peer */
  readonly kind?: PeerKind
  /** Who asks, as the peer is told. @default "tutti" */
  readonly from?: string
  /** @default the clock of this machine, which does not keep the process alive */
  readonly clock?: Pick<Clock, 'after' | 'elapsed'>
}

/** Time limit of a task of a peer: it is a whole run there, with model calls and maybe reviews. */
export const DEFAULT_PEER_TASK_TIMEOUT_MS = 30 * 60_000

/** Who asks, when nothing else is said. */
const DEFAULT_FROM = 'tutti'

/**
 * Makes the way to a task or tool of a peer.
 *
 * @throws {TypeError} when the address is none, names nothing, or is one of `ws:` to another machine
 * without `allowHttp`; for headers that cannot be sent.
 */
export function peerConnector(options: PeerConnectorOptions): AgentConnector {
  const { url, headers = {}, from = DEFAULT_FROM, clock = quietSystemClock } = options
  const address = readPeerAddress(url, options)
  const problems = typeof headers === 'function' ? [] : findHeaderProblems(headers)
  if (problems.length > 0) {
    throw new TypeError(`Cannot ask the peer at "${address.uri}": ${problems.join('; ')}`)
  }
  const { socketUrl } = address
  const settings: SocketLinkSettings<PeerReply> = {
    url: socketUrl,
    guard: guardAround(socketUrl),
    dialect: peerDialect(socketUrl.origin),
    headers: async () => ({
      ...(address.login === undefined ? {} : { authorization: address.login }),
      ...(await ownHeaders(headers, undefined)),
    }),
    clock,
  }
  const links = new Set<SocketLink<PeerReply>>()
  let current: SocketLink<PeerReply> | undefined
  const shared: PeerShared = {
    address,
    from,
    clock,
    pending: new PendingRequests(),
    kind: address.kind,
    link() {
      if (current?.isFresh === true) return current
      current = new SocketLink(settings, (ended) => links.delete(ended))
      links.add(current)
      return current
    },
  }
  return {
    uri: address.uri,
    protocol: 'ensemble',
    ...(address.kind === 'tool' ? {} : { timeoutMs: DEFAULT_PEER_TASK_TIMEOUT_MS }),
    connect: async (call) => new PeerSession(shared, call),
    async close() {
      await Promise.all([...links].map((link) => link.close()))
    },
  }
}
