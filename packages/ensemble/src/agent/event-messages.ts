/**
 * The messages of a conversation as `llm_iteration_started` shows them. Each turn repeats the messages before
 * it, so a message is shown in full only in the first turn that has it and is cut in later ones. A long text
 * is thus stored once per task and not once per turn.
 */
import type { ToolCall } from '@tutti/core'
import { limitText } from '@tutti/core/internal'

import { LABEL_LENGTH } from '../scope/task-scope.ts'
import { MAX_TOOL_TEXT_LENGTH } from './tool-events.ts'

import type { Message } from '../model/chat-model.ts'
import type { RunEventOf } from '@tutti/protocol'

type WireMessage = RunEventOf<'llm_iteration_started'>['messages'][number]
type WireCall = NonNullable<WireMessage['toolCalls']>[number]

/** Maximum number of messages that one event shows, as the wire defines it. */
const MESSAGES_SHOWN = 20

/**
 * Maximum number of characters of all tool outputs that one event shows. An event has at most 16,000,000 bytes, and a
 * character up to six.
 */
const MAX_SHOWN_LENGTH = 2_100_000

/** Tracks the messages that the turns of one attempt have shown. */
export class EventMessages {
  #iterationIndex = -1
  /** Number of messages that earlier turns have shown. */
  #before = 0
  /** Number of messages in the current turn. */
  #now = 0

  /** Returns the last messages of a turn. A repeated call of the turn shows the same messages. */
  show(
    iterationIndex: number,
    messages: readonly Message[],
  ): RunEventOf<'llm_iteration_started'>['messages'] {
    if (iterationIndex !== this.#iterationIndex) {
      this.#iterationIndex = iterationIndex
      this.#before = this.#now
    }
    this.#now = messages.length
    const shown = messages.slice(-MESSAGES_SHOWN)
    const first = messages.length - shown.length
    const newAt = Math.max(0, this.#before - first)
    const ofTools = { content: computeMaxToolText(shown, newAt), arguments: NO_LIMIT }
    return shown.map((message, at) => {
      if (at < newAt) return toWireMessage(message, SHORTENED)
      // Only outputs of tools can be of any length.
      return toWireMessage(message, message.role === 'tool' ? ofTools : IN_FULL)
    })
  }
}

/** Maximum lengths of the texts of a message, in characters; a negative number means no limit. */
interface TextLengths {
  readonly content: number
  /** Of each tool call. */
  readonly arguments: number
}

const NO_LIMIT = -1
const IN_FULL: TextLengths = { content: NO_LIMIT, arguments: NO_LIMIT }
const SHORTENED: TextLengths = { content: LABEL_LENGTH, arguments: LABEL_LENGTH }

/** Returns the maximum length of each tool output among the messages from `newAt` on. */
function computeMaxToolText(messages: readonly Message[], newAt: number): number {
  let outputs = 0
  for (let at = newAt; at < messages.length; at += 1) {
    if (messages[at]?.role === 'tool') outputs += 1
  }
  return Math.min(MAX_TOOL_TEXT_LENGTH, Math.floor(MAX_SHOWN_LENGTH / outputs))
}

/** Converts a tool call to its form in events. */
export function toWireCall(
  { id, name, arguments: text }: ToolCall,
  maxLength: number = NO_LIMIT,
): WireCall {
  return { name, arguments: limitText(text, maxLength), id }
}

function toWireMessage(message: Message, max: TextLengths): WireMessage {
  return {
    role: message.role,
    content: limitText(message.content, max.content),
    toolCalls:
      message.role === 'assistant'
        ? message.toolCalls.map((call) => toWireCall(call, max.arguments))
        : null,
    toolName: message.role === 'tool' ? message.toolName : null,
  }
}
