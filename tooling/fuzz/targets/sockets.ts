/** Attacks WebSocket connections: a few frames each, then a ping that must be answered. */
import { ClientMessage } from '@tutti/protocol'
import * as fc from 'fast-check'

import { messageFaultsOf } from '../lib/judge.ts'
import { bodiesOf, type Attempt, type Target } from './target.ts'

/** WebSockets. */
export function socketsTarget(): Target {
  return {
    name: 'websocket',
    attempts: fc
      .tuple(
        fc.constantFrom('/ws', '/runs/first/ws'),
        fc.array(frames(), { minLength: 1, maxLength: 8 }),
      )
      .map(([path, sent]) => connectionAttempt(path, sent)),
  }
}

/** Maximum time until the answer to the last ping, in milliseconds. */
const PONG_MS = 10_000

/** Close codes by which a server reports its own failure. Source: RFC 6455, section 7.4.1. */
const SERVER_FAILED: readonly number[] = [1006, 1011]

function frames(): fc.Arbitrary<string | Uint8Array<ArrayBuffer>> {
  const messages = ClientMessage.anyOf.map((schema) => bodiesOf(schema))
  const bytes = fc.uint8Array({ maxLength: 64 }).map((array) => Uint8Array.from(array))
  return fc.oneof({ weight: 12, arbitrary: fc.oneof(...messages) }, { weight: 1, arbitrary: bytes })
}

function connectionAttempt(
  path: string,
  sent: readonly (string | Uint8Array<ArrayBuffer>)[],
): Attempt {
  return {
    label: `${path} ${sent.map(String).join(' | ')}`,
    make: (url) => converse(`${url.replace('http', 'ws')}${path}`, sent),
  }
}

/**
 * Sends the frames and returns every fault of the replies. A connection may be closed by the server with a
 * reason.
 */
async function converse(
  url: string,
  sent: readonly (string | Uint8Array<ArrayBuffer>)[],
): Promise<readonly string[]> {
  const socket = new WebSocket(url)
  const faults: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(() => {
    faults.push(`No pong within ${PONG_MS} ms`)
    resolve()
  }, PONG_MS)
  let isOpen = false
  socket.addEventListener('open', () => {
    isOpen = true
    for (const frame of sent) socket.send(frame)
    socket.send('{"type":"ping"}')
  })
  socket.addEventListener('message', ({ data }) => {
    const text = String(data)
    faults.push(...messageFaultsOf(text))
    if (text === '{"type":"pong"}') resolve()
  })
  socket.addEventListener('close', ({ code }) => {
    // A rejected handshake, for example for an unknown run, closes without opening.
    if (isOpen && SERVER_FAILED.includes(code)) faults.push(`Closed with ${code}`)
    resolve()
  })
  await promise
  clearTimeout(timer)
  socket.close()
  return [...faults]
}
