/** Serves WebSockets on the HTTP server: upgrade, guard, sessions, signs of life. */
import { TuttiError, type Clock } from '@tutti/core'
import { ROUTES, SocketQuery } from '@tutti/protocol'
import { WebSocketServer, type WebSocket } from 'ws'
import { assertScope, badRequest, type Caller, findRecord, reportError } from '@tutti/gateway'

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

/** What upgrades connections; a Node HTTP server is one. */
export interface UpgradeServer {
  on(
    event: 'upgrade',
    listener: (request: IncomingMessage, socket: Duplex, head: Buffer) => void,
  ): unknown
}

/** The WebSocket side of the control API. */
export interface Sockets {
  /** Open connections. */
  readonly count: number
  /** Serves the connections of an HTTP server until it is closed. */
  attach(server: UpgradeServer): void
  /** Closes every connection; one that does not answer is cut after a second. */
  close(): void
}

/** What makes an address of the target of a request, which has none of its own. */
const ANY_BASE = 'http://localhost'

const RUN_PATH = /^\/runs\/([^/]+)\/ws$/

/** How long a client may take to answer that its connection is closed. */
const CLOSE_GRACE_MS = 1_000

/** "Going away", the registered close code of a server that stops. */
const GOING_AWAY = 1001

/** "Policy violation", the registered close code for who may not be here any more. */
const POLICY_VIOLATION = 1008

/** The status of a handshake that went well. */
const SWITCHING_PROTOCOLS = 101

/** How long a client should wait that found every connection taken. */
const RETRY_MS = 5_000

/** Makes the WebSocket side. */
export function createSockets(options: ResolvedControlApiOptions, guard: RequestGuard): Sockets {
  const server = new WebSocketServer({ noServer: true, maxPayload: options.maxBodyBytes })
  const { clock, logger, maxSockets } = options
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
    const run = await findRecord(options.runs, runId)
    return { ...info, runId: run.runId }
  }

  const open = (webSocket: WebSocket, info: ConnectionInfo): void => {
    webSocket.on('error', (error) => {
      logger.debug('A WebSocket failed', { error })
    })
    webSocket.on('close', () => sessions.delete(webSocket))
    closeAtExpiry(webSocket, info.caller, clock)
    recordHandshake(options, SWITCHING_PROTOCOLS)
    sessions.set(webSocket, new SocketSession(webSocket, options, info))
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

/** Tells the connections that subscribed to it how busy the server is. */
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
 * The run that the address of a connection names; undefined for every run.
 *
 * @throws {TuttiError} NOT_FOUND for another address, BAD_REQUEST for one that is not written well.
 */
function parseRunId(target: string): string | undefined {
  const [path = ''] = target.split('?')
  assertTarget(`${ANY_BASE}${path}`)
  if (path === '/ws') return undefined
  const [, encoded] = RUN_PATH.exec(path) ?? []
  if (encoded !== undefined) return decodeURIComponent(encoded)
  throw new TuttiError('NOT_FOUND', `There is no WebSocket at ${path}`)
}

function recordHandshake(options: ResolvedControlApiOptions, status: number): void {
  recordRequest(options, { method: 'GET', route: 'openSocket', status, durationMs: 0 })
}

function tooManySockets(maxSockets: number): TuttiError {
  return new TuttiError(
    'RATE_LIMITED',
    `${maxSockets} WebSockets are open, as many as this server allows`,
    { retryable: true, details: { retryAfterMs: RETRY_MS, reason: 'websockets' } },
  )
}

/** Ends a connection when its key does. */
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

/** Sends a `heartbeat` to every connection, again and again; drops those that do not answer pings. */
function startHeartbeat(
  { clock, heartbeatMs }: ResolvedControlApiOptions,
  sessions: ReadonlyMap<WebSocket, SocketSession>,
): () => void {
  const answered = new WeakSet<WebSocket>()
  const asked = new WeakSet<WebSocket>()
  let stop = (): void => undefined
  const tick = (): void => {
    for (const [socket, session] of sessions) {
      // A paused connection is not read, so its answer cannot have arrived.
      if (asked.has(socket) && !answered.has(socket) && !socket.isPaused) {
        socket.terminate()
        continue
      }
      if (!asked.has(socket)) socket.on('pong', () => answered.add(socket))
      asked.add(socket)
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
