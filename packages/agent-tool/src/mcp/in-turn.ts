/**
 * Order among what a server sends. The protocol's library takes an answer at once and a notification a
 * moment later, so that progress that arrives together with the answer would be told of too late, which
 * is never.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { setImmediate } from 'node:timers/promises'

import type { JSONRPCMessage, MessageExtraInfo, Transport } from '@modelcontextprotocol/client'

/** What is told of messages that are handled in turn. */
export interface InTurn {
  /** Resolves when everything that has come was handled. */
  handled(): Promise<void>
}

/** Lets each message of a connected transport be handled before the next one is, each in its own context. */
export function takeInTurn(
  transport: Transport,
  onMessage: (message: JSONRPCMessage) => void,
): InTurn {
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
      // What an answer settles has been settled one turn later.
      await setImmediate()
    },
  }
}
