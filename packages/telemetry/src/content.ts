/**
 * What models and tools say, in the form of the GenAI conventions: JSON in one attribute, bounded. Only for who asks
 * for it.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#recording-content-on-attributes
 */
import { limitText } from '@tutti/core'

import type { LlmMessage, RunEventOf } from '@tutti/protocol'

/** Characters of one text. */
const MAX_TEXT = 8_192

/** Parts of one message; of more, the first are kept. */
const MAX_PARTS = 8

/** Characters of one attribute: of more messages than fit, the newest are kept. */
const MAX_ATTRIBUTE = 65_536

interface Part {
  readonly type: 'text' | 'tool_call' | 'tool_call_response'
  readonly content?: string
  readonly id?: string
  readonly name?: string
  readonly arguments?: string
  readonly response?: string
}

interface Message {
  readonly role: string
  readonly parts: readonly Part[]
  readonly finish_reason?: string
}

/** Messages to a model: all but those of the system. */
export function inputMessages(messages: readonly LlmMessage[]): string {
  return toBoundedJson(messages.filter(({ role }) => role !== 'system').map(toMessage))
}

/** What the system says to a model; undefined when nothing. */
export function systemInstructions(messages: readonly LlmMessage[]): string | undefined {
  const parts = messages
    .filter(({ role }) => role === 'system')
    .map(({ content }) => toTextPart(content ?? ''))
  return parts.length === 0 ? undefined : toBoundedJson(parts)
}

/** What a model answered. */
export function outputMessages({
  responseText,
  toolRequests = [],
  ...event
}: RunEventOf<'llm_iteration_completed'>): string {
  const text = responseText === undefined ? [] : [toTextPart(responseText)]
  const parts = [...text, ...toolRequests.map(toCallPart)].slice(0, MAX_PARTS)
  return toBoundedJson([
    { role: 'assistant', parts, finish_reason: toFinishReason(event) } satisfies Message,
  ])
}

/** Maps a finish reason to the value of the conventions, which have none for a refusal. */
export function toFinishReason({
  responseType,
  finishReason,
}: Pick<RunEventOf<'llm_iteration_completed'>, 'responseType' | 'finishReason'>): string {
  switch (finishReason) {
    case 'length':
    case 'content_filter':
    case 'refusal':
      return finishReason
    default:
      return responseType === 'TOOL_CALLS' ? 'tool_call' : 'stop'
  }
}

/** A text as the one message of somebody. */
export function textMessage(role: 'user' | 'assistant', text: string): string {
  return toBoundedJson([{ role, parts: [toTextPart(text)] } satisfies Message])
}

/** A text that is an attribute of its own. */
export function textContent(text: string | null): string {
  return limitText(text ?? '', MAX_TEXT)
}

function toMessage({ role, content, toolCalls, toolName }: LlmMessage): Message {
  if (role === 'tool') {
    const name = toolName === null ? {} : { name: toolName }
    const response = textContent(content)
    return { role, parts: [{ type: 'tool_call_response', ...name, response }] }
  }
  const text = content === null || content === '' ? [] : [toTextPart(content)]
  return { role, parts: [...text, ...(toolCalls ?? []).map(toCallPart)].slice(0, MAX_PARTS) }
}

function toTextPart(content: string): Part {
  return { type: 'text', content: textContent(content) }
}

function toCallPart(call: {
  readonly id?: string
  readonly name: string
  readonly arguments: string
}): Part {
  const { id, name, arguments: given } = call
  return {
    type: 'tool_call',
    ...(id === undefined ? {} : { id }),
    name,
    arguments: textContent(given),
  }
}

/** As many of the newest as fit, as JSON. */
function toBoundedJson(items: readonly unknown[]): string {
  const texts: string[] = []
  let length = 2
  for (const item of items.toReversed()) {
    const text = JSON.stringify(item)
    length += text.length + 1
    if (length > MAX_ATTRIBUTE && texts.length > 0) break
    texts.unshift(text)
  }
  return `[${texts.join(',')}]`
}
