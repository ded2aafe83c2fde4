/**
 * Preserves the finish reasons of Google's answers. LangChain's class drops every piece without content, and
 * thus the finish reason of an answer that a filter blocked, or the reason why a prompt was blocked.
 */
import type { BaseChatModel } from '@langchain/core/language_models/chat_models'

/** The fields of a streamed chunk that are read. */
interface Piece {
  readonly candidates?: readonly object[]
  readonly promptFeedback?: { readonly blockReason?: string }
}

/** Result of a call of Google's client. */
interface StreamResult {
  readonly stream: AsyncIterable<Piece>
  /** The whole answer; rejects when the stream breaks. */
  readonly response: Promise<unknown>
}

/** The part of Google's client that LangChain's class uses to stream. */
interface GeminiClient {
  generateContentStream(...given: readonly unknown[]): Promise<StreamResult>
}

const NO_CONTENT = { role: 'model', parts: [] }

/** Makes `model` pass on pieces without content; a model of another class is not changed. */
export function keepEmptyPieces(model: BaseChatModel): void {
  if (!('client' in model) || !isGeminiClient(model.client)) return
  const { client } = model
  const inner = client.generateContentStream
  client.generateContentStream = async function (this: GeminiClient, ...given) {
    const result = await inner.call(this, ...given)
    // The whole answer is not awaited: a broken stream must not also cause an unhandled rejection.
    result.response.catch(() => undefined)
    return { ...result, stream: withContent(result.stream) }
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

async function* withContent(stream: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  for await (const piece of stream) {
    const { candidates = [], promptFeedback } = piece
    const blocked = promptFeedback?.blockReason
    if (candidates.length > 0) {
      yield {
        ...piece,
        candidates: candidates.map((candidate) => ({ content: NO_CONTENT, ...candidate })),
      }
    } else if (blocked !== undefined) {
      yield { ...piece, candidates: [{ index: 0, content: NO_CONTENT, finishReason: blocked }] }
    } else yield piece
  }
}
