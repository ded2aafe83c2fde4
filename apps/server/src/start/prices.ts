/**
 * What models cost, from the price list of `@pydantic/genai-prices`. Reading it takes some 70 ms and
 * 20 MB, so it is read only by a process that executes runs, and only when a model has no price of its own, as scripts have.
 */
import type { ChatModel, Ensemble, ModelPrice, Prices } from '@tutti/ensemble'

/** Tokens that prices are for. */
const MILLION = 1_000_000

/** The prices for the models of a server. */
export async function pricesFor(
  ensembles: readonly Ensemble[],
  models: Iterable<Pick<ChatModel, 'price'>>,
): Promise<Prices> {
  const used = [...ensembles.flatMap(modelsOf), ...models]
  const hasOwnPrices = used.every(({ price }) => price !== undefined)
  return hasOwnPrices ? () => undefined : listPrices()
}

/** The models that an ensemble names, some perhaps twice. */
export function modelsOf(ensemble: Ensemble): readonly ChatModel[] {
  const { model, managerModel, fallbackModels = [], tasks } = ensemble
  const ofTasks = tasks.flatMap((task) => [task.model, task.agent?.model])
  return [model, managerModel, ...fallbackModels, ...ofTasks].filter((used) => used !== undefined)
}

/** The prices of the list, each looked up once. */
export async function listPrices(): Promise<Prices> {
  const { calcPrice } = await import('@pydantic/genai-prices')
  const known = new Map<string, ModelPrice | undefined>()
  const priceOf = (provider: string, name: string): ModelPrice | undefined => {
    const costOf = (usage: Readonly<Record<string, number>>): number | undefined =>
      calcPrice(usage, name, { providerId: provider })?.total_price
    const thousandth = MILLION / 1_000
    // NOTE: some models cost more for a long prompt. A thousand tokens are at the price that most calls have.
    const inputPerMillion = costOf({ input_tokens: 1_000 })
    const outputPerMillion = costOf({ output_tokens: 1_000 })
    const cached = costOf({ input_tokens: 1_000, cache_read_tokens: 1_000 })
    if (inputPerMillion === undefined || outputPerMillion === undefined) return undefined
    return {
      inputPerMillion: inputPerMillion * thousandth,
      outputPerMillion: outputPerMillion * thousandth,
      ...(cached === undefined ? {} : { cachedInputPerMillion: cached * thousandth }),
    }
  }
  return ({ provider, name }) => {
    const model = `${provider}:${name}`
    if (!known.has(model)) known.set(model, priceOf(provider, name))
    return known.get(model)
  }
}
