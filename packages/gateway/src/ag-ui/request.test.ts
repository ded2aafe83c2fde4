import { describe, expect, it } from 'vitest'

import { readAguiConversation } from './request.ts'

import type { AguiMessage } from './wire.ts'

const call = (id: string) =>
  ({ id, type: 'function', function: { name: 'look', arguments: '{}' } }) as const

const user = (content: string): AguiMessage => ({ id: 'u', role: 'user', content })

describe('a conversation', () => {
  it('[GW-Y14] An AG-UI conversation has the calls with results only', () => {
    const messages: AguiMessage[] = [
      user('Look twice'),
      { id: 'a1', role: 'assistant', content: '', toolCalls: [call('c1'), call('c2')] },
      { id: 't1', role: 'tool', toolCallId: 'c1', content: 'seen' },
      { id: 'a2', role: 'assistant', content: '', toolCalls: [call('c3')] },
      user('Go on'),
    ]
    expect(readAguiConversation({ messages })).toEqual({
      text: 'Go on',
      instructions: '',
      history: [
        { role: 'user', content: 'Look twice' },
        {
          role: 'assistant',
          content: '',
          toolCalls: [{ id: 'c1', name: 'look', arguments: '{}' }],
        },
        { role: 'tool', toolCallId: 'c1', content: 'seen' },
      ],
    })
  })

  it('[GW-Y13] An AG-UI conversation reads messages of the system and the context as instructions', () => {
    const messages: AguiMessage[] = [
      { id: 's', role: 'system', content: 'Be brief' },
      { id: 'r', role: 'reasoning', content: 'Hm' },
      user('Hello'),
    ]
    const context = [{ description: 'Page', value: 'Start' }]
    expect(readAguiConversation({ messages, context })).toEqual({
      text: 'Hello',
      instructions: 'Be brief\n\nPage: Start',
      history: [],
    })
  })

  it('An AG-UI conversation is refused with every problem', () => {
    const messages: AguiMessage[] = [
      { id: 'u', role: 'user', content: [{ type: 'image' }] },
      { id: 't', role: 'tool', content: 'seen' },
    ]
    expect(() => readAguiConversation({ messages })).toThrow(
      /\/messages\/0\/content\/0 must be a text.*\/messages\/1\/toolCallId is required.*\/messages\/1 must be a message of the user/s,
    )
  })
})
