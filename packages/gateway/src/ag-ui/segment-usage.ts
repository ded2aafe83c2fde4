/** Tokens of a segment by model and called agent. */
import type { LoggedRunEvent } from '@tutti/protocol'
import { addUsageSums, readEventUsage, totalTokens, type UsageSum } from '@tutti/protocol/internal'

import type { AguiTokenUsage } from './wire.ts'

/** Sums the tokens of each model and each called agent. */
export class SegmentUsage {
  readonly #used = new Map<string, UsageSum>()

  /** Adds the usage of an event, if it has one. A fork does not count what it copied. */
  add(event: LoggedRunEvent): void {
    if (event.type === 'run_forked') this.clear()
    const used = readEventUsage(event)
    if (used === undefined) return
    const known = this.#used.get(used.source)
    this.#used.set(used.source, addUsageSums(known === undefined ? [used] : [known, used]))
  }

  /** Forgets all usage. */
  clear(): void {
    this.#used.clear()
  }

  /** Usage by model and agent, in the order of their first calls. Unknown counts are absent. */
  get entries(): readonly AguiTokenUsage[] {
    return [...this.#used].map(([model, used]) => {
      const { inputTokens, outputTokens, cachedInputTokens, reasoningTokens } = used
      const total = totalTokens(used)
      return {
        model,
        ...(inputTokens < 0 ? {} : { inputTokens }),
        ...(outputTokens < 0 ? {} : { outputTokens }),
        ...(total < 0 ? {} : { totalTokens: total }),
        ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
        ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
      }
    })
  }
}
