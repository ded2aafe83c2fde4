import { expect, it } from 'vitest'

import { computeCost, priceList } from './prices.ts'

const PRICE = { inputPerMillion: 3, outputPerMillion: 15 }

it('[ENS-B5] a price list has only the prices of its models', () => {
  const prices = priceList({ 'a:b': PRICE })
  expect(prices({ provider: 'a', name: 'b' })).toEqual(PRICE)
  expect(prices({ provider: 'a', name: 'constructor' })).toBeUndefined()
})

it('priceList rejects every invalid price by name', () => {
  expect(() =>
    priceList({ x: { ...PRICE, inputPerMillion: -1 }, y: { ...PRICE, outputPerMillion: NaN } }),
  ).toThrow(
    'Cannot create a price list: inputPerMillion of "x" must be a number >= 0, got -1; outputPerMillion of "y" must be a number >= 0, got NaN',
  )
})

it('[ENS-L9] the cost of a call includes cached tokens at their price, or at the full price if there is none', () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 2_000_000, cachedInputTokens: 400_000 }
  expect(computeCost(usage, PRICE)).toEqual({ inputCost: 3, outputCost: 30 })
  const { inputCost } = computeCost(usage, { ...PRICE, cachedInputPerMillion: 0.5 }) ?? {}
  expect(inputCost).toBeCloseTo(0.6 * 3 + 0.4 * 0.5)
  const odd = { inputTokens: 10, outputTokens: 0, cachedInputTokens: 99 }
  expect(computeCost(odd, { ...PRICE, cachedInputPerMillion: 1 })?.inputCost).toBeCloseTo(0.000_01)
})

it('[ENS-L9] the cost is unknown without tokens or a price', () => {
  expect(computeCost(undefined, PRICE)).toBeUndefined()
  expect(computeCost({ inputTokens: 1, outputTokens: 1 }, undefined)).toBeUndefined()
})
