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
    const first = Math.max(0, messages.length - MESSAGES_SHOWN)
    const shown = messages.slice(first)
    const added = messages.slice(Math.max(first, this.#before))
    const toolCount = added.filter(({ role }) => role === 'tool').length
    const maxLength = Math.min(MAX_TOOL_TEXT_LENGTH, Math.floor(MAX_SHOWN_LENGTH / toolCount))
    return shown.map((message, at) =>
      first + at < this.#before ? shortenMessage(message) : showMessage(message, maxLength),
    )
  }
}

/** Shows a message in full. Only outputs of tools can be of any length. */
function showMessage(message: Message, maxLength: number): WireMessage {
  return message.role === 'tool'
    ? toWireMessage({ ...message, content: limitText(message.content, maxLength) })
    : toWireMessage(message)
}

function shortenMessage(message: Message): WireMessage {
  const shown = toWireMessage(message)
  const { content, toolCalls } = shown
  return {
    ...shown,
    content: content === null ? null : limitText(content, LABEL_LENGTH),
    toolCalls:
      toolCalls?.map((call) => ({ ...call, arguments: limitText(call.arguments, LABEL_LENGTH) })) ??
      null,
  }
}

/** Converts a tool call to its form in events. */
export function toWireCall({ id, name, arguments: text }: ToolCall): WireCall {
  return { name, arguments: text, id }
}

function toWireMessage(message: Message): WireMessage {
  return {
    role: message.role,
    content: message.content,
    toolCalls: message.role === 'assistant' ? message.toolCalls.map(toWireCall) : null,
    toolName: message.role === 'tool' ? message.toolName : null,
  }
}
