/**
 * Order among what a server sends. The protocol's library takes an answer at once and a notification a
 * moment later, so that progress that arrives together with the answer would be told of too late, which
 * is never.
 */
import { setImmediate } from 'node:timers/promises'

import type { JSONRPCMessage, MessageExtraInfo, Transport } from '@modelcontextprotocol/client'

/** Lets each notification of a connected transport be handled before the next message is. */
export function takeInTurn(transport: Transport): void {
  const deliver = transport.onmessage?.bind(transport)
  if (deliver === undefined) return
  const queue: (readonly [JSONRPCMessage, MessageExtraInfo | undefined])[] = []
  let delivering = false
  const deliverAll = async (): Promise<void> => {
    delivering = true
    for (let next = queue.shift(); next !== undefined; next = queue.shift()) {
      const [message, extra] = next
      deliver(message, extra)
      if (!('id' in message)) await setImmediate()
    }
    delivering = false
  }
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- transports have no other way
  transport.onmessage = (message, extra) => {
    queue.push([message, extra])
    if (!delivering) void deliverAll()
  }
}
