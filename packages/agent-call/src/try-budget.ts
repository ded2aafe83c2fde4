/**
 * Counts what one try uses, against the limits of its call and those above it.
 *
 * Y2 Cost and tokens are checked with every report, the last one too. More than the limit is a breach; what is
 *    left above the call is used up when nothing is left.
 */
import { Termination } from './termination.ts'
import { UsageCounter } from './usage-counter.ts'

import type { Remaining } from '@tutti/core'
import type { AgentUsageReport } from './agent-connector.ts'
import type { AgentLog } from './agent-log.ts'
import type { AgentLimits } from './define-agent-tool.ts'

/** What all tries of a call have used. */
export interface Spent {
  costUsd: number
  tokens: number
}

/** What a budget is made with. */
export interface TryBudgetOptions {
  readonly limits: Required<Pick<AgentLimits, 'maxCostUsd' | 'maxTokens'>>
  readonly spent: Spent
  readonly log: AgentLog
  /** What is left above the call, of which what the log has told is taken already. */
  readonly above: () => Remaining
}

/** The budget of one try. */
export class TryBudget {
  readonly #options: TryBudgetOptions
  readonly #usage = new UsageCounter()

  constructor(options: TryBudgetOptions) {
    this.#options = options
  }

  /** What the try has cost, in US dollars. */
  get costUsd(): number {
    return this.#usage.costUsd
  }

  /** Counts a report. */
  count(report: AgentUsageReport | undefined): void {
    const delta = this.#usage.add(report)
    const { log, spent } = this.#options
    log.used(delta)
    spent.costUsd += delta.costUsd
    spent.tokens += delta.inputTokens + delta.outputTokens
  }

  /** What is left of the limits of the call, and of those above it. */
  remaining(): Pick<Remaining, 'costUsd' | 'tokens'> {
    const { spent, limits } = this.#options
    const above = this.#leftAbove()
    return {
      costUsd: Math.max(0, Math.min(above.costUsd, limits.maxCostUsd - spent.costUsd)),
      tokens: Math.max(0, Math.min(above.tokens, limits.maxTokens - spent.tokens)),
    }
  }

  /** @throws {Termination} when a limit is breached. */
  assertKept(): void {
    const message = this.#breach()
    if (message !== undefined) throw new Termination('budget_exceeded', message)
  }

  #breach(): string | undefined {
    const { spent, limits } = this.#options
    const { costUsd, tokens } = spent
    if (costUsd > limits.maxCostUsd) {
      return `it has cost ${costUsd} USD, more than the ${limits.maxCostUsd} it may`
    }
    if (tokens > limits.maxTokens) {
      return `it has used ${tokens} tokens, more than the ${limits.maxTokens} it may`
    }
    const above = this.#leftAbove()
    if (above.costUsd <= 0) return `with ${costUsd} USD it has used up the budget above it`
    if (above.tokens <= 0) return `with ${tokens} tokens it has used up the budget above it`
    return undefined
  }

  /** What is left above the call, less what it has used and not told yet. */
  #leftAbove(): Pick<Remaining, 'costUsd' | 'tokens'> {
    const { log, above } = this.#options
    const { costUsd, tokens } = above()
    const { pending } = log
    return {
      costUsd: costUsd - pending.costUsd,
      tokens: tokens - pending.inputTokens - pending.outputTokens,
    }
  }
}
