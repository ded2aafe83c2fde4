/**
 * Pure: formats what models and tools say as the GenAI conventions do: JSON in one attribute, limited in size. Used
 * only with `captureContent`.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#recording-content-on-attributes
 */
import { limitText } from '@tutti/core/internal'

import type { RunEventOf } from '@tutti/protocol'
import type { LlmMessage } from '@tutti/protocol/internal'

/** Maximum number of characters of one text. */
const MAX_TEXT = 8_192

/** Maximum number of parts of a message; the first ones are retained. */
const MAX_PARTS = 8

/** Maximum number of characters of an attribute; the newest messages that fit are retained. */
const MAX_ATTRIBUTE = 65_536

interface Part {
  readonly type: 'text' | 'reasoning' | 'tool_call' | 'tool_call_response'
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

/** Formats the messages to a model, without those of the system. */
export function inputMessages(messages: readonly LlmMessage[]): string {
  return toBoundedJson(messages.filter(({ role }) => role !== 'system').map(toMessage))
}

/** Formats the system messages to a model; undefined when there are none. */
export function systemInstructions(messages: readonly LlmMessage[]): string | undefined {
  const parts = messages
    .filter(({ role }) => role === 'system')
    .map(({ content }) => toTextPart(content ?? ''))
  return parts.length === 0 ? undefined : toBoundedJson(parts)
}

/** Formats the answer of a model. */
export function outputMessages({
  responseText,
  toolRequests = [],
  reasoning,
  ...event
}: RunEventOf<'llm_iteration_completed'>): string {
  const text = responseText === undefined ? [] : [toTextPart(responseText)]
  const thought: readonly Part[] =
    reasoning === undefined ? [] : [{ type: 'reasoning', content: textContent(reasoning) }]
  const parts = [...thought, ...text, ...toolRequests.map(toCallPart)].slice(0, MAX_PARTS)
  return toBoundedJson([
    { role: 'assistant', parts, finish_reason: toFinishReason(event) } satisfies Message,
  ])
}

/** Maps a finish reason to the value of the conventions; these have none for a refusal, which is passed on. */
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

/** Formats a text as a single message. */
export function textMessage(role: 'user' | 'assistant', text: string): string {
  return toBoundedJson([{ role, parts: [toTextPart(text)] } satisfies Message])
}

/** Limits a text that is a whole attribute. */
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

/** Returns as JSON as many of the newest items as fit. */
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
