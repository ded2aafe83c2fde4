/**
 * What tasks say they used, as what is new in it.
 *
 * Totals are of one task, and a conversation is many: so what is told on is never a total. Who has said one is
 * not asked for the parts any more. Numbers that are not finite, or less than 0, are ignored.
 */

import { isJsonObject } from '@tutti/protocol'

import type { AgentUsageReport } from '@tutti/agent-call'

/** Adds up what the tasks of one conversation say. */
export class TaskUsage {
  #costUsd = 0
  #tokens = 0
  #saysTotal = false

  /** A task begins. */
  begin(): void {
    this.#costUsd = 0
    this.#tokens = 0
    this.#saysTotal = false
  }

  /** What is new in a value; undefined when nothing is. */
  add(value: unknown): AgentUsageReport | undefined {
    if (!isJsonObject(value)) return undefined
    const costUsd = this.#newCost(amountOf(value['cost_usd']), amountOf(value['total_cost_usd']))
    const totalTokens = amountOf(value['total_tokens']) ?? 0
    const tokens = Math.max(0, totalTokens - this.#tokens)
    this.#costUsd += costUsd
    this.#tokens += tokens
    if (costUsd === 0 && tokens === 0) return undefined
    return {
      ...(costUsd === 0 ? {} : { costUsd }),
      // The wire does not tell those read from those written.
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

function amountOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
}
