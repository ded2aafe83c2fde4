/** Converts the usage reports of an agent to the usage that is new since its last report. */
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

/** Sums up the reports of one try. Numbers that are not finite or negative are ignored. */
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
    this.#costUsd += costUsd
    this.#tokens += inputTokens + outputTokens
    return { costUsd, inputTokens, outputTokens }
  }

  #newCost({ costUsd, totalCostUsd }: AgentUsageReport): number {
    if (isAmount(totalCostUsd)) {
      this.#reportsTotalCost = true
      return Math.max(0, totalCostUsd - this.#costUsd)
    }
    return isAmount(costUsd) && !this.#reportsTotalCost ? costUsd : 0
  }

  #newTokens({
    inputTokens,
    outputTokens,
    totalTokens,
  }: AgentUsageReport): Pick<UsageDelta, 'inputTokens' | 'outputTokens'> {
    if (isAmount(totalTokens)) {
      this.#reportsTotalTokens = true
      return { inputTokens: 0, outputTokens: Math.max(0, Math.round(totalTokens) - this.#tokens) }
    }
    if (this.#reportsTotalTokens) return NO_DELTA
    return { inputTokens: toWholeTokens(inputTokens), outputTokens: toWholeTokens(outputTokens) }
  }
}

/** Returns the sum of both. */
export function addDeltas(one: UsageDelta, other: UsageDelta): UsageDelta {
  return {
    costUsd: one.costUsd + other.costUsd,
    inputTokens: one.inputTokens + other.inputTokens,
    outputTokens: one.outputTokens + other.outputTokens,
  }
}

function isAmount(value: number | undefined): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}

function toWholeTokens(tokens: number | undefined): number {
  return isAmount(tokens) ? Math.round(tokens) : 0
}
