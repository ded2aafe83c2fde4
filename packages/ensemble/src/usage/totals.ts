/** The totals of one attempt at a task. */
import {
  addReported,
  addTokens,
  type CostEstimate,
  type TokenTotals,
} from '@tutti/protocol/internal'

import { readTokens } from './tokens.ts'
import { addCostEstimates, sumCostUsd, type Usage } from './usage.ts'

import type { AgentUse } from './budget.ts'
import type { ModelUsage } from '../model/chat-model.ts'

/** An answered model call. */
export interface CountedModelCall {
  readonly usage: ModelUsage | undefined
  readonly cost: CostEstimate | undefined
  readonly latencyMs: number
}

/** Counts the usage of an attempt; readable at any time. */
export class Totals {
  iterations = 0
  llmLatencyMs = 0
  toolExecutionTimeMs = 0
  toolCallCount = 0
  #tokens: TokenTotals = { inputTokens: 0, outputTokens: 0 }
  #cost: CostEstimate | undefined = { inputCost: 0, outputCost: 0 }
  #cachedInputTokens: number | undefined
  #reasoningTokens: number | undefined

  /** Token counts so far. */
  get tokens(): TokenTotals {
    return this.#tokens
  }

  /** Number of input tokens that were read from a provider's cache; undefined if no provider reported it. */
  get cachedInputTokens(): number | undefined {
    return this.#cachedInputTokens
  }

  /** Number of output tokens that models used to reason; undefined if no provider reported it. */
  get reasoningTokens(): number | undefined {
    return this.#reasoningTokens
  }

  /** Counts a model call. */
  addModelCall({ usage, cost, latencyMs }: CountedModelCall): void {
    this.iterations += 1
    this.llmLatencyMs += latencyMs
    this.#tokens = addTokens([this.#tokens, readTokens(usage)])
    this.#cost = addCostEstimates([this.#cost, cost])
    this.#cachedInputTokens = addReported([this.#cachedInputTokens, usage?.cachedInputTokens])
    this.#reasoningTokens = addReported([this.#reasoningTokens, usage?.reasoningTokens])
  }

  /** Counts a tool call. */
  addToolCall(durationMs: number): void {
    this.toolCallCount += 1
    this.toolExecutionTimeMs += durationMs
  }

  /** Counts usage that an agent tool reported. */
  addAgent({ inputTokens, outputTokens, costUsd: cost }: AgentUse): void {
    this.#tokens = addTokens([this.#tokens, { inputTokens, outputTokens }])
    this.#cost = addCostEstimates([this.#cost, { inputCost: 0, outputCost: cost }])
  }

  /** Returns the usage in the form of results. */
  usage(): Usage {
    const { inputTokens, outputTokens } = this.#tokens
    const { toolCallCount, cachedInputTokens, reasoningTokens } = this
    const cost = this.#cost
    let usage: Usage = { inputTokens, outputTokens, toolCallCount }
    if (cost !== undefined) usage = { ...usage, cost }
    if (cachedInputTokens !== undefined) usage = { ...usage, cachedInputTokens }
    if (reasoningTokens !== undefined) usage = { ...usage, reasoningTokens }
    return usage
  }

  /** Returns the cost as text, as in `metrics_snapshot`; undefined if it is unknown. */
  costText(): string | undefined {
    return this.#cost === undefined ? undefined : sumCostUsd(this.#cost).toFixed(6)
  }
}
