/** Tokens of a segment per model. */
import type { AguiTokenUsage } from './wire.ts'
import type { LoggedRunEvent, RunEventOf } from '@tutti/protocol'

/** Sums the tokens of model calls. A sum with an unknown count is unknown. */
export class SegmentUsage {
  readonly #calls = new Map<string, Pick<RunEventOf<'llm_iteration_completed'>, Count>>()

  /** Adds the usage of an event, if it has one. */
  add(event: LoggedRunEvent): void {
    if (event.type !== 'llm_iteration_completed') return
    const { model, inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = event
    const known = this.#calls.get(model)
    const cached = sum(known === undefined ? 0 : known.cachedInputTokens, cachedInputTokens)
    const reasoning = sum(known === undefined ? 0 : known.reasoningTokens, reasoningTokens)
    this.#calls.set(model, {
      inputTokens: sum(known?.inputTokens ?? 0, inputTokens) ?? -1,
      outputTokens: sum(known?.outputTokens ?? 0, outputTokens) ?? -1,
      ...(cached === undefined ? {} : { cachedInputTokens: cached }),
      ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
    })
  }

  /** Forgets all calls. */
  clear(): void {
    this.#calls.clear()
  }

  /** Usage per model, in the order of the first calls. */
  get entries(): readonly AguiTokenUsage[] {
    return [...this.#calls].map(([model, counts]) => {
      const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = counts
      const totalTokens = sum(inputTokens, outputTokens)
      return {
        model,
        ...(inputTokens < 0 ? {} : { inputTokens }),
        ...(outputTokens < 0 ? {} : { outputTokens }),
        ...(totalTokens === undefined ? {} : { totalTokens }),
        ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
        ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
      }
    })
  }
}

type Count = 'inputTokens' | 'outputTokens' | 'cachedInputTokens' | 'reasoningTokens'

/** Adds two counts; undefined if one is unknown, which is absent or negative. */
function sum(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined || one < 0 || other < 0 ? undefined : one + other
}
