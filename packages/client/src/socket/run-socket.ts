/**
 * Reads one WebSocket, from its handshake to its end.
 *
 * CLIENT-W1 A socket that receives nothing for `idleTimeoutMs` counts as lost; the server sends a heartbeat every 15 s.
 * CLIENT-W2 Messages of types that this client does not know are skipped; unknown events still advance the cursor. A
 *    message that does not match its type is BAD_RESPONSE.
 * CLIENT-W3 When the scope ends, the socket is closed and no further message is passed on.
 */
import { decode, decodeServerMessage, type ServerMessage } from '@tutti/protocol'
import { EventPosition, SERVER_MESSAGE_TYPES } from '@tutti/protocol/internal'

import { TuttiClientError } from '../errors.ts'
import { badResponseError, parseJson } from '../http/read-answer.ts'

import type { CallScope } from '../call-scope.ts'
import type { SocketLike } from '../options.ts'

/** Receives the messages of a socket. */
export interface SocketEvents {
  /** Called with a message of a known type. An exception that it throws ends the socket. */
  onMessage(message: ServerMessage): void
  /** Called with the position of an event of an unknown type. */
  onUnknownEvent(position: EventPosition): void
}

/** End of a socket that the client did not close. */
export interface SocketLoss {
  /** Whether the handshake had succeeded. */
  readonly wasOpen: boolean
  readonly code: number
  readonly reason: string
}

/** "Normal closure". @see https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1 */
const NORMAL_CLOSURE = 1000

const WHAT = 'a message from the server'

/**
 * Reads a socket until it is lost.
 *
 * @throws {TuttiClientError} the reason when the scope ends; BAD_RESPONSE for an invalid message.
 */
export async function readSocket(
  socket: SocketLike,
  events: SocketEvents,
  { scope, idleTimeoutMs }: { readonly scope: CallScope; readonly idleTimeoutMs: number },
): Promise<SocketLoss> {
  let isOver = false
  let stopWaiting = (): void => undefined
  const restartTimer = (): void => {
    stopWaiting()
    stopWaiting = scope.limit(idleTimeoutMs, `No data for ${idleTimeoutMs} ms`)
  }
  restartTimer()
  try {
    return await scope.race(
      new Promise<SocketLoss>((resolve, reject) => {
        let wasOpen = false
        socket.addEventListener('open', () => {
          wasOpen = true
        })
        // The `close` event that follows has all the information.
        socket.addEventListener('error', () => undefined)
        socket.addEventListener('close', ({ code, reason }) => {
          resolve({ wasOpen, code, reason })
        })
        socket.addEventListener('message', ({ data }) => {
          if (isOver) return
          restartTimer()
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
