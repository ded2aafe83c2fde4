/**
 * Repairs the requests and answers of Google's client.
 *
 * LC-G1 Pieces without content are passed on: they have the finish reason of an answer that a filter blocked, or the
 *    reason why a prompt was blocked.
 * LC-G2 An error inside a stream is thrown, and so is a piece that cannot be read.
 * LC-G3 Usage is gathered from all pieces and passed on in an additional last piece: LangChain adds up differences, and
 *    does not count thoughts.
 * LC-G4 The results of all calls of an answer are one turn. The class sends each in a separate turn, which the service
 *    refuses.
 *
 * @see https://github.com/langchain-ai/langchainjs/issues/10342
 */
import { isJsonObject } from '@tutti/core/internal'

import { hasCounts, mergeCounts, readCounts, type TokenCounts } from './token-counts.ts'
import {
  parseOrUndefined,
  readField,
  readObject,
  readObjects,
  readNonEmpty,
  type Json,
} from './json.ts'
import { findError, StreamError } from './wire/stream-error.ts'

import type { BaseChatModel } from '@langchain/core/language_models/chat_models'

/** Result of a call of Google's client. */
interface StreamResult {
  readonly stream: AsyncIterable<unknown>
  /** The whole answer; rejects when the stream breaks. */
  readonly response: Promise<unknown>
}

/** The part of Google's client that LangChain's class uses to stream. */
interface GeminiClient {
  generateContentStream(request: unknown, ...others: readonly unknown[]): Promise<StreamResult>
}

/** A turn of a request. */
interface Turn {
  readonly role?: unknown
  readonly parts: readonly unknown[]
}

const NO_CONTENT = { role: 'model', parts: [] }

/** Messages of Google's client for a stream that broke or that has unreadable parts. */
const BROKEN = /Failed to parse stream|Error parsing JSON response|Error reading from the stream/

/** Makes `model` repair the requests and answers of its client; a model of another class is not changed. */
export function adaptGeminiClient(model: BaseChatModel): void {
  if (!('client' in model) || !isGeminiClient(model.client)) return
  const { client } = model
  const inner = client.generateContentStream
  client.generateContentStream = async function (this: GeminiClient, request, ...others) {
    const result = await inner.call(this, joinResults(request), ...others)
    // The whole answer is not awaited: a broken stream must not also cause an unhandled rejection.
    result.response.catch(() => undefined)
    return { ...result, stream: repairStream(result.stream) }
  }
}

function isGeminiClient(client: unknown): client is GeminiClient {
  return (
    typeof client === 'object' &&
    client !== null &&
    'generateContentStream' in client &&
    typeof client.generateContentStream === 'function'
  )
}

async function* repairStream(stream: AsyncIterable<unknown>): AsyncGenerator<Json> {
  let counts: TokenCounts = {}
  for await (const piece of readPieces(stream)) {
    counts = mergeCounts(counts, readCounts(piece['usageMetadata']))
    const [candidate] = readObjects(piece['candidates'])
    const blocked = readNonEmpty(readField(piece['promptFeedback'], 'blockReason'))
    if (candidate !== undefined) yield { candidates: [repairCandidate(candidate)] }
    else if (blocked !== undefined) {
      yield { candidates: [{ index: 0, content: NO_CONTENT, finishReason: blocked }] }
    }
  }
  if (!hasCounts(counts)) return
  const { input, output, total, cacheRead, reasoning } = counts
  const usage = {
    input_tokens: input,
    output_tokens: output,
    total_tokens: total,
    input_tokens_details: { cached_tokens: cacheRead },
    output_tokens_details: { reasoning_tokens: reasoning },
  }
  yield { candidates: [{ index: 0, content: NO_CONTENT, usage }] }
}

async function* readPieces(stream: AsyncIterable<unknown>): AsyncGenerator<Json> {
  try {
    for await (const piece of stream) {
      if (!isJsonObject(piece)) continue
      const error = findError(piece, '')
      if (error !== undefined) throw error
      yield piece
    }
  } catch (error) {
    throw error instanceof Error && BROKEN.test(error.message)
      ? new StreamError(error.message)
      : error
  }
}

function repairCandidate(candidate: Json): Json {
  const { finishReason, usage: _, ...others } = candidate
  const reason = readNonEmpty(finishReason)
  const content = readObject(candidate['content'])
  const parts = readObjects(content?.['parts']).map(repairPart)
  return {
    ...others,
    ...(reason === undefined ? {} : { finishReason: reason }),
    content: { role: 'model', parts },
  }
}

/** Returns a part whose arguments are an object. */
function repairPart(part: Json): Json {
  const call = readObject(part['functionCall'])
  if (call === undefined) return part
  const { args } = call
  const value = typeof args === 'string' ? parseOrUndefined(args) : args
  return {
    ...part,
    functionCall: { ...call, args: value ?? (typeof args === 'string' ? args : {}) },
  }
}

/** Returns a request with consecutive turns of results as one; other values are returned unchanged. */
function joinResults(request: unknown): unknown {
  if (typeof request !== 'object' || request === null || !('contents' in request)) return request
  const { contents } = request
  if (!Array.isArray(contents) || !contents.every(isTurn)) return request
  const joined: Turn[] = []
  for (const turn of contents) {
    const last = joined.at(-1)
    if (last !== undefined && hasResults(last) && hasResults(turn)) {
      joined[joined.length - 1] = { ...last, parts: [...last.parts, ...turn.parts] }
    } else joined.push(turn)
  }
  return { ...request, contents: joined }
}

function isTurn(value: unknown): value is Turn {
  return (
    typeof value === 'object' && value !== null && 'parts' in value && Array.isArray(value.parts)
  )
}

function hasResults({ parts }: Turn): boolean {
  const isResult = (part: unknown): boolean =>
    typeof part === 'object' && part !== null && 'functionResponse' in part
  return parts.length > 0 && parts.every(isResult)
}
