/** [M2] When a call is made again, and when never. */
import { ChatAnthropic } from '@langchain/anthropic'
import { ChatOpenAI } from '@langchain/openai'
import { describe, expect, test } from 'vitest'

import { langchainModel } from '../src/index.ts'
import { instantClock } from './instant-clock.ts'
import { ask, failureOf, KEY, modelAt, PROVIDERS } from './providers.ts'

const BUSY = { status: 503, message: 'Busy' }

describe.each(PROVIDERS)('$name', (provider) => {
  test('two retries are made by default, with growing waits', async () => {
    await using stub = await provider.stub([BUSY, { status: 429 }, 'at last'])
    const clock = instantClock()
    const model = langchainModel(provider.model, {
      apiKey: KEY,
      baseUrl: stub.baseUrl,
      timeoutMs: 0,
      clock,
    })
    expect((await ask(model)).reply.text).toBe('at last')
    expect(stub.requests).toHaveLength(3)
    const [first = 0, second = 0] = clock.waits
    expect(clock.waits).toHaveLength(2)
    expect(first).toBeGreaterThanOrEqual(375)
    expect(second).toBeGreaterThanOrEqual(750)
  })

  test.each([0, 1, 4])('maxRetries %i gives that many retries and no more', async (maxRetries) => {
    await using stub = await provider.stub(() => BUSY)
    const model = modelAt(provider, stub, { maxRetries, clock: instantClock() })
    await failureOf(model)
    expect(stub.requests).toHaveLength(maxRetries + 1)
  })

  test('the wait is as long as the provider asks for', async () => {
    const busy = { ...BUSY, headers: { 'retry-after': '7' } }
    await using stub = await provider.stub([busy, 'at last'])
    const clock = instantClock()
    await ask(modelAt(provider, stub, { maxRetries: 1, clock }))
    expect(clock.waits).toEqual([7_000])
  })

  test('a wait of more than a minute is left to the caller', async () => {
    const busy = { ...BUSY, headers: { 'retry-after': '3600' } }
    await using stub = await provider.stub([busy])
    const error = await failureOf(modelAt(provider, stub, { maxRetries: 2, clock: instantClock() }))
    expect(error).toMatchObject({ retryable: true, details: { retryAfterMs: 3_600_000 } })
    expect(stub.requests).toHaveLength(1)
  })

  test('the provider has the last word on whether to retry', async () => {
    await using stub = await provider.stub([{ ...BUSY, headers: { 'x-should-retry': 'false' } }])
    const error = await failureOf(modelAt(provider, stub, { maxRetries: 2, clock: instantClock() }))
    expect(error).toMatchObject({ retryable: false })
    expect(stub.requests).toHaveLength(1)
  })

  test('a request that is wrong is not made again', async () => {
    await using stub = await provider.stub([{ status: 400 }])
    await failureOf(modelAt(provider, stub, { maxRetries: 5, clock: instantClock() }))
    expect(stub.requests).toHaveLength(1)
  })

  test('a stream that breaks before its first text is made again', async () => {
    await using stub = await provider.stub([{ text: '', ending: 'error' }, 'at last'])
    const model = modelAt(provider, stub, { maxRetries: 1, clock: instantClock() })
    expect((await ask(model)).texts.join('')).toBe('at last')
  })

  test('a stream that breaks after its first text is not', async () => {
    await using stub = await provider.stub([{ text: 'one two', ending: 'error' }, 'again'])
    await failureOf(modelAt(provider, stub, { maxRetries: 5, clock: instantClock() }))
    expect(stub.requests).toHaveLength(1)
  })
})

describe('of a model that the caller made', () => {
  test('a number given here replaces the retries of the model', async () => {
    const [openai, anthropic] = PROVIDERS
    if (openai === undefined || anthropic === undefined) throw new Error('no providers')
    await using first = await openai.stub(() => BUSY)
    await using second = await anthropic.stub(() => BUSY)
    const own = { apiKey: KEY, maxRetries: 6 }
    const models = [
      new ChatOpenAI({ ...own, model: 'gpt-4o', configuration: { baseURL: first.baseUrl } }),
      new ChatAnthropic({ ...own, model: 'claude-sonnet-4-5', anthropicApiUrl: second.baseUrl }),
    ]
    for (const model of models) {
      await failureOf(langchainModel(model, { maxRetries: 1, clock: instantClock(), timeoutMs: 0 }))
    }
    expect([first.requests.length, second.requests.length]).toEqual([2, 2])
  })
})
