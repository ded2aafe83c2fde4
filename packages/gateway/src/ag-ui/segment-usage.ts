/** Tokens of a segment by model and called agent. */
import { readEventUsage, type EventUsage, type LoggedRunEvent } from '@tutti/protocol'

import type { AguiTokenUsage } from './wire.ts'

/** Sums the tokens of each model and each called agent. A sum with an unknown count is unknown. */
export class SegmentUsage {
  readonly #used = new Map<string, Pick<EventUsage, Count>>()

  /** Adds the usage of an event, if it has one. */
  add(event: LoggedRunEvent): void {
    const used = readEventUsage(event)
    if (used === undefined) return
    const { source, inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = used
    const known = this.#used.get(source)
    const cached = sum(known === undefined ? 0 : known.cachedInputTokens, cachedInputTokens)
    const reasoning = sum(known === undefined ? 0 : known.reasoningTokens, reasoningTokens)
    this.#used.set(source, {
      inputTokens: sum(known?.inputTokens ?? 0, inputTokens) ?? -1,
      outputTokens: sum(known?.outputTokens ?? 0, outputTokens) ?? -1,
      ...(cached === undefined ? {} : { cachedInputTokens: cached }),
      ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
    })
  }

  /** Forgets all usage. */
  clear(): void {
    this.#used.clear()
  }

  /** Usage by model and agent, in the order of their first calls. */
  get entries(): readonly AguiTokenUsage[] {
    return [...this.#used].map(([model, counts]) => {
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
