/** Pure: converts commands and subscriptions to messages, and their replies to those of REST. */
import { decode } from '@tutti/protocol'
import {
  commandEntry,
  type CommandResponse,
  type RunCommandKind,
  type Subscribe,
} from '@tutti/protocol/internal'

import { badResponseError } from '../http/read-answer.ts'

import type { CommandRequest } from '../commands.ts'
import type { SocketRequest } from './requests.ts'

/** Converts a command to a request. */
export function commandRequest<K extends RunCommandKind>({
  kind,
  target,
  body,
}: CommandRequest<K>): SocketRequest<CommandResponse<K>> {
  const { target: parameter, route } = commandEntry(kind)
  const what = `${kind} of ${parameter === 'runId' ? 'run' : 'review'} "${target}"`
  return {
    what,
    message: { type: 'command', command: kind, target, body },
    reply(message) {
      const value = message.type === 'command_ack' ? message.response : undefined
      const decoded = decode(route.response, value)
      if (decoded.ok) return decoded.value
      throw badResponseError(`the reply to ${what}`, decoded)
    },
  }
}

/** Returns the request for a subscription; `onReply` is called before any other message is received. */
export function subscribeRequest(message: Subscribe, onReply: () => void): SocketRequest<void> {
  const what =
    message.runId === undefined ? 'the subscription' : `the subscription to run "${message.runId}"`
  return { what, message, isSubscription: true, reply: onReply }
}
