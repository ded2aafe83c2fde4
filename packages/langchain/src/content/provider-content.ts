/**
 * Converts the parts of a reply that its provider requires in later requests to plain JSON and back. Pure.
 *
 * LC-P1 Only a reply with reasoning has such content; other replies consist of text and tool calls.
 * LC-P2 It is returned only to the provider that created it.
 * LC-P3 If the text or calls of a message have changed, only the matching parts are returned: Anthropic's thinking
 *    before the present content, but none of OpenAI's items, because they refer to each other.
 */
import { gatherBlocks, isThinking, type ReplyBlock } from './thinking-blocks.ts'

import type { AIMessage, AIMessageChunk, AIMessageFields } from '@langchain/core/messages'
import type { AssistantMessage } from '@tutti/ensemble/internal'

/** Content created by this package. */
type Content =
  | { readonly kind: 'blocks'; readonly blocks: readonly ReplyBlock[] }
  | { readonly kind: 'items'; readonly items: readonly Item[] }

/** An item of an answer of OpenAI's Responses API. */
type Item = Readonly<Record<string, unknown>>

/** A tool call in LangChain's form. */
type LangChainCall = NonNullable<AIMessage['tool_calls']>[number]

/** Collects the content of one answer. */
export interface ContentGatherer {
  add(message: AIMessage | AIMessageChunk): void
  build(): unknown
}

/** Creates an empty collector. */
export function gatherContent(): ContentGatherer {
  const blocks = gatherBlocks()
  let items: readonly Item[] = []
  return {
    add(message) {
      blocks.add(message)
      const { output } = message.response_metadata
      if (Array.isArray(output)) items = output.filter(isItem)
    },
    build(): Content | undefined {
      const thought = blocks.build()
      if (thought !== undefined) return { kind: 'blocks', blocks: thought }
      return items.some(({ type }) => type === 'reasoning') ? { kind: 'items', items } : undefined
    },
  }
}

/** Returns the fields of the LangChain message that represents `message` for `provider`. */
export function toAssistantFields(
  message: AssistantMessage,
  toolCalls: LangChainCall[],
  { provider }: { readonly provider: string },
): AIMessageFields {
  const { content: text, providerContent } = message
  const plain = { content: text, tool_calls: toolCalls }
  const content =
    providerContent?.provider === provider ? readContent(providerContent.content) : undefined
  switch (content?.kind) {
    case 'blocks':
      return { ...plain, content: toBlocks(message, toolCalls, content) }
    case 'items':
      return matchesMessage(message, content.items)
        ? { ...plain, response_metadata: { output: content.items } }
        : plain
    default:
      return plain
  }
}

function readContent(value: unknown): Content | undefined {
  if (typeof value !== 'object' || value === null || !('kind' in value)) return undefined
  // NOTE: boundary cast: only `gatherContent` makes content with our provider's name and a kind.
  return value as Content
}

function toBlocks(
  { content: text }: AssistantMessage,
  toolCalls: readonly LangChainCall[],
  { blocks }: { readonly blocks: readonly ReplyBlock[] },
): Exclude<AIMessageFields['content'], string | undefined> {
  const said = blocks.map((block) => (block.type === 'text' ? block.text : '')).join('')
  const ids = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []))
  const unchanged = said === text && sameTexts(ids, callIds(toolCalls))
  const placed: readonly ReplyBlock[] = unchanged
    ? blocks
    : [...blocks.filter(isThinking), ...(text === '' ? [] : [{ type: 'text', text } as const])]
  return placed.map((block) => {
    const call = block.type === 'tool_use' && toolCalls.find(({ id }) => id === block.id)
    return call
      ? { type: 'tool_use', id: block.id, name: call.name, input: call.args }
      : { ...block }
  })
}

/** Returns whether the items have the same text and calls as the message. */
function matchesMessage(message: AssistantMessage, items: readonly Item[]): boolean {
  const text = items
    .flatMap(({ type, content }) => (type === 'message' && Array.isArray(content) ? content : []))
    .map((part: unknown) => (isItem(part) && typeof part['text'] === 'string' ? part['text'] : ''))
  const ids = items.flatMap((item) => (item['type'] === 'function_call' ? [item['call_id']] : []))
  return text.join('') === message.content && sameTexts(ids, callIds(message.toolCalls))
}

function callIds(calls: readonly { readonly id?: string }[]): readonly unknown[] {
  return calls.map(({ id }) => id)
}

function sameTexts(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((text, index) => text === others[index])
}

function isItem(value: unknown): value is Item {
  return typeof value === 'object' && value !== null
}
