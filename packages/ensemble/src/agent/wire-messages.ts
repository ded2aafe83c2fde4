/** Pure: messages of a conversation as events show them. */
import type { Message } from '../model/chat-model.ts'
import type { ToolCall } from '@tutti/core'
import type { RunEventOf } from '@tutti/protocol'

type WireMessage = RunEventOf<'llm_iteration_started'>['messages'][number]
type WireCall = NonNullable<WireMessage['toolCalls']>[number]

/** A tool call that the model asked for. */
export function toWireCall({ id, name, arguments: text }: ToolCall): WireCall {
  return { name, arguments: text, id }
}

/** One message. */
export function toWireMessage(message: Message): WireMessage {
  return {
    role: message.role,
    content: message.content,
    toolCalls: message.role === 'assistant' ? message.toolCalls.map(toWireCall) : null,
    toolName: message.role === 'tool' ? message.toolName : null,
  }
}
