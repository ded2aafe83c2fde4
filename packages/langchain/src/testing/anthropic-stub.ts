/**
 * A stub of Anthropic's streaming messages API.
 *
 * @see https://docs.anthropic.com/en/docs/build-with-claude/streaming
 */
import { findAnthropicProblem } from './anthropic-check.ts'
import { argumentPieces, signatureOf, readUsage, splitWords } from './pieces.ts'
import {
  startStub,
  type ProviderStub,
  type ProviderWire,
  type StubFailure,
  type StubOptions,
  type StubReply,
  type StubScript,
  type StubToolCall,
  type WireContext,
} from './provider-stub.ts'

/** Starts a stub of Anthropic; its base URL has no path. It accepts any key. */
export function anthropicStub(
  script: StubScript,
  options: StubOptions = {},
): Promise<ProviderStub> {
  return startStub(WIRE, script, options)
}

const WIRE: ProviderWire = {
  basePath: '',
  check: findAnthropicProblem,
  failureBody: ({ status, message = 'Stubbed failure', type }: StubFailure) =>
    JSON.stringify({
      type: 'error',
      error: { type: type ?? toErrorType(status), message },
      request_id: 'req_stub',
    }),
  events,
  overloadEvent: () =>
    event({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }),
}

/** Anthropic's error types by status. */
const TYPES: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

function toErrorType(status: number): string {
  return TYPES[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
}

function events(
  reply: StubReply,
  { request, call }: WireContext,
): { readonly head: string; readonly tail: string } {
  const { inputTokens, outputTokens, cachedInputTokens = 0 } = readUsage(reply, request.body)
  const { toolCalls = [] } = reply
  // NOTE: like the service, the start counts one token and the last count is the total; input does not include
  // cached tokens.
  const usage = {
    input_tokens: inputTokens - cachedInputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cachedInputTokens,
    output_tokens: Math.min(1, outputTokens),
  }
  const spoken = listBlocks(reply)
  const called = toolCalls.map((toolCall, index) => toolBlock(toolCall, `toolu_${call}_${index}`))
  const blocks = [...spoken, ...called].map(blockEvents)
  const last = blocks[spoken.length - 1]
  const stop = toStopFields(reply)
  const head = [
    event({ type: 'message_start', message: emptyMessage(request, { call, usage }) }),
    event({ type: 'ping' }),
    ...blocks
      .slice(0, spoken.length)
      .map((block) => (block === last ? block.open : formatBlock(block))),
  ]
  const tail = [
    last?.close ?? '',
    ...blocks.slice(spoken.length).map(formatBlock),
    event({ type: 'message_delta', delta: stop, usage: { output_tokens: outputTokens } }),
    event({ type: 'message_stop' }),
  ]
  return { head: head.join(''), tail: tail.join('') }
}

/** Anthropic has no separate reason for an answer that a filter blocks; it reports a refusal. */
const STOP_REASONS = {
  stop: 'end_turn',
  tool_calls: 'tool_use',
  length: 'max_tokens',
  content_filter: 'content_filtered',
  refusal: 'refusal',
  unknown: 'pause_turn',
} as const

function toStopFields({ finishReason, refusal, toolCalls = [] }: StubReply): object {
  const reason = finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop')
  const details = { type: 'refusal', category: null, explanation: refusal ?? null }
  return {
    stop_reason: STOP_REASONS[reason],
    stop_sequence: null,
    stop_details: reason === 'refusal' ? details : null,
  }
}

function emptyMessage(
  { body }: WireContext['request'],
  { call, usage }: { readonly call: number; readonly usage: object },
): object {
  return {
    id: `msg_${call}`,
    type: 'message',
    role: 'assistant',
    model: body['model'],
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage,
  }
}

/** A content block: its start and its deltas. */
interface Block {
  readonly start: object
  readonly deltas: readonly object[]
}

/** The events of a block: those before its end, and its end. */
interface BlockEvents {
  readonly open: string
  readonly close: string
}

function listBlocks(reply: StubReply): readonly Block[] {
  const { reasoning = '', redactedReasoning: data, text = '' } = reply
  const thinking = splitWords(reasoning).map((piece) => ({
    type: 'thinking_delta',
    thinking: piece,
  }))
  const signature = { type: 'signature_delta', signature: signatureOf(reasoning) }
  const texts = splitWords(text).map((piece) => ({ type: 'text_delta', text: piece }))
  const thought = { type: 'thinking', thinking: '', signature: '' }
  return [
    ...(thinking.length > 0 ? [{ start: thought, deltas: [...thinking, signature] }] : []),
    ...(data === undefined ? [] : [{ start: { type: 'redacted_thinking', data }, deltas: [] }]),
    ...(texts.length > 0 ? [{ start: { type: 'text', text: '' }, deltas: texts }] : []),
  ]
}

function toolBlock(toolCall: StubToolCall, id: string): Block {
  return {
    start: { type: 'tool_use', id: toolCall.id ?? id, name: toolCall.name, input: {} },
    deltas: ['', ...argumentPieces(toolCall)].map((piece) => {
      return { type: 'input_json_delta', partial_json: piece }
    }),
  }
}

function blockEvents({ start, deltas }: Block, index: number): BlockEvents {
  const open = [
    event({ type: 'content_block_start', index, content_block: start }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
  ]
  return { open: open.join(''), close: event({ type: 'content_block_stop', index }) }
}

function formatBlock({ open, close }: BlockEvents): string {
  return open + close
}

function event(value: { readonly type: string; readonly [field: string]: unknown }): string {
  return `event: ${value.type}\ndata: ${JSON.stringify(value)}\n\n`
}
