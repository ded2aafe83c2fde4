/**
 * A stub of OpenAI's streaming chat completions; its Responses API is in `responses-events.ts`.
 *
 * @see https://platform.openai.com/docs/api-reference/chat-streaming
 */
import { findOpenaiProblem, isResponsesPath } from './openai-check.ts'
import { argumentPieces, fieldsOf, readUsage, splitWords } from './pieces.ts'
import {
  startStub,
  type ProviderStub,
  type ProviderWire,
  type StubFailure,
  type StubOptions,
  type StubReply,
  type StubScript,
  type WireContext,
} from './provider-stub.ts'
import { responsesError, responsesEvents } from './responses-events.ts'

/** Settings of a stub with OpenAI's API. */
export interface OpenaiStubOptions extends StubOptions {
  /**
   * Service whose rules on conversations and tools apply, such as `mistral` or `xai`: a provider of `langchainModel`.
   * @default 'openai'
   */
  readonly service?: string
}

/** Starts a stub of OpenAI; its base URL ends in `/v1`. It accepts any key. */
export function openaiStub(
  script: StubScript,
  { service, ...options }: OpenaiStubOptions = {},
): Promise<ProviderStub> {
  const check: ProviderWire['check'] = (request) => findOpenaiProblem(request, service)
  return startStub({ ...WIRE, check }, script, options)
}

const WIRE: Omit<ProviderWire, 'check'> = {
  basePath: '/v1',
  failureBody: ({ status, message = 'Stubbed failure', type, code }: StubFailure) =>
    JSON.stringify({
      error: { message, type: type ?? toErrorType(status), param: null, code: code ?? null },
    }),
  events: (reply, context) =>
    isResponsesPath(context.request.path)
      ? responsesEvents(reply, context)
      : events(reply, context),
  overloadEvent: ({ path }) =>
    isResponsesPath(path)
      ? responsesError()
      : data({
          error: {
            message: 'The server had an error',
            type: 'server_error',
            param: null,
            code: null,
          },
        }),
}

/** Returns OpenAI's error type for a status. */
function toErrorType(status: number): string {
  if (status === 429) return 'requests'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}

function events(
  reply: StubReply,
  { request, call }: WireContext,
): { readonly head: string; readonly tail: string } {
  const { stream_options: streamOptions, model } = request.body
  const withUsage = fieldsOf(streamOptions)['include_usage'] === true
  const base = {
    id: `chatcmpl-${call}`,
    object: 'chat.completion.chunk',
    created: 1_767_225_600,
    model,
    service_tier: 'default',
    system_fingerprint: 'fp_stub',
  }
  const nullUsage = withUsage ? { usage: null } : {}
  const chunk = (delta: object, finishReason: string | null = null): string =>
    data({
      ...base,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
      ...nullUsage,
    })
  const calls = toolCallDeltas(reply, call)
  const head = [
    chunk({
      role: 'assistant',
      content: calls.length > 0 && !reply.text ? null : '',
      refusal: null,
    }),
    ...splitWords(reply.reasoning ?? '').map((text) => chunk({ reasoning_content: text })),
    ...splitWords(reply.text ?? '').map((text) => chunk({ content: text })),
    ...splitWords(reply.refusal ?? '').map((text) => chunk({ refusal: text })),
  ]
  const tail = [
    ...calls.map((delta) => chunk({ tool_calls: [delta] })),
    chunk({}, toFinishReason(reply)),
    ...(withUsage ? [data({ ...base, choices: [], usage: wireUsage(reply, request.body) })] : []),
    'data: [DONE]\n\n',
  ]
  return { head: head.join(''), tail: tail.join('') }
}

/** OpenAI ends a refusal like any other answer. */
function toFinishReason({ finishReason, toolCalls = [] }: StubReply): string {
  if (finishReason === 'refusal') return 'stop'
  return finishReason ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop')
}

function toolCallDeltas({ toolCalls = [] }: StubReply, call: number): readonly object[] {
  return toolCalls.flatMap((toolCall, index) => [
    {
      index,
      id: toolCall.id ?? `call_${call}_${index}`,
      type: 'function',
      function: { name: toolCall.name, arguments: '' },
    },
    ...argumentPieces(toolCall).map((piece) => ({ index, function: { arguments: piece } })),
  ])
}

function wireUsage(reply: StubReply, body: object): object {
  const usage = readUsage(reply, body)
  const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 } = usage
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: { cached_tokens: cachedInputTokens, audio_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoningTokens, audio_tokens: 0 },
  }
}

function data(value: object): string {
  return `data: ${JSON.stringify(value)}\n\n`
}
