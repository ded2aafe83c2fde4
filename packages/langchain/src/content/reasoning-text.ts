/**
 * Reads the readable reasoning of a model from the messages that LangChain streams. Pure.
 *
 * LangChain's own `contentBlocks` is not used: it returns the whole reasoning again with the last message of a stream.
 */
import type { AIMessage, AIMessageChunk } from '@langchain/core/messages'

/** Reads the reasoning of one answer, message after message. */
export interface ReasoningReader {
  /** Returns the reasoning in a message; empty if there is none. */
  read(message: AIMessage | AIMessageChunk): string
}

/** A piece of reasoning. */
interface Piece {
  readonly text: string
  /** Block that the piece belongs to, within its item. */
  readonly block: unknown
}

/** Creates a reader. The blocks of an answer, such as the parts of a summary, are separated by an empty line. */
export function createReasoningReader(): ReasoningReader {
  let hasText = false
  let item: unknown
  let current: string | undefined
  return {
    read(message) {
      item = readItemId(message) ?? item
      let text = ''
      for (const piece of listPieces(message)) {
        const begins = `${String(item)}:${String(piece.block)}`
        text += hasText && begins !== current ? `\n\n${piece.text}` : piece.text
        current = begins
        hasText = true
      }
      return text
    },
  }
}

/** Returns the id of the item of reasoning that begins with a message of OpenAI's Responses API. */
function readItemId({ additional_kwargs: more }: AIMessage | AIMessageChunk): unknown {
  const { reasoning } = more
  return typeof reasoning === 'object' && reasoning !== null && 'id' in reasoning
    ? reasoning.id
    : undefined
}

function listPieces(message: AIMessage | AIMessageChunk): readonly Piece[] {
  const { content, additional_kwargs: more } = message
  const texts = typeof content === 'string' ? [] : content.flatMap(toPiece)
  if (texts.length > 0) return texts.map(({ text, block }, at) => ({ text, block: block ?? at }))
  // Chat APIs that imitate OpenAI's have the reasoning next to the content.
  const text = more['reasoning_content'] ?? more['reasoning']
  return typeof text === 'string' && text !== '' ? [{ text, block: 0 }] : []
}

/** Returns the text of a block of reasoning: of the standard format, or of Anthropic and Google. */
function toPiece(block: {
  readonly type: string
  readonly [field: string]: unknown
}): readonly Piece[] {
  const { type, reasoning, thinking, index } = block
  const text = type === 'reasoning' ? reasoning : type === 'thinking' ? thinking : undefined
  return typeof text === 'string' && text !== '' ? [{ text, block: index }] : []
}
