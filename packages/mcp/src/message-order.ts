/**
 * Orders the messages of a server. The MCP SDK dispatches responses synchronously but notifications asynchronously, so
 * that progress which arrives together with the response would be dropped.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'

import type { JSONRPCMessage, MessageExtraInfo, Transport } from '@modelcontextprotocol/client'

/** The messages of a transport whose messages are handled in order. */
export interface OrderedMessages {
  /** Resolves when every message that has arrived was handled. */
  handled(): Promise<void>
}

/** Handles each message of a connected transport after the one before it, each in its own async context. */
export function handleInOrder(
  transport: Transport,
  onMessage: (message: JSONRPCMessage) => void = () => undefined,
): OrderedMessages {
  const deliver = transport.onmessage?.bind(transport)
  let turn = Promise.resolve()
  let waiting = 0
  const handle = (message: JSONRPCMessage, extra: MessageExtraInfo | undefined): void => {
    onMessage(message)
    deliver?.(message, extra)
  }
  const handleLater = async (message: JSONRPCMessage, inContext: () => void): Promise<void> => {
    inContext()
    if (!('id' in message)) await setImmediate()
    waiting -= 1
  }
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- transports have no other way
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
      // Promises that a response settles have settled one turn later.
      await setImmediate()
    },
  }
}
