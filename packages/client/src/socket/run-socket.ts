/**
 * One WebSocket, from its handshake to its end.
 *
 * W1 A socket on which nothing comes for `idleTimeoutMs` is dead; the server sends a heartbeat every 15 s.
 * W2 A message of a type that is newer than this client is passed over; an event among them still counts.
 *    What does not fit its type is BAD_RESPONSE.
 * W3 When the scope ends the socket is closed, and nothing is told any more.
 */
import {
  decode,
  decodeServerMessage,
  EventPosition,
  SERVER_MESSAGE_TYPES,
  type ServerMessage,
} from '@tutti/protocol'

import { TuttiClientError } from '../errors.ts'
import { badResponseError, parseJson } from '../http/read-answer.ts'

import type { CallScope } from '../call-scope.ts'
import type { SocketLike } from '../options.ts'

/** What a socket brings. */
export interface SocketEvents {
  /** A message of a known type. What it throws ends the socket. */
  onMessage(message: ServerMessage): void
  /** An event of a type that this version does not know. */
  onUnknownEvent(position: EventPosition): void
}

/** How a socket ended, when it was not this side that ended it. */
export interface SocketLoss {
  /** Whether the handshake had been done. */
  readonly wasOpen: boolean
  readonly code: number
  readonly reason: string
}

/** "Normal closure". @see https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1 */
const NORMAL_CLOSURE = 1000

const WHAT = 'a message of the server'

/**
 * Reads a socket until it is lost.
 *
 * @throws {TuttiClientError} the reason when the scope ends; BAD_RESPONSE when a message does not fit.
 */
export async function readSocket(
  socket: SocketLike,
  events: SocketEvents,
  { scope, idleTimeoutMs }: { readonly scope: CallScope; readonly idleTimeoutMs: number },
): Promise<SocketLoss> {
  let isOver = false
  let stopWaiting = (): void => undefined
  const waitForSign = (): void => {
    stopWaiting()
    stopWaiting = scope.limit(idleTimeoutMs, `No sign of life for ${idleTimeoutMs} ms`)
  }
  waitForSign()
  try {
    return await scope.race(
      new Promise<SocketLoss>((resolve, reject) => {
        let wasOpen = false
        socket.addEventListener('open', () => {
          wasOpen = true
        })
        // The close that follows says as much as there is.
        socket.addEventListener('error', () => undefined)
        socket.addEventListener('close', ({ code, reason }) => {
          resolve({ wasOpen, code, reason })
        })
        socket.addEventListener('message', ({ data }) => {
          if (isOver) return
          waitForSign()
          try {
            dispatchMessage(data, events)
          } catch (error) {
            isOver = true
            reject(error)
          }
        })
      }),
    )
  } finally {
    isOver = true
    stopWaiting()
    socket.close(NORMAL_CLOSURE)
  }
}

const KNOWN_TYPES: ReadonlySet<string> = new Set(SERVER_MESSAGE_TYPES)

function dispatchMessage(data: unknown, { onMessage, onUnknownEvent }: SocketEvents): void {
  if (typeof data !== 'string') {
    throw new TuttiClientError('BAD_RESPONSE', `Cannot read ${WHAT}: must be text, got binary data`)
  }
  const value = parseJson(WHAT, { text: data })
  if (hasUnknownType(value)) {
    const position = decode(EventPosition, value)
    if (position.ok) onUnknownEvent(position.value)
    return
  }
  const decoded = decodeServerMessage(value)
  if (!decoded.ok) throw badResponseError(WHAT, decoded)
  onMessage(decoded.value)
}

function hasUnknownType(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false
  return typeof value.type === 'string' && !KNOWN_TYPES.has(value.type)
}
