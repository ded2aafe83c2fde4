/** Serves WebSockets on the HTTP server: upgrade, guard, sessions, signs of life. */
import { WebSocketServer, type WebSocket } from 'ws'

import { findRun, runNotFound } from '../find-run.ts'
import { requestGuard, type RequestHeaders } from '../http/guard-request.ts'
import { wireErrorOf } from '../http/on-error.ts'
import { Session } from './session.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { WireError } from '../http/api-error.ts'
import type { Clock } from '@tutti/core'
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

const RUN_PATH = /^\/runs\/([^/]+)\/ws$/

/** How long a client may take to answer that its connection is closed. */
const CLOSE_GRACE_MS = 1_000

/** "Going away", the registered close code of a server that stops. */
const GOING_AWAY = 1001

/** Makes the WebSocket side. */
export function createSockets(options: ResolvedControlApiOptions): Sockets {
  const server = new WebSocketServer({ noServer: true, maxPayload: options.maxBodyBytes })
  const guard = requestGuard(options)
  const sessions = new Map<WebSocket, Session>()
  let stopHeartbeat = (): void => undefined

  const admit = async (request: IncomingMessage): Promise<string | undefined> => {
    guard(headersOf(request), 'keyed')
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    if (pathname === '/ws') return undefined
    const [, encoded] = RUN_PATH.exec(pathname) ?? []
    if (encoded === undefined) throw runNotFound(pathname)
    const { run } = await findRun(options.runs, decodePathPart(encoded))
    return run.runId
  }

  return {
    get count() {
      return sessions.size
    },
    attach(http) {
      stopHeartbeat = beat(options, sessions)
      http.on('upgrade', (request, socket, head) => {
        socket.on('error', () => undefined)
        admit(request).then(
          (runId) => {
            server.handleUpgrade(request, socket, head, (webSocket) => {
              webSocket.on('error', (error) => {
                options.logger.debug('A WebSocket failed', { error })
              })
              webSocket.on('close', () => sessions.delete(webSocket))
              sessions.set(webSocket, new Session(webSocket, options, runId))
            })
          },
          (error: unknown) => {
            refuse(socket, wireErrorOf(error, options.logger))
          },
        )
      })
    },
    close() {
      stopHeartbeat()
      for (const socket of sessions.keys()) closeSoon(socket, options.clock)
      server.close()
    },
  }
}

/** A part of a path as text; one that is not encoded well names nothing, and stays as it is. */
function decodePathPart(encoded: string): string {
  try {
    return decodeURIComponent(encoded)
  } catch {
    return encoded
  }
}

function closeSoon(socket: WebSocket, clock: Clock): void {
  const stopWaiting = clock.after(CLOSE_GRACE_MS, () => {
    socket.terminate()
  })
  socket.on('close', stopWaiting)
  socket.close(GOING_AWAY, 'The server is shutting down')
}

function headersOf({ headers }: IncomingMessage): RequestHeaders {
  const { host, origin, authorization } = headers
  return { host, origin, authorization }
}

/** Answers a handshake with an error, as HTTP does. */
function refuse(socket: Duplex, error: WireError): void {
  const body = JSON.stringify(error.body)
  socket.end(
    [
      `HTTP/1.1 ${error.status} Refused`,
      'content-type: application/json',
      `content-length: ${Buffer.byteLength(body)}`,
      'connection: close',
      '',
      body,
    ].join('\r\n'),
  )
}

/** Sends a `heartbeat` to every connection, again and again; drops those that do not answer pings. */
function beat(
  { clock, heartbeatMs }: ResolvedControlApiOptions,
  sessions: ReadonlyMap<WebSocket, Session>,
): () => void {
  const answered = new WeakSet<WebSocket>()
  const asked = new WeakSet<WebSocket>()
  let stop = (): void => undefined
  const tick = (): void => {
    for (const [socket, session] of sessions) {
      if (asked.has(socket) && !answered.has(socket)) {
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
