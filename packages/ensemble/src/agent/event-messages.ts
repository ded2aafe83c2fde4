/**
 * The messages of a conversation as `llm_iteration_started` shows them. Every turn repeats the ones before it, so
 * each is shown in full in the first turn that has it, and cut in later ones: a long text is stored once a task,
 * not once a turn.
 */
import { limitText, type ToolCall } from '@tutti/core'

import { LABEL_LENGTH } from '../scope/task-scope.ts'

import type { Message } from '../model/chat-model.ts'
import type { RunEventOf } from '@tutti/protocol'

type WireMessage = RunEventOf<'llm_iteration_started'>['messages'][number]
type WireCall = NonNullable<WireMessage['toolCalls']>[number]

/** Messages that one event shows; the wire's limit. */
const MESSAGES_SHOWN = 20

/** Messages that the turns of one attempt have shown. */
export class EventMessages {
  #iterationIndex = -1
  /** Messages that earlier turns have shown. */
  #before = 0
  /** Messages that this turn has. */
  #now = 0

  /** The last messages of a turn; a call that is retried shows the same again. */
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
    return messages
      .slice(first)
      .map((message, at) => (first + at < this.#before ? cut(message) : toWireMessage(message)))
  }
}

function cut(message: Message): WireMessage {
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

/** Converts a tool call of the model to its form in events. */
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
