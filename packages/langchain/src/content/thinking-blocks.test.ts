import { AIMessage, AIMessageChunk } from '@langchain/core/messages'
import { describe, expect, test } from 'vitest'

import { gatherBlocks, type ReplyBlock } from './thinking-blocks.ts'

const FROM_ANTHROPIC = { model_provider: 'anthropic' }

/** Gathers the blocks of a stream with these contents. */
function gather(
  contents: readonly (string | object[])[],
  response_metadata: object = FROM_ANTHROPIC,
): readonly ReplyBlock[] | undefined {
  const gatherer = gatherBlocks()
  for (const content of contents) {
    const message = new AIMessageChunk({ content: '' })
    gatherer.add(Object.assign(message, { content, response_metadata }))
  }
  return gatherer.build()
}

describe('gatherBlocks', () => {
  test('gatherBlocks joins the chunks of a stream into blocks by index, in order of their first chunks', () => {
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
    expect(gather(pieces)).toEqual([
      { type: 'thinking', thinking: 'one two', signature: 'c2ln' },
      { type: 'redacted_thinking', data: 'x' },
      { type: 'tool_use', id: 'a' },
      { type: 'thinking', thinking: 'three', signature: 'c2lo' },
      { type: 'text', text: 'said so' },
      { type: 'tool_use', id: 'b' },
    ])
  })

  test('gatherBlocks ignores empty texts and unknown types', () => {
    const thought = { type: 'thinking', index: 0, thinking: 'hm', signature: 's' }
    expect(
      gather([[thought], '', [{ type: 'text', index: 1, text: '' }], [{ type: 'x' }]]),
    ).toEqual([{ type: 'thinking', thinking: 'hm', signature: 's' }])
  })
})

test('gatherBlocks returns the blocks of a complete message unchanged', () => {
  const gatherer = gatherBlocks()
  gatherer.add(
    new AIMessage({
      content: [
        { type: 'thinking', thinking: 'one', signature: 'c2ln' },
        { type: 'thinking', thinking: 'two', signature: 'c2lo' },
        { type: 'text', text: 'said' },
      ],
      response_metadata: FROM_ANTHROPIC,
    }),
  )
  expect(gatherer.build()).toEqual([
    { type: 'thinking', thinking: 'one', signature: 'c2ln' },
    { type: 'thinking', thinking: 'two', signature: 'c2lo' },
    { type: 'text', text: 'said' },
  ])
})

test('[LC-P1] The thinking blocks are undefined for a reply without thinking and for other providers', () => {
  expect(gather(['said', [{ type: 'text', text: 'more', index: 0 }]])).toBeUndefined()
  const thought = [{ type: 'thinking', thinking: 'hm', index: 0 }]
  expect(gather([thought])).toBeDefined()
  expect(gather([thought], {})).toBeUndefined()
})
