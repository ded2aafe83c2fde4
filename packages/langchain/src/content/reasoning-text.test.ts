import { AIMessageChunk } from '@langchain/core/messages'
import { describe, expect, test } from 'vitest'

import { createReasoningReader } from './reasoning-text.ts'

/** Reads the messages of one answer. */
function read(...messages: readonly object[]): readonly string[] {
  const reader = createReasoningReader()
  return messages.map((fields) =>
    reader.read(Object.assign(new AIMessageChunk({ content: '' }), fields)),
  )
}

const thinking = (text: string, index: number): object => ({
  content: [{ type: 'thinking', thinking: text, index }],
})

const summary = (text: string, index: number): object => ({
  content: [{ type: 'reasoning', reasoning: text, index }],
  additional_kwargs: { reasoning: { type: 'reasoning', summary: [{ text, index }] } },
})

describe('createReasoningReader', () => {
  test('createReasoningReader reads the blocks of Anthropic, with an empty line between two thoughts', () => {
    const signed = { content: [{ type: 'thinking', signature: 's', index: 0 }] }
    const redacted = { content: [{ type: 'redacted_thinking', data: 'x', index: 1 }] }
    const called = { content: [{ type: 'tool_use', id: 'a', index: 2 }] }
    expect(
      read(thinking('one', 0), thinking(' two', 0), signed, redacted, called, thinking('three', 3)),
    ).toEqual(['one', ' two', '', '', '', '\n\nthree'])
  })

  test("createReasoningReader separates the parts and the items of summaries of OpenAI's Responses API", () => {
    const item = (id: string): object => ({
      additional_kwargs: { reasoning: { type: 'reasoning', id, summary: [] } },
    })
    expect(
      read(item('a'), summary('one', 0), summary('two', 1), item('b'), summary('three', 0)),
    ).toEqual(['', 'one', '\n\ntwo', '', '\n\nthree'])
  })

  test('createReasoningReader reads the thoughts of Gemini, which have no index, as one text', () => {
    const thought = (text: string): object => ({ content: [{ type: 'thinking', thinking: text }] })
    expect(read(thought('one'), thought(' two'))).toEqual(['one', ' two'])
  })

  test('createReasoningReader separates the thoughts of a complete message', () => {
    const content = ['one', 'two'].map((text) => ({ type: 'thinking', thinking: text }))
    expect(read({ content })).toEqual(['one\n\ntwo'])
  })

  test('createReasoningReader reads reasoning next to the content, as chat APIs like that of OpenAI send it', () => {
    expect(
      read(
        { additional_kwargs: { reasoning_content: 'one' } },
        { additional_kwargs: { reasoning_content: ' two' } },
        { additional_kwargs: { reasoning: ' three' } },
        { content: 'said', additional_kwargs: { reasoning_content: null } },
      ),
    ).toEqual(['one', ' two', ' three', ''])
  })
})
