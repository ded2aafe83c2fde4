import { describe, expect, it } from 'vitest'

import { createLimiter } from '../limiter.ts'
import { assertToolSettings, settleTool, TOOL_SETTING_NAMES } from './tool-settings.ts'

const LEAST = { name: 'a', description: 'A' }

describe('settleTool', () => {
  it('settleTool applies the defaults', () => {
    expect(settleTool(LEAST)).toEqual({
      ...LEAST,
      timeoutMs: 30_000,
      idempotent: true,
      requireApproval: false,
    })
  })

  it('settleTool keeps the given settings', () => {
    const limiter = createLimiter({ maxConcurrent: 2 })
    const said = { ...LEAST, timeoutMs: 5, idempotent: false, limiter }
    expect(settleTool({ ...said, requireApproval: true })).toEqual({
      ...said,
      requireApproval: true,
    })
    expect(settleTool({ ...LEAST, requireApproval: { timeoutMs: 5 } }).requireApproval).toBe(true)
  })

  it('settleTool creates a limiter from maxConcurrentCalls', () => {
    expect(settleTool({ ...LEAST, maxConcurrentCalls: 3 }).limiter?.maxConcurrent).toBe(3)
  })
})

describe('assertToolSettings', () => {
  it('assertToolSettings names every problem at once', () => {
    const limiter = createLimiter({ maxConcurrent: 2 })
    expect(() =>
      assertToolSettings(
        {
          name: 'two words',
          description: ' ',
          timeoutMs: 0,
          graceMs: 0,
          maxConcurrentCalls: 1.5,
          limiter,
        },
        TOOL_SETTING_NAMES,
      ),
    ).toThrow(
      new TypeError(
        'Cannot define tool "two words": name must be 1 to 64 letters, digits, "_" or "-"; ' +
          'description must not be blank; timeoutMs must be > 0, got 0; graceMs must be > 0, got 0; ' +
          'maxConcurrentCalls must be an integer >= 1, got 1.5; ' +
          'maxConcurrentCalls and limiter cannot be used together',
      ),
    )
  })
})
