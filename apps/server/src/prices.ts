/**
 * Prices of models, from the list of `@pydantic/genai-prices`. Loading it takes some 70 ms and 20 MB, so a process loads
 * it only if it executes runs and one of its models defines no price, as scripted models do.
 */
import type { Ensemble, Prices } from '@tutti/ensemble'
import type { ChatModel } from '@tutti/ensemble/adapter'
import type { ModelPrice } from '@tutti/ensemble/internal'

/** Number of tokens that a price is for. */
const MILLION = 1_000_000

/** Returns the prices for the models of a server. If all of them define a price, the list is not loaded. */
export async function pricesFor(
  ensembles: readonly Ensemble[],
  models: Iterable<Pick<ChatModel, 'price'>>,
): Promise<Prices> {
  const used = [...ensembles.flatMap(listModels), ...models]
  const hasOwnPrices = used.every(({ price }) => price !== undefined)
  return hasOwnPrices ? () => undefined : listPrices()
}

/** Lists the models that an ensemble uses, possibly with duplicates. */
export function listModels(ensemble: Ensemble): readonly ChatModel[] {
  const { model, managerModel, fallbackModels = [], tasks } = ensemble
  const ofTasks = tasks.flatMap((task) => [task.model, task.agent?.model])
  return [model, managerModel, ...fallbackModels, ...ofTasks].filter((used) => used !== undefined)
}

/** Returns the prices of the list, and looks each of them up once. */
export async function listPrices(): Promise<Prices> {
  const { calcPrice } = await import('@pydantic/genai-prices')
  const known = new Map<string, ModelPrice | undefined>()
  const priceOf = (provider: string, name: string): ModelPrice | undefined => {
    const costOf = (usage: Readonly<Record<string, number>>): number | undefined =>
      calcPrice(usage, name, { providerId: provider })?.total_price
    const thousandth = MILLION / 1_000
    // NOTE: some models cost more for long prompts. The price of a thousand tokens applies to most calls.
    const inputPerMillion = costOf({ input_tokens: 1_000 })
    const outputPerMillion = costOf({ output_tokens: 1_000 })
    const cached = costOf({ input_tokens: 1_000, cache_read_tokens: 1_000 })
    const written = costOf({ input_tokens: 1_000, cache_write_tokens: 1_000 })
    if (inputPerMillion === undefined || outputPerMillion === undefined) return undefined
    return {
      inputPerMillion: inputPerMillion * thousandth,
      outputPerMillion: outputPerMillion * thousandth,
      ...(cached === undefined ? {} : { cachedInputPerMillion: cached * thousandth }),
      ...(written === undefined ? {} : { cacheWriteInputPerMillion: written * thousandth }),
    }
  }
  return ({ provider, name }) => {
    const model = `${provider}:${name}`
    if (!known.has(model)) known.set(model, priceOf(provider, name))
    return known.get(model)
  }
}
