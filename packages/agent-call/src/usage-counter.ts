/** What an agent says it has used, as what is new since it last said it. */
import type { AgentUsageReport } from './agent-connector.ts'

/** What is new. */
export interface UsageDelta {
  readonly costUsd: number
  readonly inputTokens: number
  /** Tokens that an agent does not tell apart are among these. */
  readonly outputTokens: number
}

/** Nothing. */
export const NO_DELTA: UsageDelta = { costUsd: 0, inputTokens: 0, outputTokens: 0 }

/** Adds up the reports of one try. Numbers that are not finite, or less than 0, are ignored. */
export class UsageCounter {
  #costUsd = 0
  #tokens = 0
  #saysTotalCost = false
  #saysTotalTokens = false

  /** Cost so far, in US dollars. */
  get costUsd(): number {
    return this.#costUsd
  }

  /** Tokens so far, read and written together. */
  get tokens(): number {
    return this.#tokens
  }

  /** Takes a report; gives what is new in it. Who has said a total is not asked for parts any more. */
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
      this.#saysTotalCost = true
      return Math.max(0, totalCostUsd - this.#costUsd)
    }
    return isAmount(costUsd) && !this.#saysTotalCost ? costUsd : 0
  }

  #newTokens({
    inputTokens,
    outputTokens,
    totalTokens,
  }: AgentUsageReport): Pick<UsageDelta, 'inputTokens' | 'outputTokens'> {
    if (isAmount(totalTokens)) {
      this.#saysTotalTokens = true
      return { inputTokens: 0, outputTokens: Math.max(0, Math.round(totalTokens) - this.#tokens) }
    }
    if (this.#saysTotalTokens) return NO_DELTA
    return { inputTokens: whole(inputTokens), outputTokens: whole(outputTokens) }
  }
}

/** Both together. */
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

function whole(tokens: number | undefined): number {
  return isAmount(tokens) ? Math.round(tokens) : 0
}
