/** Serves WebSockets on the HTTP server: upgrade, guard, sessions and heartbeats. */
import { TuttiError, type Clock } from '@tutti/core'
import { ROUTES } from '@tutti/protocol'
import { SocketQuery } from '@tutti/protocol/internal'
import { WebSocketServer, type WebSocket } from 'ws'
import {
  assertScope,
  badRequest,
  type Caller,
  findRecord,
  reportError,
} from '@tutti/gateway/internal'

import { assertTarget } from '../http/assert-target.ts'
import { corsHeaders } from '../http/cors.ts'
import { readQuery } from '../http/read-query.ts'
import { endWithError } from '../http/raw-response.ts'
import { readRequestInfo } from '../http/request-info.ts'
import { recordRequest } from '../http/record-request.ts'
import { CapacityFeed } from './capacity-feed.ts'
import { SocketSession, type ConnectionInfo } from './session.ts'

import type { RequestGuard } from '../auth/guard-request.ts'
import type { ResolvedControlApiOptions } from '../options.ts'
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'

/** Source of upgrade requests, such as a Node HTTP server. */
export interface UpgradeServer {
  on(
    event: 'upgrade',
    listener: (request: IncomingMessage, socket: Duplex, head: Buffer) => void,
  ): unknown
}

/** The WebSocket side of the control API. */
export interface Sockets {
  /** Number of open connections. */
  readonly count: number
  /** Serves the connections of an HTTP server until it is closed. */
  attach(server: UpgradeServer): void
  /** Closes every connection; those that do not respond are terminated after {@link CLOSE_GRACE_MS}. */
  close(): void
}

/** Base for parsing the target of a request, which has no origin. */
const ANY_BASE = 'http://localhost'

const RUN_PATH = /^\/runs\/([^/]+)\/ws$/

/** Time for a client to confirm that its connection closes, in milliseconds. */
const CLOSE_GRACE_MS = 1_000

/** Registered close code "Going away", for a server that stops. */
const GOING_AWAY = 1001

/** Registered close code "Policy violation", for an expired key. */
const POLICY_VIOLATION = 1008

/** Status of a successful handshake. */
const SWITCHING_PROTOCOLS = 101

/** `Retry-After` for handshakes refused at the limit of WebSockets, in milliseconds. */
const RETRY_MS = 5_000

/** Creates the WebSocket side of the control API. */
export function createSockets(options: ResolvedControlApiOptions, guard: RequestGuard): Sockets {
  const { clock, logger, maxSockets, maxBodyBytes: maxPayload } = options
  // RFC 6455, section 4.2.2: only a subprotocol that the server speaks is confirmed. There is none.
  const server = new WebSocketServer({ noServer: true, maxPayload, handleProtocols: () => false })
  const sessions = new Map<WebSocket, SocketSession>()
  const capacity = createCapacityFeed(options, sessions)
  let opening = 0
  let stopHeartbeat = (): void => undefined

  const refuse = (socket: Duplex, request: IncomingMessage, error: unknown): void => {
    const requestInfo = readRequestInfo(request)
    const headers = corsHeaders(requestInfo.origin, guard.allowsOrigin(requestInfo))
    const wire = reportError(error, options)
    recordHandshake(options, wire.status)
    endWithError(socket, wire, { headers, clock })
  }
  server.on('wsClientError', (error, socket, request) => {
    refuse(socket, request, badRequest('handshake', [{ path: '', message: error.message }]))
  })

  const admit = async (request: IncomingMessage): Promise<ConnectionInfo> => {
    const requestInfo = readRequestInfo(request)
    guard.assertSite(requestInfo)
    const caller = guard.identify(requestInfo, { takesTicket: true })
    assertScope(caller, ROUTES.openSocket.scope)
    if (sessions.size + opening > maxSockets) throw tooManySockets(maxSockets)
    const { url: target = '/' } = request
    const runId = parseRunId(target)
    const { snapshot = 'all' } = readQuery(`${ANY_BASE}${target}`, SocketQuery)
    const info = { caller, snapshot, capacity: () => capacity.current() }
    if (runId === undefined) return { ...info, runId }
    const run = await findRecord(options.runs, runId, caller)
    return { ...info, runId: run.runId }
  }

  const open = (webSocket: WebSocket, info: ConnectionInfo): void => {
    webSocket.on('error', (error) => {
      logger.debug('WebSocket failed', { error })
    })
    webSocket.on('close', () => {
      sessions.delete(webSocket)
      if (sessions.size === 0) capacity.unlisten()
    })
    closeAtExpiry(webSocket, info.caller, clock)
    recordHandshake(options, SWITCHING_PROTOCOLS)
    sessions.set(webSocket, new SocketSession(webSocket, options, info))
    capacity.listen()
  }

  return {
    get count() {
      return sessions.size
    },
    attach(http) {
      stopHeartbeat = startHeartbeat(options, sessions)
      capacity.start()
      http.on('upgrade', (request, socket, head) => {
        socket.on('error', () => undefined)
        opening += 1
        admit(request)
          .finally(() => {
            opening -= 1
          })
          .then(
            (info) => {
              server.handleUpgrade(request, socket, head, (webSocket) => {
                open(webSocket, info)
              })
            },
            (error: unknown) => {
              refuse(socket, request, error)
            },
          )
      })
    },
    close() {
      stopHeartbeat()
      capacity.stop()
      for (const socket of sessions.keys()) closeSoon(socket, clock)
      server.close()
    },
  }
}

