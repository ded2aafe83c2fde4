/**
 * Builds one reply of the model port from the messages that a LangChain model streams. LangChain's own
 * `concat` is not used: it parses all arguments again with every piece, and counts Anthropic's output tokens
 * twice.
 */
import { gatherContent } from './content/provider-content.ts'
import { createReasoningReader } from './content/reasoning-text.ts'
import { createThinkSplitter } from './content/think-tags.ts'
import { answerEnd, readFinishReason } from './finish-reason.ts'
import {
  hasCounts,
  mergeCounts,
  readServiceCount,
  readCounts,
  sum,
  toModelUsage,
  type TokenCounts,
} from './token-counts.ts'
import {
  areCompleteCalls,
  argumentText,
  joinFragments,
  type ToolCallFragment,
} from './tool-call-fragments.ts'

import type { AIMessage, AIMessageChunk, UsageMetadata } from '@langchain/core/messages'
import type { ModelReply } from '@tutti/ensemble/adapter'

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
  /** Ends the texts and returns what was held back: the start of an answer may be the start of a tag. */
  end(): AddedTexts
  /** Whether one of LangChain's own classes created the messages; these always have a finish reason. */
  isOfLangChain(): boolean
  /** Whether the answer has tool calls, all of them complete. */
  hasCompleteCalls(): boolean
  /** Returns the reply of all messages so far. */
  build(): ModelReply
}

/** Creates an empty reply of `provider`. */
export function createReplyBuilder(provider: string): ReplyBuilder {
  const texts: string[] = []
  const fragments: ToolCallFragment[] = []
  const gathered = gatherContent()
  const thoughts = createReasoningReader()
  const tags = createThinkSplitter()
  const refusals: string[] = []
  let counts: TokenCounts = {}
  let added: TokenCounts = {}
  let said: string | undefined
  let maker: unknown
  return {
    add(message) {
      gathered.add(message)
      fragments.push(...readFragments(message, fragments.length))
      maker ??= message.response_metadata['model_provider']
      counts = mergeCounts(counts, readMessageCounts(message))
      added = addUsage(added, message.usage_metadata, maker)
      const end = answerEnd(message)
      said ??= end.said
      if (end.refusal !== undefined) refusals.push(end.refusal)
      const reasoning = thoughts.read(message)
      const split = tags.split(readText(message.content))
      texts.push(split.text)
      return { reasoning: reasoning + split.reasoning, text: split.text }
    },
    end() {
      const rest = tags.end()
      texts.push(rest.text)
      return rest
    },
    isOfLangChain: () => typeof maker === 'string',
    hasCompleteCalls: () => areCompleteCalls(fragments),
    build() {
      const text = texts.join('')
      const toolCalls = joinFragments(fragments, makeId)
      const content = gathered.build()
      const usage = toModelUsage(hasCounts(counts) ? counts : added)
      return {
        text,
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
  if ('tool_call_chunks' in message && (message.tool_call_chunks?.length ?? 0) > 0) {
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

/** Reads the usage object of the service, which LangChain passes on in one of two fields. */
function readMessageCounts(message: AIMessage | AIMessageChunk): TokenCounts {
  const { response_metadata: metadata, additional_kwargs: extra } = message
  const counts = readCounts(extra['usage'] ?? metadata['usage'])
  return hasCounts(counts) ? counts : {}
}

/**
 * Adds LangChain's usage, for classes that do not pass on the usage of the service. Pieces add up, except for
 * Anthropic: its first piece has the input and a first count of the output, and each later piece the output so far.
 * Input is the total; for Anthropic LangChain includes cache reads and writes, which Anthropic counts separately. Its 0
 * stands for a count that the service did not report.
 */
function addUsage(
  before: TokenCounts,
  usage: UsageMetadata | undefined,
  maker: unknown,
): TokenCounts {
  if (usage === undefined) return before
  const { input_token_details: inputs, output_token_details: outputs } = usage
  const add = (count: number | undefined, next: unknown): number | undefined => {
    const known = readServiceCount(next) || undefined
    if (known === undefined || maker !== 'anthropic') return sum(count, known)
    return Math.max(count ?? 0, known)
  }
  return {
    input: add(before.input, usage.input_tokens),
    output: add(before.output, usage.output_tokens),
    cacheRead: add(before.cacheRead, inputs?.cache_read),
    cacheWrite: add(before.cacheWrite, inputs?.cache_creation),
    reasoning: add(before.reasoning, outputs?.reasoning),
  }
}
