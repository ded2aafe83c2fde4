/**
 * A stub of Google's streaming Gemini API.
 *
 * @see https://ai.google.dev/api/generate-content#method:-models.streamgeneratecontent
 */
import { findGeminiProblem } from './gemini-check.ts'
import { readUsage, splitWords } from './pieces.ts'
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

/** Starts a stub of Gemini; its base URL has no path. It accepts any key. */
export function geminiStub(script: StubScript, options: StubOptions = {}): Promise<ProviderStub> {
  return startStub(WIRE, script, options)
}

const WIRE: ProviderWire = {
  basePath: '',
  check: findGeminiProblem,
  failureBody: ({ status, message = 'Stubbed failure', retryDelay }: StubFailure) =>
    JSON.stringify({
      error: {
        code: status,
        message,
        status: toStatusName(status),
        details:
          retryDelay === undefined
            ? []
            : [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay }],
      },
    }),
  events,
  overloadEvent: () => data({ error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }),
}

function toStatusName(status: number): string {
  if (status === 400) return 'INVALID_ARGUMENT'
  return status === 429 ? 'RESOURCE_EXHAUSTED' : 'INTERNAL'
}

/** Gemini has no separate reasons for answers with tool calls and for refusals. */
const REASONS = {
  stop: 'STOP',
  tool_calls: 'STOP',
  length: 'MAX_TOKENS',
  content_filter: 'SAFETY',
  refusal: 'PROHIBITED_CONTENT',
  unknown: 'OTHER',
} as const

function events(
  reply: StubReply,
  { request, call }: WireContext,
): { readonly head: string; readonly tail: string } {
  const { text = '', reasoning = '', toolCalls = [], finishReason = 'stop' } = reply
  const { inputTokens, outputTokens, cachedInputTokens } = readUsage(reply, request.body)
  const usageMetadata = {
    promptTokenCount: inputTokens,
    candidatesTokenCount: outputTokens,
    totalTokenCount: inputTokens + outputTokens,
    ...(cachedInputTokens === undefined ? {} : { cachedContentTokenCount: cachedInputTokens }),
  }
  const calls = toolCalls.map((toolCall, index) => ({
    functionCall: {
      id: toolCall.id ?? `call_${call}_${index}`,
      name: toolCall.name,
      args: parseArguments(toolCall.arguments),
    },
  }))
  const piece = (candidate: object): string =>
    data({ candidates: [{ index: 0, ...candidate }], usageMetadata, modelVersion: 'stub' })
  const content = (parts: readonly object[]): object => ({ content: { role: 'model', parts } })
  return {
    head: [
      ...splitWords(reasoning).map((word) => piece(content([{ text: word, thought: true }]))),
      ...splitWords(text).map((word) => piece(content([{ text: word }]))),
    ].join(''),
    // Like the service, an answer that a filter blocks has no content in its last piece.
    tail: [
      ...(calls.length > 0 ? [piece(content(calls))] : []),
      piece({ finishReason: REASONS[finishReason] }),
    ].join(''),
  }
}

/** The service sends only whole calls, so text that is not JSON cannot be sent. */
function parseArguments(given: object | string): unknown {
  return typeof given === 'string' ? JSON.parse(given) : given
}

function data(value: object): string {
  return `data: ${JSON.stringify(value)}\r\n\r\n`
}
