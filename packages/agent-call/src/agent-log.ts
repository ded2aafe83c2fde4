/**
 * Tells of one try of a call to an agent.
 *
 * A1 Each event carries what was used since the one before.
 * A2 There is exactly one event of its end: whatever is told after it is not told on.
 */
import { addDeltas, NO_DELTA, type UsageDelta } from './usage-counter.ts'

import type { AgentReport } from '@tutti/core'

/** What events of all kinds say, which is added here. */
type Added = 'retry_index' | 'cost_usd' | 'input_tokens' | 'output_tokens'

type Bare<E> = E extends AgentReport ? Omit<E, Added> : never

/** An event without what is added to all. */
export type BareReport = Bare<AgentReport>

const ENDS: readonly AgentReport['type'][] = [
  'agent_tool_completed',
  'agent_tool_terminated',
  'agent_tool_error',
]

/** The events of one try. */
export class AgentLog {
  readonly #report: (report: AgentReport) => void
  readonly #retryIndex: number
  #pending: UsageDelta = NO_DELTA
  #ended = false

  constructor(report: (report: AgentReport) => void, retryIndex: number) {
    this.#report = report
    this.#retryIndex = retryIndex
  }

  /** What was used and not told yet. */
  get pending(): UsageDelta {
    return this.#pending
  }

  /** Keeps what was used for the next event. */
  used(delta: UsageDelta): void {
    this.#pending = addDeltas(this.#pending, delta)
  }

  /** Tells of something. */
  tell(event: BareReport): void {
    if (this.#ended) return
    this.#ended = ENDS.includes(event.type)
    const { costUsd, inputTokens, outputTokens } = this.#pending
    this.#pending = NO_DELTA
    const report = {
      ...event,
      retry_index: this.#retryIndex,
      ...(costUsd === 0 ? {} : { cost_usd: costUsd }),
      ...(inputTokens === 0 ? {} : { input_tokens: inputTokens }),
      ...(outputTokens === 0 ? {} : { output_tokens: outputTokens }),
    }
    this.#report(report)
  }
}
