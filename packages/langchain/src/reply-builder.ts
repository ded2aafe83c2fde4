/**
 * Gathers the messages that a LangChain model streams to one reply of the model port. LangChain's own
 * `concat` is not used: it parses all arguments so far again with every piece, and counts Anthropic's
 * output tokens twice.
 */
import { gatherContent } from './content/provider-content.ts'
import { argumentText, joinFragments, type ToolCallFragment } from './tool-call-fragments.ts'

import type { AIMessage, AIMessageChunk, UsageMetadata } from '@langchain/core/messages'
import type { ModelReply, ModelUsage } from '@tutti/ensemble'

/** A reply in the making. */
export interface ReplyBuilder {
  /** Takes the next message and returns the text that it adds. */
  add(message: AIMessage | AIMessageChunk): string
  /** Whether the provider has said why the answer ends. */
  isFinished(): boolean
  /** The reply of all messages so far. */
  build(): ModelReply
}

/** Starts an empty reply of `provider`. */
export function createReplyBuilder(provider: string): ReplyBuilder {
  const texts: string[] = []
  const fragments: ToolCallFragment[] = []
  const gathered = gatherContent()
  let usage: ModelUsage | undefined
  let finished = false
  let cumulative = false
  return {
    add(message) {
      const text = textOf(message.content)
      texts.push(text)
      gathered.add(message)
      fragments.push(...fragmentsOf(message, fragments.length))
      cumulative ||= message.response_metadata['model_provider'] === 'anthropic'
      usage = addUsage(usage, message.usage_metadata, cumulative)
      finished ||= saysWhyItEnds(message)
      return text
    },
    isFinished: () => finished,
    build() {
      const toolCalls = joinFragments(fragments, makeId)
      const content = gathered.build()
      return {
        text: texts.join(''),
        toolCalls,
        ...(usage === undefined ? {} : { usage }),
        ...(content === undefined ? {} : { providerContent: { provider, content } }),
      }
    },
  }
}

/** 37 characters: OpenAI takes ids of up to 40. */
function makeId(): string {
  return `call_${crypto.randomUUID().replaceAll('-', '')}`
}

/** The text of a content; what the model thinks aloud is in blocks of other types. */
function textOf(content: AIMessage['content']): string {
  if (typeof content === 'string') return content
  return content
    .map((block) =>
      block.type === 'text' && typeof block['text'] === 'string' ? block['text'] : '',
    )
    .join('')
}

/** The pieces of calls in `message`; a model that does not stream gives whole calls instead. */
function fragmentsOf(
  message: AIMessage | AIMessageChunk,
  count: number,
): readonly ToolCallFragment[] {
  if ('tool_call_chunks' in message && message.tool_call_chunks.length > 0) {
    return message.tool_call_chunks
  }
  const whole = (message.tool_calls ?? []).map(({ id, name, args }) => {
    return { id, name, args: JSON.stringify(args) }
  })
  const invalid = (message.invalid_tool_calls ?? []).map(({ id, name, args }) => ({
    id,
    name,
    args,
  }))
  return [...whole, ...invalid].map((call, position) => ({
    ...call,
    args: argumentText(call.args ?? ''),
    index: `whole-${count + position}`,
  }))
}

/**
 * Usage so far. Pieces add up, but for Anthropic: there the first piece holds the input and a first
 * count of the output, and each later piece the output so far. Input is all of it, for LangChain also
 * of Anthropic, which itself counts apart what its cache read and wrote.
 */
function addUsage(
  usage: ModelUsage | undefined,
  added: UsageMetadata | undefined,
  cumulative: boolean,
): ModelUsage | undefined {
  if (added === undefined) return usage
  const sum = (before: number, next: number): number =>
    cumulative ? Math.max(before, next) : before + next
  const cached = sum(usage?.cachedInputTokens ?? 0, added.input_token_details?.cache_read ?? 0)
  return {
    inputTokens: sum(usage?.inputTokens ?? 0, added.input_tokens),
    outputTokens: sum(usage?.outputTokens ?? 0, added.output_tokens),
    ...(cached > 0 ? { cachedInputTokens: cached } : {}),
  }
}

/** OpenAI says `finish_reason` (its Responses API `status`), Anthropic `stop_reason`. */
function saysWhyItEnds({
  response_metadata,
  additional_kwargs,
}: AIMessage | AIMessageChunk): boolean {
  const said = [
    response_metadata['finish_reason'],
    response_metadata['stop_reason'],
    response_metadata['status'],
    additional_kwargs['stop_reason'],
  ]
  return said.some((reason) => typeof reason === 'string' && reason !== '')
}
