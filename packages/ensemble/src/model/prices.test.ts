import { describe, expect, it } from 'vitest'

import { scriptedModel } from '../../test/testing.ts'
import { ensemble, modelCatalog, task } from '../index.ts'
import { computeCost, findPrice, findPriceProblems, priceList } from './prices.ts'

const PRICE = { inputPerMillion: 3, outputPerMillion: 15 }

it('[ENS-B5] A price list has only the prices of its models', () => {
  const prices = priceList({ 'a:b': PRICE })
  expect(prices({ provider: 'a', name: 'b' })).toEqual(PRICE)
  expect(prices({ provider: 'a', name: 'constructor' })).toBeUndefined()
})

it('priceList rejects every invalid price by name', () => {
  expect(() =>
    priceList({ x: { ...PRICE, inputPerMillion: -1 }, y: { ...PRICE, outputPerMillion: NaN } }),
  ).toThrow(
    'Cannot create a price list: inputPerMillion of "x" must be a number from 0 to 1000000000, got -1; outputPerMillion of "y" must be a number from 0 to 1000000000, got NaN',
  )
})

describe('[ENS-B9] an invalid price', () => {
  it.each([
    [{ ...PRICE, inputPerMillion: Infinity }, 'inputPerMillion of x must be a number from 0 to'],
    [{ ...PRICE, outputPerMillion: '5' }, 'outputPerMillion of x must be a number from 0 to'],
    [{ ...PRICE, cachedInputPerMillion: 1e308 }, 'cachedInputPerMillion of x must be a number'],
    [{ ...PRICE, cacheWriteInputPerMillion: NaN }, 'cacheWriteInputPerMillion of x must be'],
    [{ ...PRICE, cachePerMillion: 1 }, 'the price of x has no field "cachePerMillion"'],
    [
      { inputPerMillion: 1 },
      'outputPerMillion of x must be a number from 0 to 1000000000, got undef',
    ],
    [null, 'the price of x must be an object, got null'],
    [3, 'the price of x must be an object, got 3'],
  ])('The error of an invalid price names %j', (price, problem) => {
    expect(findPriceProblems(price, 'x')).toEqual([expect.stringContaining(problem)])
  })

  it('An invalid price from the function of a run is refused when it is used', () => {
    const model = scriptedModel([], { provider: 'a', name: 'b' })
    const broken = { ...PRICE, inputPerMillion: NaN }
    expect(() => findPrice(model, () => broken)).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: 'inputPerMillion of model "a:b" must be a number from 0 to 1000000000, got NaN',
      }),
    )
    expect(findPrice(model, () => PRICE)).toBe(PRICE)
  })

  it('[ENS-W8] An invalid price of a model is refused where an ensemble or a catalog gets the model', () => {
    const model = scriptedModel([], { price: { ...PRICE, outputPerMillion: Infinity } })
    const problem =
      'outputPerMillion of model "scripted:model" must be a number from 0 to 1000000000'
    const tasks = [task({ description: 'a', model }), task({ description: 'b' })]
    const good = scriptedModel([])
    expect(() => ensemble({ name: 'e', model: good, tasks })).toThrow(problem)
    expect(() =>
      ensemble({ name: 'e', model: good, fallbackModels: [model], tasks: [tasks[1]!] }),
    ).toThrow(problem)
    expect(() => modelCatalog({ x: model })).toThrow(problem)
  })
})

it('[ENS-L9] The cost of a call includes cached tokens at their price, or at the full price if there is none', () => {
  const usage = { inputTokens: 1_000_000, outputTokens: 2_000_000, cachedInputTokens: 400_000 }
  expect(computeCost(usage, PRICE)).toEqual({ inputCost: 3, outputCost: 30 })
  const { inputCost } = computeCost(usage, { ...PRICE, cachedInputPerMillion: 0.5 }) ?? {}
  expect(inputCost).toBeCloseTo(0.6 * 3 + 0.4 * 0.5)
  const odd = { inputTokens: 10, outputTokens: 0, cachedInputTokens: 99 }
  expect(computeCost(odd, { ...PRICE, cachedInputPerMillion: 1 })?.inputCost).toBeCloseTo(0.000_01)
})

it('[ENS-L9] The cost is unknown without tokens or a price', () => {
  expect(computeCost(undefined, PRICE)).toBeUndefined()
  expect(computeCost({ inputTokens: 1, outputTokens: 1 }, undefined)).toBeUndefined()
})

it('[ENS-L9] The cost of a call includes cache writes at their price', () => {
  const usage = {
    inputTokens: 1_000_000,
    outputTokens: 0,
    cachedInputTokens: 500_000,
    cacheWriteInputTokens: 200_000,
  }
  const price = { ...PRICE, cachedInputPerMillion: 0.3, cacheWriteInputPerMillion: 3.75 }
  expect(computeCost(usage, price)?.inputCost).toBeCloseTo(0.3 * 3 + 0.5 * 0.3 + 0.2 * 3.75)
  expect(computeCost(usage, PRICE)?.inputCost).toBe(3)
  const odd = { inputTokens: 10, outputTokens: 0, cachedInputTokens: 6, cacheWriteInputTokens: 99 }
  expect(computeCost(odd, { ...PRICE, cacheWriteInputPerMillion: 0 })?.inputCost).toBeCloseTo(
    18 / 1_000_000,
  )
})

it('[ENS-L9] The cost is unknown if one count of tokens is', () => {
  expect(computeCost({ inputTokens: -1, outputTokens: 1 }, PRICE)).toBeUndefined()
  expect(computeCost({ inputTokens: 1, outputTokens: -1 }, PRICE)).toBeUndefined()
})
