import { USAGE_EXTENSION } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { callSurroundings } from './call-surroundings.ts'

const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

describe('callSurroundings', () => {
  it('are nothing for a call that says nothing', () => {
    expect(callSurroundings(undefined)).toEqual({ submit: {} })
    expect(callSurroundings({ progressToken: 1 })).toEqual({ submit: {} })
  })

  it('take the trace, and none that is not as it should be', () => {
    expect(callSurroundings({ traceparent: TRACEPARENT }).submit).toEqual({
      traceparent: TRACEPARENT,
    })
    expect(callSurroundings({ traceparent: '00-1-2-01' }).submit).toEqual({})
    expect(callSurroundings({ traceparent: 7 }).submit).toEqual({})
  })

  it('take limits as the budget of the run, and the time as its deadline', () => {
    const limits = { max_cost_usd: 0.5, max_tokens: 100, deadline_ms: 3_000 }
    expect(callSurroundings({ [USAGE_EXTENSION]: limits })).toEqual({
      submit: { budget: { maxCostUsd: 0.5, maxTokens: 100 }, isAllowance: true },
      deadlineMs: 3_000,
    })
    expect(callSurroundings({ [USAGE_EXTENSION]: { deadline_ms: 1 } })).toEqual({
      submit: {},
      deadlineMs: 1,
    })
  })

  it('refuse limits that are none, naming every one', () => {
    const meta = { [USAGE_EXTENSION]: { max_cost_usd: 0, max_tokens: 'few' } }
    expect(() => callSurroundings(meta)).toThrow(
      expect.objectContaining({
        code: 'BAD_REQUEST',
        message: expect.stringMatching(/_meta.*max_cost_usd[^]*max_tokens/),
      }),
    )
  })
})
