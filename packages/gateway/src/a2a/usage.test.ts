import { USAGE_EXTENSION } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { NO_USAGE, usageAfter, usageLimits, usageMetadata } from './usage.ts'

import type { LoggedRunEvent } from '@tutti/protocol'

/** An event of which only these fields are looked at. */
const event = (fields: object): LoggedRunEvent => fields as LoggedRunEvent

const turn = (inputTokens: number, outputTokens: number, costUsd?: number): LoggedRunEvent =>
  event({
    type: 'llm_iteration_completed',
    inputTokens,
    outputTokens,
    ...(costUsd === undefined ? {} : { costUsd }),
  })

describe('usage', () => {
  it('is the sum over model turns and over agents that were asked', () => {
    const agent = event({ type: 'agent_tool_completed', cost_usd: 2, input_tokens: 7 })
    const events = [turn(1, 2, 0.5), turn(3, -1, 0.25), agent, event({ type: 'tool_called' })]
    expect(events.reduce(usageAfter, NO_USAGE)).toEqual({ tokens: 13, costUsd: 2.75 })
  })

  it('has no cost any more once something was used that has no price', () => {
    const events = [turn(1, 1, 0.5), turn(1, 1), turn(1, 1, 0.5)]
    expect(events.reduce(usageAfter, NO_USAGE)).toEqual({ tokens: 6, costUsd: undefined })
    expect(usageAfter(NO_USAGE, turn(0, 0)).costUsd).toBe(0)
  })

  it('is told in all, and since the last time where there was one', () => {
    const [before, now] = [
      { tokens: 1, costUsd: 1 },
      { tokens: 5, costUsd: 3 },
    ]
    const told = { total_tokens: 5, total_cost_usd: 3 }
    expect(usageMetadata(now)).toEqual({ [USAGE_EXTENSION]: told })
    expect(usageMetadata(now, before)).toEqual({ [USAGE_EXTENSION]: { ...told, cost_usd: 2 } })
    expect(usageMetadata({ tokens: 5, costUsd: undefined }, before)).toEqual({
      [USAGE_EXTENSION]: { total_tokens: 5 },
    })
  })
})

describe('usageLimits', () => {
  it('are undefined where nothing is said of usage', () => {
    expect(usageLimits(undefined)).toBeUndefined()
    expect(usageLimits({ other: 1 })).toBeUndefined()
  })

  it('are those that are given', () => {
    const limits = { max_cost_usd: 0.5, max_tokens: 5, deadline_ms: 1.5, more: 'x' }
    expect(usageLimits({ [USAGE_EXTENSION]: limits })).toEqual({
      maxCostUsd: 0.5,
      maxTokens: 5,
      deadlineMs: 1.5,
    })
  })

  it('are refused with every problem', () => {
    const limits = { max_cost_usd: '1', deadline_ms: 0 }
    expect(() => usageLimits({ [USAGE_EXTENSION]: limits })).toThrow(
      /max_cost_usd must be a number.*deadline_ms must be/,
    )
  })
})
