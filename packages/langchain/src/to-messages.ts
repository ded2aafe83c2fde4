/** Converts a conversation of the model port to LangChain messages. Pure. */
import { parseExactJson, toRawIntegers } from '@tutti/core/internal'

import { toAssistantFields } from './content/provider-content.ts'

import type { MessageClasses } from './load-model.ts'
import type { ModelIdentity } from './providers.ts'
import type { BaseMessage } from '@langchain/core/messages'
import type { Message } from '@tutti/ensemble/adapter'
import type { AssistantMessage } from '@tutti/ensemble/internal'

/** Field for arguments that are not a JSON object when they are sent back. */
const INVALID_ARGUMENTS = 'invalid_arguments'

/** Returns the messages in order, in the form for a model of `identity`. */
export function toMessages(
  messages: readonly Message[],
  classes: MessageClasses,
  identity: ModelIdentity,
): BaseMessage[] {
  return messages.map((message) => toMessage(message, classes, identity))
}

function toMessage(
  message: Message,
  classes: MessageClasses,
  identity: ModelIdentity,
): BaseMessage {
  const { content } = message
  switch (message.role) {
    case 'system':
      return new classes.SystemMessage({ content })
    case 'user':
      return new classes.HumanMessage({ content })
    case 'assistant':
      return new classes.AIMessage(toAssistantFields(message, toToolCalls(message), identity))
    case 'tool':
      return new classes.ToolMessage({ content, tool_call_id: message.toolCallId })
  }
}

function toToolCalls({ toolCalls }: AssistantMessage): {
  readonly type: 'tool_call'
  readonly id: string
  readonly name: string
  readonly args: Record<string, unknown>
}[] {
  return toolCalls.map(({ id, name, arguments: text }) => {
    return { type: 'tool_call', id, name, args: toArguments(text) }
  })
}

/**
 * Returns arguments as an object, as LangChain and Anthropic require. Other text is wrapped in a field whose
 * name explains it: the model should see its own text next to the error of the tool.
 */
function toArguments(text: string): Record<string, unknown> {
  if (text.trim() === '') return {}
  try {
    const value = toRawIntegers(parseExactJson(text))
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value }
  } catch {
    // Not JSON: wrapped as text below.
  }
  return { [INVALID_ARGUMENTS]: text }
}
