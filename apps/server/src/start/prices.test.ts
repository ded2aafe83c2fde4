import { ensemble, task } from '@tutti/ensemble'
import { scriptedModel } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { listPrices, pricesFor } from './prices.ts'

describe('prices', () => {
  it('are those of the list, for a million tokens', async () => {
    const prices = await listPrices()
    const price = prices({ provider: 'openai', name: 'gpt-4o' })
    expect(price?.inputPerMillion).toBeCloseTo(2.5, 6)
    expect(price?.outputPerMillion).toBeCloseTo(10, 6)
    expect(price?.cachedInputPerMillion).toBeCloseTo(1.25, 6)
    expect(prices({ provider: 'openai', name: 'gpt-4o' })).toBe(price)
  })

  it('of a model with tiers are those of the first', async () => {
    const price = (await listPrices())({ provider: 'anthropic', name: 'claude-sonnet-4-5' })
    expect(price?.inputPerMillion).toBeCloseTo(3, 6)
  })

  it('are not known of models that are not in the list', async () => {
    const prices = await listPrices()
    expect(prices({ provider: 'openai', name: 'nothing-of-that-name' })).toBeUndefined()
    expect(prices({ provider: 'nobody', name: 'x' })).toBeUndefined()
  })

  it('are looked up only when a model has no price of its own, as scripts have', async () => {
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
