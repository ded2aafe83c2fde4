/**
 * Reports one try of a call to an agent, and counts its usage against the limits of the call and those above it.
 *
 * CALL-A1 Each event carries the usage since the event before it.
 * CALL-A2 There is exactly one final event; events after it are dropped.
 * CALL-Y2 Cost and tokens are checked with every report, including the last one. More than the limit is a breach; a
 *    budget above the call is exhausted when none of it remains.
 */
import { addAmounts } from '@tutti/protocol/internal'

import { Termination } from './agent-error.ts'
import { addDeltas, NO_DELTA, UsageCounter, type UsageDelta } from './usage-counter.ts'

import type { AgentReport, Remaining } from '@tutti/core/internal'
import type { AgentUsageReport } from './agent-connector.ts'
import type { AgentLimits } from './agent-tool-settings.ts'

/** Usage of all tries of a call together. */
export interface Spent {
  costUsd: number
  tokens: number
}

/** Parts of a {@link TryUsage}. */
export interface TryUsageOptions {
  readonly limits: Required<Pick<AgentLimits, 'maxCostUsd' | 'maxTokens'>>
  readonly spent: Spent
  readonly retryIndex: number
  /** Returns the remaining limits above the call; reported usage is already deducted. */
  readonly above: () => Remaining
  readonly report: (report: AgentReport) => void
}

/** Fields that every event has, which are added here. */
type Added = 'retry_index' | 'cost_usd' | 'input_tokens' | 'output_tokens'

type Bare<E> = E extends AgentReport ? Omit<E, Added> : never

/** An event without the fields that every event has. */
export type BareReport = Bare<AgentReport>

const FINAL: readonly AgentReport['type'][] = [
  'agent_tool_completed',
  'agent_tool_terminated',
  'agent_tool_error',
]

/** Usage and events of one try. */
export class TryUsage {
  readonly #options: TryUsageOptions
  readonly #usage = new UsageCounter()
  /** Usage that no event has carried yet. */
  #pending: UsageDelta = NO_DELTA
  #ended = false

  constructor(options: TryUsageOptions) {
    this.#options = options
  }

  /** Cost of the try so far, in US dollars. */
  get costUsd(): number {
    return this.#usage.costUsd
  }

  /** Adds reported usage, which the next event carries. */
  count(report: AgentUsageReport | undefined): void {
    const delta = this.#usage.add(report)
    const { spent } = this.#options
    this.#pending = addDeltas(this.#pending, delta)
    spent.costUsd = addAmounts(spent.costUsd, delta.costUsd)
    spent.tokens = addAmounts(spent.tokens, addAmounts(delta.inputTokens, delta.outputTokens))
  }

  /** Emits an event. */
  report(event: BareReport): void {
    if (this.#ended) return
    this.#ended = FINAL.includes(event.type)
    const { costUsd, inputTokens, outputTokens } = this.#pending
    const { report, retryIndex } = this.#options
    this.#pending = NO_DELTA
    report({
      ...event,
      retry_index: retryIndex,
      ...(costUsd === 0 ? {} : { cost_usd: costUsd }),
      ...(inputTokens === 0 ? {} : { input_tokens: inputTokens }),
      ...(outputTokens === 0 ? {} : { output_tokens: outputTokens }),
    })
  }

  /** Returns the remaining limits of the call and of those above it. */
  remaining(): Pick<Remaining, 'costUsd' | 'tokens'> {
    const { spent, limits } = this.#options
    const above = this.#leftAbove()
    return {
      costUsd: Math.max(0, Math.min(above.costUsd, limits.maxCostUsd - spent.costUsd)),
      tokens: Math.max(0, Math.min(above.tokens, limits.maxTokens - spent.tokens)),
    }
  }

  /** @throws {Termination} when a limit is breached. */
  assertWithinLimits(): void {
    const message = this.#breach()
    if (message !== undefined) throw new Termination('budget_exceeded', message)
  }

  #breach(): string | undefined {
    const { spent, limits } = this.#options
    const { costUsd, tokens } = spent
    if (costUsd > limits.maxCostUsd) {
      return `its cost of ${costUsd} USD exceeds the limit of ${limits.maxCostUsd}`
    }
    if (tokens > limits.maxTokens) {
      return `its ${tokens} tokens exceed the limit of ${limits.maxTokens}`
    }
    const above = this.#leftAbove()
    if (above.costUsd <= 0) return `its cost of ${costUsd} USD exhausted the budget above it`
    if (above.tokens <= 0) return `its ${tokens} tokens exhausted the budget above it`
    return undefined
  }

  /** Returns the remaining limits above the call, less the pending usage. */
  #leftAbove(): Pick<Remaining, 'costUsd' | 'tokens'> {
    const { costUsd, tokens } = this.#options.above()
    return {
      costUsd: costUsd - this.#pending.costUsd,
      tokens: tokens - this.#pending.inputTokens - this.#pending.outputTokens,
    }
  }
}