/** Creates the feed that sends the load of the server to the connections that subscribed to it. */
function createCapacityFeed(
  options: ResolvedControlApiOptions,
  sessions: ReadonlyMap<WebSocket, SocketSession>,
): CapacityFeed {
  const readers = (): readonly SocketSession[] =>
    [...sessions.values()].filter((session) => session.subscribesTo('capacity_update'))
  return new CapacityFeed({
    ...options,
    hasReaders: () => readers().length > 0,
    send: (update) => {
      for (const session of readers()) session.send(update)
    },
  })
}

/**
 * Returns the run id in the path of a handshake; undefined for the path of all runs.
 *
 * @throws {TuttiError} NOT_FOUND for another path, BAD_REQUEST for a malformed one.
 */
function parseRunId(target: string): string | undefined {
  const [path = ''] = target.split('?')
  assertTarget(`${ANY_BASE}${path}`)
  if (path === '/ws') return undefined
  const [, encoded] = RUN_PATH.exec(path) ?? []
  if (encoded !== undefined) return decodeURIComponent(encoded)
  throw new TuttiError('NOT_FOUND', `No WebSocket at ${path}; use /ws or /runs/{runId}/ws`)
}

function recordHandshake(options: ResolvedControlApiOptions, status: number): void {
  recordRequest(options, { method: 'GET', route: 'openSocket', status, durationMs: 0 })
}

function tooManySockets(maxSockets: number): TuttiError {
  return new TuttiError(
    'RATE_LIMITED',
    `Connection limit reached: ${maxSockets} WebSockets are open (maxSockets)`,
    { retryable: true, details: { retryAfterMs: RETRY_MS, reason: 'websockets' } },
  )
}

/** Closes a connection when its key expires. */
function closeAtExpiry(socket: WebSocket, { expiresAt }: Caller, clock: Clock): void {
  if (expiresAt === Infinity) return
  const stopWaiting = clock.after(expiresAt - clock.now(), () => {
    socket.close(POLICY_VIOLATION, 'The key has expired')
  })
  socket.on('close', stopWaiting)
}

function closeSoon(socket: WebSocket, clock: Clock): void {
  const stopWaiting = clock.after(CLOSE_GRACE_MS, () => {
    socket.terminate()
  })
  socket.on('close', stopWaiting)
  socket.close(GOING_AWAY, 'The server is shutting down')
}

/** Sends a `heartbeat` to every connection at intervals, and terminates those that do not answer pings. */
function startHeartbeat(
  { clock, heartbeatMs }: ResolvedControlApiOptions,
  sessions: ReadonlyMap<WebSocket, SocketSession>,
): () => void {
  const answered = new WeakSet<WebSocket>()
  const pinged = new WeakSet<WebSocket>()
  let stop = (): void => undefined
  const tick = (): void => {
    for (const [socket, session] of sessions) {
      // A paused connection is not read, so its answer cannot have arrived.
      if (pinged.has(socket) && !answered.has(socket) && !socket.isPaused) {
        socket.terminate()
        continue
      }
      if (!pinged.has(socket)) socket.on('pong', () => answered.add(socket))
      pinged.add(socket)
      answered.delete(socket)
      session.send({ type: 'heartbeat', serverTimeMs: clock.now() })
      socket.ping()
    }
    stop = clock.after(heartbeatMs, tick)
  }
  stop = clock.after(heartbeatMs, tick)
  return () => {
    stop()
  }
}
