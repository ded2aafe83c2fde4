/**
 * Reads why an answer ended from a LangChain message of any provider. Providers use different words in different
 * fields; LangChain leaves both unchanged. Pure.
 *
 * @see https://platform.openai.com/docs/api-reference/chat/object
 * @see https://docs.anthropic.com/en/api/handling-stop-reasons
 * @see https://ai.google.dev/api/generate-content#FinishReason
 */
import type { AIMessage, AIMessageChunk } from '@langchain/core/messages'
import type { ModelReply } from '@tutti/ensemble/adapter'

type FinishReason = NonNullable<ModelReply['finishReason']>

/** End of an answer, as a message reports it. */
export interface AnswerEnd {
  /** The provider's own word; absent when the message has none. */
  readonly said?: string
  /** Text of the provider about a refusal or a blocked answer. */
  readonly refusal?: string
}

const WORDS: Readonly<Record<Exclude<FinishReason, 'unknown'>, readonly string[]>> = {
  stop: ['stop', 'end_turn', 'stop_sequence', 'complete', 'completed', 'eos'],
  tool_calls: ['tool_calls', 'tool_call', 'tool_use', 'function_call'],
  length: [
    'length',
    'max_tokens',
    'max_output_tokens',
    'model_length',
    'model_context_window_exceeded',
    // Anthropic stopped in the middle of a long turn with server tools, and expects another request.
    'pause_turn',
  ],
  content_filter: [
    'content_filter',
    'content_filtered',
    'guardrail_intervened',
    'error_toxic',
    // Google's, of an answer and of a prompt.
    'safety',
    'recitation',
    'blocklist',
    'block_reason_unspecified',
    'prohibited_content',
    'spii',
    'image_safety',
    'image_prohibited_content',
    'image_recitation',
  ],
  refusal: ['refusal'],
}

const REASONS: ReadonlyMap<string, FinishReason> = new Map(
  (['stop', 'tool_calls', 'length', 'content_filter', 'refusal'] as const).flatMap((reason) =>
    WORDS[reason].map((word) => [word, reason] as const),
  ),
)

/** Words for an answer that the provider could not finish; a retry may help. */
const BROKEN: ReadonlySet<string> = new Set([
  'cancelled',
  'error',
  'failed',
  'insufficient_system_resource',
  'malformed_function_call',
  'unexpected_tool_call',
])

/** Converts a provider's word to a finish reason. */
export function readFinishReason(said: string): FinishReason {
  return REASONS.get(said.toLowerCase()) ?? 'unknown'
}

/** Returns whether the word means that the provider could not finish the answer. */
export function isBrokenEnd(said: string): boolean {
  return BROKEN.has(said.toLowerCase())
}

/** Returns the end of an answer, as `message` reports it. */
export function answerEnd({
  response_metadata: metadata,
  additional_kwargs: extra,
}: AIMessage | AIMessageChunk): AnswerEnd {
  const said =
    text(metadata['finish_reason']) ??
    text(metadata['finishReason']) ??
    text(metadata['stop_reason']) ??
    text(extra['stop_reason']) ??
    text(metadata['stopReason']) ??
    text(field(metadata['messageStop'], 'stopReason')) ??
    text(metadata['done_reason']) ??
    responsesEnd(metadata)
  const refusal =
    text(extra['refusal']) ??
    readRawRefusal(extra['__raw_response']) ??
    text(field(extra['stop_details'], 'explanation')) ??
    text(field(metadata['stop_details'], 'explanation')) ??
    // Google adds it to other reasons, too.
    (said !== undefined && readFinishReason(said) === 'content_filter'
      ? text(metadata['finishMessage'])
      : undefined)
  return {
    ...(said === undefined ? {} : { said }),
    ...(refusal === undefined ? {} : { refusal }),
  }
}

/** OpenAI's Responses API has a status, and a separate reason for an incomplete answer. */
function responsesEnd(metadata: Readonly<Record<string, unknown>>): string | undefined {
  const status = text(metadata['status'])
  if (status === 'in_progress') return undefined
  const why = text(field(metadata['incomplete_details'], 'reason'))
  return status === 'incomplete' ? (why ?? status) : status
}

/**
 * OpenAI's chat completions have the refusal next to the text; LangChain passes it on only in the raw
 * response.
 */
function readRawRefusal(raw: unknown): string | undefined {
  const choices = field(raw, 'choices')
  const choice: unknown = Array.isArray(choices) ? choices[0] : undefined
  return (
    text(field(field(choice, 'delta'), 'refusal')) ??
    text(field(field(choice, 'message'), 'refusal'))
  )
}

function field(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null
    ? new Map(Object.entries(value)).get(key)
    : undefined
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
