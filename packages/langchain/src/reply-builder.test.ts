import { AIMessage, AIMessageChunk } from '@langchain/core/messages'
import { describe, expect, test } from 'vitest'

import { createReplyBuilder } from './reply-builder.ts'

describe('text of a reply', () => {
  test('Text of a reply contains strings and text blocks only', () => {
    const builder = createReplyBuilder('own')
    const texts = [
      'one ',
      [
        { type: 'thinking', thinking: 'hm', index: 0 },
        { type: 'text', text: 'two', index: 1 },
        { type: 'reasoning', reasoning: 'hm' },
        { type: 'text', text: ' three', index: 1 },
      ],
    ].map((content) => builder.add(new AIMessageChunk({ content })))
    expect(texts).toEqual([
      { reasoning: '', text: 'one ' },
      { reasoning: 'hm\n\nhm', text: 'two three' },
    ])
    expect(builder.build()).toEqual({
      text: 'one two three',
      toolCalls: [],
      finishReason: 'unknown',
    })
  })
})

describe('tool calls', () => {
  test('Tool calls are read from a complete message, malformed ones with their raw text', () => {
    const builder = createReplyBuilder('own')
    builder.add(
      new AIMessage({
        content: '',
        tool_calls: [{ id: 'a', name: 'f', args: { x: 1 } }],
        invalid_tool_calls: [{ id: 'b', name: 'g', args: '{"y', error: 'broken' }],
      }),
    )
    expect(builder.build().toolCalls).toEqual([
      { id: 'a', name: 'f', arguments: '{"x":1}' },
      { id: 'b', name: 'g', arguments: '{"y' },
    ])
  })

  test('Tool calls without an id get a unique id that providers accept', () => {
    const builder = createReplyBuilder('own')
    const call = { name: 'f', args: {} }
    builder.add(new AIMessage({ content: '', tool_calls: [call, call] }))
    builder.add(new AIMessage({ content: '', tool_calls: [call] }))
    const ids = builder.build().toolCalls.map(({ id }) => id)
    expect(new Set(ids).size).toBe(3)
    for (const id of ids) expect(id).toMatch(/^[a-zA-Z0-9_-]{1,40}$/)
  })
})

describe('usage', () => {
  const piece = (input: number, output: number, provider = 'other'): AIMessageChunk =>
    // NOTE: LangChain's constructor accepts usage, but its type does not.
    Object.assign(
      new AIMessageChunk({ content: '', response_metadata: { model_provider: provider } }),
      {
        usage_metadata: {
          input_tokens: input,
          output_tokens: output,
          total_tokens: input + output,
        },
      },
    )

  test('The usage of a reply is absent when the provider does not report it', () => {
    expect(createReplyBuilder('own').build()).not.toHaveProperty('usage')
  })

  test('The usage of a reply adds up over chunks', () => {
    const builder = createReplyBuilder('own')
    for (const message of [piece(10, 1), piece(0, 2)]) builder.add(message)
    expect(builder.build().usage).toEqual({ inputTokens: 10, outputTokens: 3 })
  })

  test('The usage of a reply includes cached input tokens only if there are any', () => {
    const cached = (provider: string, reads: readonly (number | undefined)[]): object => {
      const builder = createReplyBuilder('own')
      for (const cache_read of reads) {
        const message = piece(10, 1, provider)
        const details = cache_read === undefined ? {} : { input_token_details: { cache_read } }
        Object.assign(message.usage_metadata ?? {}, details)
        builder.add(message)
      }
      return builder.build().usage ?? {}
    }
    expect(cached('other', [4, 2])).toMatchObject({ inputTokens: 20, cachedInputTokens: 6 })
    expect(cached('anthropic', [4, undefined])).toMatchObject({
      inputTokens: 10,
      cachedInputTokens: 4,
    })
    expect(cached('other', [0, undefined])).not.toHaveProperty('cachedInputTokens')
  })

  test('The usage of a reply of Anthropic is the last count, which includes the first one', () => {
    const builder = createReplyBuilder('own')
    for (const message of [piece(10, 1, 'anthropic'), piece(0, 15, 'none')]) builder.add(message)
    expect(builder.build().usage).toEqual({ inputTokens: 10, outputTokens: 15 })
  })
})
