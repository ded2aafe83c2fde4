import { AIMessage } from '@langchain/core/messages'
import { describe, expect, test } from 'vitest'

import { gatherContent, toAssistantFields } from './provider-content.ts'

import type { AssistantMessage } from '@tutti/ensemble/internal'

const CALLS = ['a', 'b'].map((id) => ({ type: 'tool_call' as const, id, name: 'f', args: {} }))

const BLOCKS = [
  { type: 'thinking', thinking: 'one', signature: 's1' },
  { type: 'tool_use', id: 'a' },
  { type: 'thinking', thinking: 'two', signature: 's2' },
  { type: 'text', text: 'said' },
  { type: 'tool_use', id: 'b' },
]

function message(change: Partial<AssistantMessage> = {}): AssistantMessage {
  const toolCalls = CALLS.map(({ id, name }) => ({ id, name, arguments: '{}' }))
  const providerContent = { provider: 'own', content: { kind: 'blocks', blocks: BLOCKS } }
  return { role: 'assistant', content: 'said', toolCalls, providerContent, ...change }
}

const OWN = { provider: 'own' }

describe('blocks of a reply', () => {
  test('[LC-M5] Blocks of a reply are sent back in their order, with the tool calls in place', () => {
    const use = (id: string): object => ({ type: 'tool_use', id, name: 'f', input: {} })
    expect(toAssistantFields(message(), CALLS, OWN).content).toEqual([
      BLOCKS[0],
      use('a'),
      BLOCKS[2],
      BLOCKS[3],
      use('b'),
    ])
  })

  test.each<[string, Partial<AssistantMessage>, typeof CALLS]>([
    ['another text', { content: 'other' }, CALLS],
    ['fewer calls', {}, CALLS.slice(1)],
    ['calls in another order', {}, CALLS.toReversed()],
  ])(
    '[LC-P3] Blocks of a reply with %s are replaced by the message except the thinking blocks',
    (_title, change, calls) => {
      const text = change.content ?? 'said'
      expect(toAssistantFields(message(change), calls, OWN)).toEqual({
        content: [BLOCKS[0], BLOCKS[2], { type: 'text', text }],
        tool_calls: calls,
      })
    },
  )

  test('[LC-P2] Blocks of a reply are omitted for another provider', () => {
    expect(toAssistantFields(message(), CALLS, { provider: 'other' })).toEqual({
      content: 'said',
      tool_calls: CALLS,
    })
  })
})

describe('items of a reply', () => {
  const reasoning = { type: 'reasoning', id: 'rs', summary: [] }
  const gather = (output: unknown): unknown => {
    const gatherer = gatherContent()
    gatherer.add(new AIMessage({ content: '', response_metadata: { output } }))
    gatherer.add(new AIMessage({ content: '', response_metadata: {} }))
    return gatherer.build()
  }

  test('[LC-P1] Items of a reply are returned only when they contain reasoning', () => {
    expect(gather([reasoning])).toEqual({ kind: 'items', items: [reasoning] })
    expect(gather([{ type: 'message' }])).toBeUndefined()
    expect(gather('text')).toBeUndefined()
    expect(gather(undefined)).toBeUndefined()
  })

  test('[LC-P3] Items of a reply are sent back only when their text and calls match the message', () => {
    const items = [
      reasoning,
      { type: 'message', content: [{ type: 'output_text', text: 'sa' }, { type: 'refusal' }] },
      { type: 'message', content: [{ type: 'output_text', text: 'id' }] },
      ...CALLS.map(({ id }) => ({ type: 'function_call', call_id: id })),
    ]
    const fields = (stored: readonly object[]): object => {
      const providerContent = { provider: 'own', content: { kind: 'items', items: stored } }
      return toAssistantFields(message({ providerContent }), CALLS, OWN)
    }
    expect(fields(items)).toHaveProperty('response_metadata', { output: items })
    expect(fields(items.slice(0, -1))).not.toHaveProperty('response_metadata')
    expect(fields(items.slice(2))).not.toHaveProperty('response_metadata')
  })
})
