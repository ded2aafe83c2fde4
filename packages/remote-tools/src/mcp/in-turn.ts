/**
 * Order among what a server sends. The protocol's library takes an answer at once and a notification a
 * moment later, so that progress that arrives together with the answer would be told of too late, which
 * is never.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'

import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client'

/**
 * Handles each notification of a connected transport before the next message. Each message is handled in the async
 * context in which it arrived, which is that of its call.
 */
export function takeInTurn(transport: Transport): void {
  const deliver = transport.onmessage?.bind(transport)
  if (deliver === undefined) return
  const queue: (readonly [JSONRPCMessage, () => void])[] = []
  let delivering = false
  const deliverAll = async (): Promise<void> => {
    delivering = true
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [message, deliverInContext] = next
      deliverInContext()
      if (!('id' in message)) await setImmediate()
    }
    delivering = false
  }
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- transports have no other way
  transport.onmessage = (message, extra) => {
    queue.push([
      message,
      AsyncLocalStorage.bind(() => {
        deliver(message, extra)
      }),
    ])
    if (!delivering) void deliverAll()
  }
}
