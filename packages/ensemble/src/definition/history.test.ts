import { describe, expect, it } from 'vitest'

import { findHistoryProblems } from './history.ts'

import type { HistoryMessage } from '@tutti/protocol/internal'

const user = { role: 'user', content: 'Hello' } as const
const call = { id: 'c1', name: 'look', arguments: '{}' }
const calling = { role: 'assistant', content: '', toolCalls: [call] } satisfies HistoryMessage
const result = { role: 'tool', toolCallId: 'c1', content: 'seen' } as const

describe('findHistoryProblems', () => {
  it.each<readonly [string, readonly HistoryMessage[]]>([
    ['nothing', []],
    ['a question', [user]],
    ['a call with its result', [user, calling, result]],
    ['the same id in two turns', [calling, result, calling, result]],
  ])('findHistoryProblems accepts %s', (_, history) => {
    expect(findHistoryProblems(history)).toEqual([])
  })

  it.each<readonly [string, readonly HistoryMessage[], object]>([
    [
      'a call without a result',
      [calling, user],
      { path: '', message: 'has no result for tool call "c1" before message 1' },
    ],
    [
      'a call without a result at the end',
      [user, calling],
      { path: '', message: 'has no result for tool call "c1" before the end' },
    ],
    ['a result without a call', [user, result], { path: '/1/toolCallId' }],
    ['a second result', [calling, result, result], { path: '/2/toolCallId' }],
    [
      'the same id twice in one message',
      [{ ...calling, toolCalls: [call, call] }, result],
      { path: '/0/toolCalls/1/id' },
    ],
    [
      'too many messages',
      Array.from({ length: 1_001 }, () => user),
      { path: '', message: 'must have at most 1000 messages, got 1001' },
    ],
    [
      'too many bytes',
      [{ role: 'user', content: 'é'.repeat(500_000) }],
      { path: '', message: expect.stringMatching(/at most 1000000 bytes as JSON, got 1000/) },
    ],
  ])('findHistoryProblems reports %s', (_, history, problem) => {
    expect(findHistoryProblems(history)).toEqual([expect.objectContaining(problem)])
  })
})
