/**
 * Keeps the messages of a server in order. The MCP SDK dispatches responses synchronously but notifications
 * asynchronously, so progress that arrives together with the response would be dropped.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'

import { unmarkMessage } from './exact-messages.ts'

import type { JSONRPCMessage, MessageExtraInfo, Transport } from '@modelcontextprotocol/client'

/** The messages of a transport, handled in order. */
export interface OrderedMessages {
  /** Resolves when every message that has arrived has been handled. */
  handled(): Promise<void>
}

/** Handles the messages of a connected transport one after the other, each in the async context of its arrival. */
export function handleInOrder(
  transport: Transport,
  onMessage: (message: JSONRPCMessage) => void = () => undefined,
): OrderedMessages {
  const deliver = transport.onmessage?.bind(transport)
  let turn = Promise.resolve()
  let waiting = 0
  const handle = (message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void => {
    onMessage(message)
    deliver?.(unmarkMessage(message), extra)
  }
  const handleLater = async (message: JSONRPCMessage, inContext: () => void): Promise<void> => {
    inContext()
    if (!('id' in message)) await setImmediate()
    waiting -= 1
  }
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- transports have no other API
  transport.onmessage = (message, extra) => {
    if (waiting === 0 && 'id' in message) {
      handle(message, extra)
      return
    }
    const inContext = AsyncLocalStorage.bind(() => {
      handle(message, extra)
    })
    waiting += 1
    turn = turn.then(() => handleLater(message, inContext))
  }
  return {
    async handled() {
      await turn
      // The promises that a response settles are settled one turn later.
      await setImmediate()
    },
  }
}
