/**
 * Connects to a shared task or tool of another Tutti server (or of AgentEnsemble) over its WebSocket.
 *
 *   call ─▶ request ─▶ link ─▶ task_accepted, task_progress … (chunks) ─▶ task_response (end)
 *
 * AE-P1 All calls share one link; each has its own `requestId`.
 * AE-P2 A repeated call is the same request. If the link is lost, a task is requested once more over a new link and
 *    continues as the same run of the peer; its reported events are not reported again. A tool call is not
 *    repeated: it ended with the link.
 * AE-P3 Cancelling a task cancels its run at the peer as soon as the run is known. Tools cannot be cancelled:
 *    the call ends with the link, which is dropped if no other call uses it, else closed after the other calls.
 * AE-P4 After a task was cancelled by the caller or has failed, the same call is a new request.
 */
import {
  findHeaderProblems,
  guardAround,
  quietSystemClock,
  SocketLink,
  type SocketLinkSettings,
} from '@tutti/net/internal'

import type { ConnectorFactory } from '@tutti/agent-tool/adapter'
import { type AgentHttpOptions, ownHeaders } from '@tutti/agent-tool/internal'
import { PendingRequests } from './pending-requests.ts'
import { readPeerAddress, type PeerKind } from './peer-address.ts'
import { createPeerDialect } from './peer-dialect.ts'
import { PeerSession, type PeerShared } from './peer-session.ts'

import type { AgentConnector } from '@tutti/agent-call/internal'
import type { Clock } from '@tutti/core'
import type { PeerReply } from './peer-request.ts'

/** A shared task or tool of a peer, and connection settings. */
export interface PeerConnectorOptions extends Pick<AgentHttpOptions, 'headers' | 'allowHttp'> {
  /**
   * Address: `wss://host/path#task:name`, `#tool:name`, or `#name`; without a kind the peer is asked for it.
   * The path defaults to `/ws`.
   */
  readonly url: string | URL
  /** Kind of the named item. @default from the address, else from the peer */
  readonly kind?: PeerKind
  /** Name of the caller that the peer sees. @default "tutti" */
  readonly from?: string
  /** @default the clock of this machine, which does not keep the process alive */
  readonly clock?: Pick<Clock, 'after' | 'elapsed'>
}

/** Time limit of a task of a peer: it is a whole run there, possibly with reviews. */
export const DEFAULT_PEER_TASK_TIMEOUT_MS = 30 * 60_000

/** Default name of the caller. */
const DEFAULT_FROM = 'tutti'

/**
 * Creates a connector to a task or tool of a peer. In `connectors` of `agentTool`, it serves `wss:` addresses.
 *
 * @throws {TypeError} when the address is invalid, has no name, or uses `ws:` to another machine without
 * `allowHttp`; for invalid headers.
 */
export const peerConnector: ConnectorFactory<PeerConnectorOptions> = Object.assign(
  createPeerConnector,
  { schemes: ['ws', 'wss'] },
)

function createPeerConnector(options: PeerConnectorOptions): AgentConnector {
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
    dialect: createPeerDialect(socketUrl.origin),
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
