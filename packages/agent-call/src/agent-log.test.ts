import { describe, expect, it } from 'vitest'

import { AgentLog, type BareReport } from './agent-log.ts'
import { NO_DELTA } from './usage-counter.ts'

import type { AgentReport } from '@tutti/core'

const brought = { latency_ms: 1, chunks_received: 0, total_turns: 1 }
const failed = {
  ...brought,
  error: 'No',
  accumulated_cost_usd: 0,
  partial_output: null,
  retryable: false,
}
const ends: readonly BareReport[] = [
  { type: 'agent_tool_completed', ...brought, output: 1, total_cost: 0 },
  { type: 'agent_tool_terminated', reason: 'timeout', ...failed },
  { type: 'agent_tool_error', failure_type: 'agent_failed', ...failed },
]
const progress: BareReport = {
  type: 'agent_tool_progress',
  chunk_index: 0,
  chunk: 'a',
  accumulated_cost_usd: 0,
}

function logging(retryIndex = 0): { log: AgentLog; told: AgentReport[] } {
  const told: AgentReport[] = []
  return { log: new AgentLog((report) => told.push(report), retryIndex), told }
}

describe('the log of a try', () => {
  it('[A1] says with each event what was used since the one before, once', () => {
    const { log, told } = logging(2)
    log.used({ costUsd: 1, inputTokens: 2, outputTokens: 3 })
    log.used({ costUsd: 1, inputTokens: 0, outputTokens: 0 })
    expect(log.pending).toEqual({ costUsd: 2, inputTokens: 2, outputTokens: 3 })
    log.tell(progress)
    expect(log.pending).toEqual(NO_DELTA)
    log.tell(progress)
    expect(told).toEqual([
      { ...progress, retry_index: 2, cost_usd: 2, input_tokens: 2, output_tokens: 3 },
      { ...progress, retry_index: 2 },
    ])
  })

  it.each(ends)('[A2] ends with $type: nothing is told after it', (end) => {
    const { log, told } = logging()
    log.tell(end)
    log.tell(progress)
    for (const other of ends) log.tell(other)
    expect(told.map(({ type }) => type)).toEqual([end.type])
  })
})
