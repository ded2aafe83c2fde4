/** Converts the usage reports of an agent to the usage that is new since its last report. */
import { addAmounts, readCostUsd, readTokenCount } from '@tutti/protocol/internal'

import type { AgentUsageReport } from './agent-connector.ts'

/** Usage since the last report. */
export interface UsageDelta {
  readonly costUsd: number
  readonly inputTokens: number
  /** Includes tokens that the agent does not report as input or output. */
  readonly outputTokens: number
}

/** No usage. */
export const NO_DELTA: UsageDelta = { costUsd: 0, inputTokens: 0, outputTokens: 0 }

/** Sums up the reports of one try. Unusable numbers are ignored: see `readTokenCount` and `readCostUsd`. */
export class UsageCounter {
  #costUsd = 0
  #tokens = 0
  #reportsTotalCost = false
  #reportsTotalTokens = false

  /** Cost so far, in US dollars. */
  get costUsd(): number {
    return this.#costUsd
  }

  /** Input and output tokens so far. */
  get tokens(): number {
    return this.#tokens
  }

  /** Adds a report and returns its new usage. Parts are ignored once the agent has reported a total. */
  add(report: AgentUsageReport | undefined): UsageDelta {
    if (report === undefined) return NO_DELTA
    const costUsd = this.#newCost(report)
    const { inputTokens, outputTokens } = this.#newTokens(report)
    this.#costUsd = addAmounts(this.#costUsd, costUsd)
    this.#tokens = addAmounts(this.#tokens, addAmounts(inputTokens, outputTokens))
    return { costUsd, inputTokens, outputTokens }
  }

  #newCost(report: AgentUsageReport): number {
    const total = readCostUsd(report.totalCostUsd)
    if (total !== undefined) {
      this.#reportsTotalCost = true
      return Math.max(0, total - this.#costUsd)
    }
    return this.#reportsTotalCost ? 0 : (readCostUsd(report.costUsd) ?? 0)
  }

  #newTokens(report: AgentUsageReport): Pick<UsageDelta, 'inputTokens' | 'outputTokens'> {
    const total = readTokenCount(report.totalTokens)
    if (total !== undefined) {
      this.#reportsTotalTokens = true
      return { inputTokens: 0, outputTokens: Math.max(0, total - this.#tokens) }
    }
    if (this.#reportsTotalTokens) return NO_DELTA
    return {
      inputTokens: readTokenCount(report.inputTokens) ?? 0,
      outputTokens: readTokenCount(report.outputTokens) ?? 0,
    }
  }
}

/** Returns the sum of both. */
export function addDeltas(one: UsageDelta, other: UsageDelta): UsageDelta {
  return {
    costUsd: addAmounts(one.costUsd, other.costUsd),
    inputTokens: addAmounts(one.inputTokens, other.inputTokens),
    outputTokens: addAmounts(one.outputTokens, other.outputTokens),
  }
}
