import { describe, expect, it } from 'vitest'

import { addEventUsage, NO_RUN_USAGE } from './run-usage.ts'

import type { RunEvent } from './schemas/run-event.ts'

/** An event with only the fields that are read. */
const event = (fields: object): RunEvent => fields as RunEvent

const turn = (inputTokens: number, outputTokens: number, costUsd?: number): RunEvent =>
  event({
    type: 'llm_iteration_completed',
    inputTokens,
    outputTokens,
    ...(costUsd === undefined ? {} : { costUsd }),
  })

describe('addEventUsage', () => {
  it('addEventUsage adds up model turns and calls of other agents', () => {
    const agent = event({ type: 'agent_tool_completed', cost_usd: 2, input_tokens: 7 })
    const events = [turn(1, 2, 0.5), turn(3, -1, 0.25), agent, event({ type: 'tool_called' })]
    expect(events.reduce(addEventUsage, NO_RUN_USAGE)).toEqual({
      ...NO_RUN_USAGE,
      inputTokens: 11,
      outputTokens: 2,
      tokens: 13,
      knownCostUsd: 2.75,
      hasUnknownCost: false,
    })
  })

  it('[PROTO-U3] The usage of a fork counts only what follows a fork', () => {
    const events = [turn(1, 2), event({ type: 'run_forked' }), turn(3, 4, 0.25)]
    expect(events.reduce(addEventUsage, NO_RUN_USAGE)).toEqual({
      ...NO_RUN_USAGE,
      inputTokens: 3,
      outputTokens: 4,
      tokens: 7,
      knownCostUsd: 0.25,
      hasUnknownCost: false,
    })
  })

  it('addEventUsage marks the cost as unknown after a model without a price was used', () => {
    const events = [turn(1, 1, 0.5), turn(1, 1), turn(1, 1, 0.5)]
    expect(events.reduce(addEventUsage, NO_RUN_USAGE)).toEqual({
      ...NO_RUN_USAGE,
      inputTokens: 3,
      outputTokens: 3,
      tokens: 6,
      knownCostUsd: 1,
      hasUnknownCost: true,
    })
    expect(addEventUsage(NO_RUN_USAGE, turn(0, 0))).toEqual(NO_RUN_USAGE)
  })
})
