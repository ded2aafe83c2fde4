/**
 * Collects the blocks of an answer of Anthropic with thinking. While tools are in use, the thinking must be sent
 * back unchanged, with its signatures, before the calls that followed it. Pure.
 *
 * @see https://platform.claude.com/docs/en/build-with-claude/extended-thinking#preserving-thinking-blocks
 */
import type { AIMessage, AIMessageChunk } from '@langchain/core/messages'

/** A block in order: unchanged thinking, text, or the position of a tool call. */
export type ReplyBlock =
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'tool_use'; readonly id: string }

type Part = Readonly<Record<string, unknown>>

/** Collects the blocks of one answer. */
export interface BlockGatherer {
  add(message: AIMessage | AIMessageChunk): void
  /** The blocks in order; undefined when the model did not think. */
  build(): readonly ReplyBlock[] | undefined
}

/** Creates an empty collector. */
export function gatherBlocks(): BlockGatherer {
  const blocks = new Map<unknown, ReplyBlock>()
  let anthropic = false
  return {
    add({ content, response_metadata }) {
      anthropic ||= response_metadata['model_provider'] === 'anthropic'
      const parts: readonly Part[] =
        typeof content === 'string' ? [{ type: 'text', text: content }] : content
      for (const part of parts) {
        // NOTE: streamed pieces name the block that they continue; a complete message consists of whole
        // blocks.
        const blockIndex = part['index'] ?? Symbol('whole')
        const block = join(blocks.get(blockIndex), part)
        if (block !== undefined) blocks.set(blockIndex, block)
      }
    },
    build() {
      const all = [...blocks.values()].filter((block) => block.type !== 'text' || block.text !== '')
      return anthropic && all.some(isThinking) ? all : undefined
    },
  }
}

/** Returns whether a block is thinking, readable or redacted. */
export function isThinking({ type }: ReplyBlock): boolean {
  return type === 'thinking' || type === 'redacted_thinking'
}

function join(block: ReplyBlock | undefined, part: Part): ReplyBlock | undefined {
  switch (part['type']) {
    case 'thinking': {
      const { thinking, signature } =
        block?.type === 'thinking' ? block : { thinking: '', signature: '' }
      return {
        type: 'thinking',
        thinking: thinking + joinText(part['thinking']),
        signature: signature + joinText(part['signature']),
      }
    }
    case 'redacted_thinking':
      return { type: 'redacted_thinking', data: joinText(part['data']) }
    case 'text':
      return {
        type: 'text',
        text: (block?.type === 'text' ? block.text : '') + joinText(part['text']),
      }
    case 'tool_use':
      return { type: 'tool_use', id: joinText(part['id']) }
    default:
      return block
  }
}

function joinText(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
