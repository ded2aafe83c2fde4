/**
 * Converts the usage that tasks report to the usage since the last report.
 *
 * Totals are of one task, and a conversation has many, so reports are never totals. Parts are ignored once a
 * task has reported a total. Numbers that are not finite or negative are ignored.
 */
import { addAmounts, isJsonObject, readCostUsd, readTokenCount } from '@tutti/protocol/internal'

import type { AgentUsageReport } from '@tutti/agent-call/internal'

/** The usage of the tasks of one conversation. */
export class TaskUsage {
  #costUsd = 0
  #tokens = 0
  #saysTotal = false

  /** Begins a task. */
  begin(): void {
    this.#costUsd = 0
    this.#tokens = 0
    this.#saysTotal = false
  }

  /** Returns the new usage in a value; undefined when there is none. */
  add(value: unknown): AgentUsageReport | undefined {
    if (!isJsonObject(value)) return undefined
    const costUsd = this.#newCost(
      readCostUsd(value['cost_usd']),
      readCostUsd(value['total_cost_usd']),
    )
    const totalTokens = readTokenCount(value['total_tokens']) ?? 0
    const tokens = Math.max(0, totalTokens - this.#tokens)
    this.#costUsd = addAmounts(this.#costUsd, costUsd)
    this.#tokens = addAmounts(this.#tokens, tokens)
    if (costUsd === 0 && tokens === 0) return undefined
    return {
      ...(costUsd === 0 ? {} : { costUsd }),
      // The wire does not distinguish input from output.
      ...(tokens === 0 ? {} : { outputTokens: tokens }),
    }
  }

  #newCost(part: number | undefined, total: number | undefined): number {
    if (total !== undefined) {
      this.#saysTotal = true
      return Math.max(0, total - this.#costUsd)
    }
    return this.#saysTotal ? 0 : (part ?? 0)
  }
}
