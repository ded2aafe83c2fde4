/**
 * Builds one reply of the model port from the messages that a LangChain model streams. LangChain's own
 * `concat` is not used: it parses all arguments again with every piece, and counts Anthropic's output tokens
 * twice.
 */
import { gatherContent } from './content/provider-content.ts'
import { createReasoningReader } from './content/reasoning-text.ts'
import { answerEnd, readFinishReason } from './finish-reason.ts'
import { argumentText, joinFragments, type ToolCallFragment } from './tool-call-fragments.ts'

import type { AIMessage, AIMessageChunk, UsageMetadata } from '@langchain/core/messages'
import type { ModelReply, ModelUsage } from '@tutti/ensemble'

/** Texts of a message; empty if it has none. */
export interface AddedTexts {
  readonly reasoning: string
  /** Text of the answer, without reasoning. */
  readonly text: string
}

/** Builds a reply. */
export interface ReplyBuilder {
  /** Adds a message and returns its texts. */
  add(message: AIMessage | AIMessageChunk): AddedTexts
  /** The provider's word for the finish reason; undefined until it is received. */
  end(): string | undefined
  /** Whether one of LangChain's own classes created the messages; these always have a finish reason. */
  isOfLangChain(): boolean
  /** Returns the reply of all messages so far. */
  build(): ModelReply
}

/** Creates an empty reply of `provider`. */
export function createReplyBuilder(provider: string): ReplyBuilder {
  const texts: string[] = []
  const fragments: ToolCallFragment[] = []
  const gathered = gatherContent()
  const thoughts = createReasoningReader()
  const refusals: string[] = []
  let usage: ModelUsage | undefined
  let said: string | undefined
  let maker: unknown
  return {
    add(message) {
      const text = readText(message.content)
      texts.push(text)
      gathered.add(message)
      fragments.push(...readFragments(message, fragments.length))
      maker ??= message.response_metadata['model_provider']
      usage = addUsage(usage, message.usage_metadata, maker)
      const end = answerEnd(message)
      said ??= end.said
      if (end.refusal !== undefined) refusals.push(end.refusal)
      return { reasoning: thoughts.read(message), text }
    },
    end: () => said,
    isOfLangChain: () => typeof maker === 'string',
    build() {
      const toolCalls = joinFragments(fragments, makeId)
      const content = gathered.build()
      return {
        text: texts.join(''),
        toolCalls,
        ...(usage === undefined ? {} : { usage }),
        ...(content === undefined ? {} : { providerContent: { provider, content } }),
        ...readEnd({ said, refusal: refusals.join(''), hasCalls: toolCalls.length > 0 }),
      }
    },
  }
}

/** Some providers end a refusal, or an answer with tool calls, like any other. */
function readEnd({
  said,
  refusal,
  hasCalls,
}: {
  readonly said: string | undefined
  readonly refusal: string
  readonly hasCalls: boolean
}): Pick<ModelReply, 'finishReason' | 'providerFinishReason' | 'refusal'> {
  const reason = said === undefined ? 'unknown' : readFinishReason(said)
  const isPlain = reason === 'stop' || reason === 'tool_calls' || reason === 'unknown'
  const asked = hasCalls && reason === 'stop' ? 'tool_calls' : reason
  return {
    finishReason: isPlain && refusal !== '' ? 'refusal' : asked,
    ...(said === undefined ? {} : { providerFinishReason: said }),
    ...(refusal === '' ? {} : { refusal }),
  }
}

/** 37 characters: OpenAI accepts ids of up to 40. */
function makeId(): string {
  return `call_${crypto.randomUUID().replaceAll('-', '')}`
}

/** Returns the text of a content, without thinking, which has blocks of other types. */
function readText(content: AIMessage['content']): string {
  if (typeof content === 'string') return content
  return content
    .map((block) =>
      block.type === 'text' && typeof block['text'] === 'string' ? block['text'] : '',
    )
    .join('')
}

/** Returns the pieces of calls in `message`; a model that does not stream returns whole calls. */
function readFragments(
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
 * Adds usage. Pieces add up, except for Anthropic: its first piece has the input and a first count of the
 * output, and each later piece the output so far. Each of Google's pieces has all cached tokens. Input is the
 * total; for Anthropic LangChain includes cache reads and writes, which Anthropic counts separately.
 */
function addUsage(
  usage: ModelUsage | undefined,
  added: UsageMetadata | undefined,
  maker: unknown,
): ModelUsage | undefined {
  if (added === undefined) return usage
  const cumulative = maker === 'anthropic'
  const sum = (before: number, next: number): number =>
    cumulative ? Math.max(before, next) : before + next
  const cachedBefore = usage?.cachedInputTokens ?? 0
  const cachedNow = added.input_token_details?.cache_read ?? 0
  const reasoning = sum(usage?.reasoningTokens ?? 0, added.output_token_details?.reasoning ?? 0)
  const cached =
    maker === 'google-genai' ? Math.max(cachedBefore, cachedNow) : sum(cachedBefore, cachedNow)
  return {
    inputTokens: sum(usage?.inputTokens ?? 0, added.input_tokens),
    outputTokens: sum(usage?.outputTokens ?? 0, added.output_tokens),
    ...(cached > 0 ? { cachedInputTokens: cached } : {}),
    ...(reasoning > 0 ? { reasoningTokens: reasoning } : {}),
  }
}
