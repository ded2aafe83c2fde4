import { AIMessage, AIMessageChunk } from '@langchain/core/messages'
import { describe, expect, test } from 'vitest'

import { gatherBlocks, type ReplyBlock } from './thinking-blocks.ts'

const OF_ANTHROPIC = { model_provider: 'anthropic' }

/** What is gathered of a stream whose pieces have these contents. */
function gathered(
  contents: readonly (string | object[])[],
  response_metadata: object = OF_ANTHROPIC,
): readonly ReplyBlock[] | undefined {
  const gatherer = gatherBlocks()
  for (const content of contents) {
    const message = new AIMessageChunk({ content: '' })
    gatherer.add(Object.assign(message, { content, response_metadata }))
  }
  return gatherer.build()
}

describe('the pieces of a stream', () => {
  test('join to the blocks that their numbers say, in the order of the first pieces', () => {
    const pieces = [
      [{ type: 'thinking', index: 0, thinking: '', signature: '' }],
      [{ type: 'thinking', index: 0, thinking: 'one ' }],
      [{ type: 'thinking', index: 0, thinking: 'two' }],
      [{ type: 'thinking', index: 0, signature: 'c2' }],
      [{ type: 'thinking', index: 0, signature: 'ln' }],
      [{ type: 'redacted_thinking', index: 1, data: 'x' }],
      [{ type: 'tool_use', index: 2, id: 'a', name: 'f', input: '' }],
      [{ type: 'input_json_delta', index: 2, input: '{}' }],
      [{ type: 'thinking', index: 3, thinking: 'three' }],
      [{ type: 'thinking', index: 3, signature: 'c2lo' }],
      [{ type: 'text', index: 4, text: 'said ' }],
      [{ type: 'text', index: 4, text: 'so' }],
      [{ type: 'tool_use', index: 5, id: 'b', name: 'f', input: '' }],
    ]
    expect(gathered(pieces)).toEqual([
      { type: 'thinking', thinking: 'one two', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'x' },
      { type: 'tool_use', id: 'a' },
      { type: 'thinking', thinking: 'three', signature: 'c2lo' },
      { type: 'text', text: 'said so' },
      { type: 'tool_use', id: 'b' },
    ])
  })

  test('without text or of unknown kinds are no blocks', () => {
    const thought = { type: 'thinking', index: 0, thinking: 'hm', signature: 's' }
    expect(
      gathered([[thought], '', [{ type: 'text', index: 1, text: '' }], [{ type: 'x' }]]),
    ).toEqual([{ type: 'thinking', thinking: 'hm', signature: 's' }])
  })
})

test('a whole message is taken as it is', () => {
  const gatherer = gatherBlocks()
  gatherer.add(
    new AIMessage({
      content: [
        { type: 'thinking', thinking: 'one', signature: 'c2ln' },
        { type: 'thinking', thinking: 'two', signature: 'c2lo' },
        { type: 'text', text: 'said' },
      ],
      response_metadata: OF_ANTHROPIC,
    }),
  )
  expect(gatherer.build()).toEqual([
    { type: 'thinking', thinking: 'one', signature: 'c2ln' },
    { type: 'thinking', thinking: 'two', signature: 'c2lo' },
    { type: 'text', text: 'said' },
  ])
})

test('[P1] a reply without thinking, and thinking that is not of Anthropic, have no blocks', () => {
  expect(gathered(['said', [{ type: 'text', text: 'more', index: 0 }]])).toBeUndefined()
  const thought = [{ type: 'thinking', thinking: 'hm', index: 0 }]
  expect(gathered([thought])).toBeDefined()
  expect(gathered([thought], {})).toBeUndefined()
})
