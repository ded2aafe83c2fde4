/** Prices of model calls. The engine has no price list; the operator provides one. */
import type { ChatModel, ModelPrice, ModelUsage } from './chat-model.ts'
import type { CostEstimate } from '@tutti/protocol'

/** The prices port: returns the price of a model, or undefined if it is unknown. */
export type Prices = (model: Pick<ChatModel, 'provider' | 'name'>) => ModelPrice | undefined

/**
 * Creates a price list from prices by `provider:name`.
 *
 * @throws {RangeError} naming every price that is not a number of at least 0.
 */
export function priceList(prices: Readonly<Record<string, ModelPrice>>): Prices {
  const problems = Object.entries(prices).flatMap(([model, price]) =>
    Object.entries(price)
      .filter(([, dollars]) => !(typeof dollars === 'number' && dollars >= 0 && dollars < Infinity))
      .map(([name, dollars]) => `${name} of "${model}" must be a number >= 0, got ${dollars}`),
  )
  if (problems.length > 0)
    throw new RangeError(`Cannot create a price list: ${problems.join('; ')}`)
  const byModel = new Map(Object.entries(prices))
  return ({ provider, name }) => byModel.get(`${provider}:${name}`)
}

/** Returns the price of a model: that of the run, else the model's own. */
export function findPrice(model: ChatModel, prices: Prices | undefined): ModelPrice | undefined {
  return prices?.(model) ?? model.price
}

const MILLION = 1_000_000

/** Returns the cost of one call in US dollars; undefined if the usage or the price is unknown. */
export function computeCost(
  usage: ModelUsage | undefined,
  price: ModelPrice | undefined,
): CostEstimate | undefined {
  if (usage === undefined || price === undefined) return undefined
  const { inputPerMillion, outputPerMillion, cachedInputPerMillion = inputPerMillion } = price
  const cached = Math.min(usage.cachedInputTokens ?? 0, usage.inputTokens)
  return {
    inputCost:
      ((usage.inputTokens - cached) * inputPerMillion + cached * cachedInputPerMillion) / MILLION,
    outputCost: (usage.outputTokens * outputPerMillion) / MILLION,
  }
}
