import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { listPrices, pricesFor } from './prices.ts'

describe('listPrices and pricesFor', () => {
  it('listPrices and pricesFor return the prices of the list, per million tokens', async () => {
    const prices = await listPrices()
    const price = prices({ provider: 'openai', name: 'gpt-4o' })
    expect(price?.inputPerMillion).toBeCloseTo(2.5, 6)
    expect(price?.outputPerMillion).toBeCloseTo(10, 6)
    expect(price?.cachedInputPerMillion).toBeCloseTo(1.25, 6)
    expect(prices({ provider: 'openai', name: 'gpt-4o' })).toBe(price)
  })

  it('listPrices and pricesFor return the price of the first tier of a model with tiers', async () => {
    const price = (await listPrices())({ provider: 'anthropic', name: 'claude-sonnet-4-5' })
    expect(price?.inputPerMillion).toBeCloseTo(3, 6)
    expect(price?.cacheWriteInputPerMillion).toBeCloseTo(3.75, 6)
  })

  it('listPrices and pricesFor return undefined for a model that is not in the list', async () => {
    const prices = await listPrices()
    expect(prices({ provider: 'openai', name: 'nothing-of-that-name' })).toBeUndefined()
    expect(prices({ provider: 'nobody', name: 'x' })).toBeUndefined()
  })

  it('listPrices and pricesFor load the list only when a model defines no price', async () => {
    const model = scriptedModel([])
    const band = ensemble({ name: 'band', tasks: [task({ description: 'Play' })], model })
    const gpt = { provider: 'openai', name: 'gpt-4o' }
    expect(model.price).toEqual({ inputPerMillion: 0, outputPerMillion: 0 })
    expect((await pricesFor([band], [model]))(gpt)).toBeUndefined()
    const unpriced = scriptedModel([], { provider: 'acme' })
    const mixed = await pricesFor([band], [unpriced])
    expect(mixed(model)).toBeUndefined()
    expect(mixed(gpt)?.inputPerMillion).toBeCloseTo(2.5, 6)
  })
})
