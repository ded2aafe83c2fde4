import { describe, expect, it } from 'vitest'

import { completeUsage, countUse, findTexts, readUsage, type ModelExchange } from './read-usage.ts'

import type { Message, ModelUsage } from '../model/chat-model.ts'

const TEXTS = { hasInput: true, hasOutput: true }
const MAX = Number.MAX_SAFE_INTEGER
const PRICE = { inputPerMillion: 1_000_000, outputPerMillion: 2_000_000 }

describe('[ENS-B7] readUsage', () => {
  it.each<readonly [string, unknown, unknown]>([
    ['a missing usage', undefined, undefined],
    ['null', null, undefined],
    ['text', '10', undefined],
    ['an empty object', {}, undefined],
    ['two unknown counts', { inputTokens: -1, outputTokens: -1 }, undefined],
    ['two counts of NaN', { inputTokens: NaN, outputTokens: NaN }, undefined],
    [
      'zeros for a call with text, as MiniMax sends them',
      { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
      undefined,
    ],
    ['whole counts', { inputTokens: 10, outputTokens: 2 }, { inputTokens: 10, outputTokens: 2 }],
    ['fractions', { inputTokens: 10.4, outputTokens: 2.5 }, { inputTokens: 10, outputTokens: 3 }],
    ['only the input', { inputTokens: 5 }, { inputTokens: 5, outputTokens: -1 }],
    ['only the output', { outputTokens: 5 }, { inputTokens: -1, outputTokens: 5 }],
    [
      'a count in text',
      { inputTokens: '5', outputTokens: 5 },
      { inputTokens: -1, outputTokens: 5 },
    ],
    [
      'a negative count',
      { inputTokens: -7, outputTokens: 5 },
      { inputTokens: -1, outputTokens: 5 },
    ],
    ['1e308', { inputTokens: 1e308, outputTokens: 5 }, { inputTokens: -1, outputTokens: 5 }],
    ['2^53', { inputTokens: MAX + 1, outputTokens: 5 }, { inputTokens: -1, outputTokens: 5 }],
    ['2^53 - 1', { inputTokens: MAX, outputTokens: 5 }, { inputTokens: MAX, outputTokens: 5 }],
    ['Infinity', { inputTokens: Infinity, outputTokens: 5 }, { inputTokens: -1, outputTokens: 5 }],
    ['input of 0', { inputTokens: 0, outputTokens: 5 }, { inputTokens: -1, outputTokens: 5 }],
    ['output of 0', { inputTokens: 9, outputTokens: 0 }, { inputTokens: 9, outputTokens: 0 }],
    ['output of 0 without an input', { outputTokens: 0 }, undefined],
    [
      'output of 0 with a sum that includes an output',
      { inputTokens: 9, outputTokens: 0, totalTokens: 12 },
      { inputTokens: 9, outputTokens: 3 },
    ],
    [
      'output of 0 with a sum that is the input',
      { inputTokens: 9, outputTokens: 0, totalTokens: 9 },
      { inputTokens: 9, outputTokens: 0 },
    ],
    [
      'both counts and another sum',
      { inputTokens: 9, outputTokens: 3, totalTokens: 50 },
      { inputTokens: 9, outputTokens: 3 },
    ],
    [
      'more reasoning than output',
      { inputTokens: 9, outputTokens: 3, reasoningTokens: 5 },
      { inputTokens: 9, outputTokens: 3, reasoningTokens: 3 },
    ],
    [
      'only the sum',
      { inputTokens: NaN, outputTokens: NaN, totalTokens: 100 },
      { inputTokens: -1, outputTokens: -1, totalTokens: 100 },
    ],
    [
      'the sum and the input',
      { inputTokens: 90, outputTokens: -1, totalTokens: 100 },
      { inputTokens: 90, outputTokens: 10 },
    ],
    [
      'the sum and the output',
      { outputTokens: 10, totalTokens: 100 },
      { inputTokens: 90, outputTokens: 10 },
    ],
    [
      'a sum smaller than its part',
      { inputTokens: 90, totalTokens: 10 },
      { inputTokens: 90, outputTokens: -1 },
    ],
    [
      'parts of the input that exceed it',
      {
        inputTokens: 10,
        outputTokens: 1,
        cachedInputTokens: 8,
        cacheWriteInputTokens: 8,
        reasoningTokens: 0.4,
      },
      {
        inputTokens: 10,
        outputTokens: 1,
        cachedInputTokens: 8,
        cacheWriteInputTokens: 2,
        reasoningTokens: 0,
      },
    ],
    [
      'unusable parts',
      {
        inputTokens: 10,
        outputTokens: 1,
        cachedInputTokens: '8',
        cacheWriteInputTokens: -1,
        reasoningTokens: NaN,
      },
      { inputTokens: 10, outputTokens: 1 },
    ],
  ])('readUsage reads %s', (_, reported, usage) => {
    expect(readUsage(reported, TEXTS)).toEqual(usage)
  })

  it('readUsage believes a count of 0 for an empty text', () => {
    const zeros = { inputTokens: 0, outputTokens: 0 }
    expect(readUsage(zeros, { hasInput: false, hasOutput: false })).toEqual(zeros)
  })
})

/** A call with a prompt of 400 characters and an answer of 40. */
const EXCHANGE: ModelExchange = {
  messages: [{ role: 'user', content: 'a'.repeat(400) }],
  reply: { text: 'b'.repeat(40), toolCalls: [] },
  reasoningLength: 0,
}

describe('[ENS-B3] countUse', () => {
  const count = (usage: ModelUsage | undefined, price: typeof PRICE | undefined) =>
    countUse(completeUsage(usage, EXCHANGE), price)

  it.each([
    [undefined, 110],
    [{ inputTokens: 7, outputTokens: -1 }, 17],
    [{ inputTokens: -1, outputTokens: 7 }, 107],
    [{ inputTokens: 7, outputTokens: 8 }, 15],
    [{ inputTokens: -1, outputTokens: -1, totalTokens: 30 }, 30],
    [{ inputTokens: -1, outputTokens: -1, totalTokens: 3 }, 3],
    [{ inputTokens: MAX, outputTokens: MAX }, MAX],
  ])('countUse counts %j as %d tokens of a call of 400 and 40 characters', (usage, tokens) => {
    expect(count(usage, undefined)).toEqual({ tokens, costUsd: 0 })
  })

  it.each([
    [undefined, 100 + 2 * 10],
    [{ inputTokens: 7, outputTokens: -1 }, 7 + 2 * 10],
    [{ inputTokens: -1, outputTokens: -1, totalTokens: 30 }, 20 + 2 * 10],
    [{ inputTokens: -1, outputTokens: -1, totalTokens: 3 }, 2 * 3],
    [{ inputTokens: MAX, outputTokens: MAX }, MAX],
  ])('countUse counts the cost of %j as %d dollars', (usage, costUsd) => {
    expect(count(usage, PRICE).costUsd).toBe(costUsd)
  })
})

describe('[ENS-B3] completeUsage', () => {
  const call = { id: 'c', name: 'echo', arguments: '1234567890123456' }
  const reply = { text: '1234', toolCalls: [call, call] }

  it('completeUsage counts texts, arguments and reasoning', () => {
    const messages: readonly Message[] = [
      { role: 'system', content: '1234' },
      { role: 'assistant', content: '1234', toolCalls: [call] },
      { role: 'tool', toolCallId: 'c', toolName: 'echo', content: '1234' },
    ]
    expect(completeUsage(undefined, { messages, reply, reasoningLength: 100 })).toEqual({
      inputTokens: 7,
      outputTokens: 34,
    })
  })

  it('completeUsage reads at most the first message with text if the input is reported', () => {
    const unread: Message = {
      role: 'user',
      get content(): string {
        throw new Error('The message was read')
      },
    }
    const messages: readonly Message[] = [{ role: 'user', content: 'x' }, unread]
    const exchange = { messages, reply, reasoningLength: 0 }
    for (const reported of [{ inputTokens: 5, outputTokens: 2 }, { inputTokens: 5 }]) {
      const usage = readUsage(reported, findTexts(exchange))
      expect(completeUsage(usage, exchange)).toMatchObject({ inputTokens: 5 })
    }
    expect(() => completeUsage({ inputTokens: -1, outputTokens: 2 }, exchange)).toThrow('was read')
  })
})
