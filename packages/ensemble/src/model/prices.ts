/** Prices of model calls. The engine has no price list; the operator provides one. */
import { TuttiError } from '@tutti/core'
import { MAX_COST_USD } from '@tutti/core/internal'

import type { ChatModel, ModelPrice, ModelUsage } from './chat-model.ts'
import type { CostEstimate } from '@tutti/protocol/internal'

/** The prices port: returns the price of a model, or undefined if it is unknown. */
export type Prices = (model: Pick<ChatModel, 'provider' | 'name'>) => ModelPrice | undefined

/** Maximum price of a million tokens in US dollars. */
export const MAX_PRICE_PER_MILLION = MAX_COST_USD

const PRICE_NAMES = {
  inputPerMillion: 'required',
  outputPerMillion: 'required',
  cachedInputPerMillion: 'optional',
  cacheWriteInputPerMillion: 'optional',
} as const satisfies Record<keyof ModelPrice, 'required' | 'optional'>

/** Returns the problems of a price, one text each; `owner` names it in them, such as `"openai:gpt-4.1"`. */
export function findPriceProblems(price: unknown, owner: string): readonly string[] {
  if (typeof price !== 'object' || price === null) {
    return [`the price of ${owner} must be an object, got ${String(price)}`]
  }
  const given = new Map<string, unknown>(Object.entries(price))
  const unknown = [...given.keys()].filter((name) => !Object.hasOwn(PRICE_NAMES, name))
  return [
    ...unknown.map((name) => `the price of ${owner} has no field "${name}"`),
    ...Object.entries(PRICE_NAMES).flatMap(([name, need]) => {
      const dollars = given.get(name)
      if (dollars === undefined && need === 'optional') return []
      if (typeof dollars === 'number' && dollars >= 0 && dollars <= MAX_PRICE_PER_MILLION) return []
      return [
        `${name} of ${owner} must be a number from 0 to ${MAX_PRICE_PER_MILLION}, got ${String(dollars)}`,
      ]
    }),
  ]
}

/** Returns the problems of the price that a model has itself, one text each. */
export function findModelPriceProblems(model: ChatModel): readonly string[] {
  return model.price === undefined ? [] : findPriceProblems(model.price, describeModel(model))
}

function describeModel({ provider, name }: ChatModel): string {
  return `model "${provider}:${name}"`
}

/**
 * Creates a price list from prices by `provider:name`.
 *
 * @throws {RangeError} naming every price that is missing or not a number from 0 to {@link MAX_PRICE_PER_MILLION}.
 */
export function priceList(prices: Readonly<Record<string, ModelPrice>>): Prices {
  const problems = Object.entries(prices).flatMap(([model, price]) =>
    findPriceProblems(price, `"${model}"`),
  )
  if (problems.length > 0)
    throw new RangeError(`Cannot create a price list: ${problems.join('; ')}`)
  const byModel = new Map(Object.entries(prices))
  return ({ provider, name }) => byModel.get(`${provider}:${name}`)
}

/**
 * Returns the price of a model: that of the run, else the model's own.
 *
 * @throws {TuttiError} CONFIG_INVALID if the price is invalid: prices of a run come from a function of the operator.
 */
export function findPrice(model: ChatModel, prices: Prices | undefined): ModelPrice | undefined {
  const price = prices?.(model) ?? model.price
  if (price === undefined || checked.has(price)) return price
  const problems = findPriceProblems(price, describeModel(model))
  if (problems.length > 0) throw new TuttiError('CONFIG_INVALID', problems.join('; '))
  checked.add(price)
  return price
}

/** Valid prices: a run needs the same few prices for each of its calls. */
const checked = new WeakSet<ModelPrice>()

const MILLION = 1_000_000

/** Returns the cost of one call in US dollars; undefined if a count of tokens or the price is unknown. */
export function computeCost(
  usage: ModelUsage | undefined,
  price: ModelPrice | undefined,
): CostEstimate | undefined {
  if (usage === undefined || price === undefined) return undefined
  const { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteInputTokens = 0 } = usage
  if (inputTokens === -1 || outputTokens === -1) return undefined
  const { inputPerMillion, outputPerMillion } = price
  const { cachedInputPerMillion = inputPerMillion, cacheWriteInputPerMillion = inputPerMillion } =
    price
  const cached = Math.min(cachedInputTokens, inputTokens)
  const written = Math.min(cacheWriteInputTokens, inputTokens - cached)
  const inputCost =
    ((inputTokens - cached - written) * inputPerMillion +
      cached * cachedInputPerMillion +
      written * cacheWriteInputPerMillion) /
    MILLION
  return { inputCost, outputCost: (outputTokens * outputPerMillion) / MILLION }
}
