import { describe, expect, it } from 'vitest'

import { addTokens, NO_TOKENS, readTokens, totalTokens } from './tokens.ts'

describe('[ENS-L9] token counts', () => {
  it('add up, inputs and outputs apart', () => {
    expect(
      addTokens([
        { inputTokens: 10, outputTokens: 1 },
        { inputTokens: 20, outputTokens: 2 },
      ]),
    ).toEqual({ inputTokens: 30, outputTokens: 3 })
    expect(addTokens([])).toEqual(NO_TOKENS)
    expect(addTokens([NO_TOKENS])).toEqual({ inputTokens: 0, outputTokens: 0 })
  })

  it('are unknown, -1, as soon as one of them is', () => {
    expect(
      addTokens([
        { inputTokens: 10, outputTokens: -1 },
        { inputTokens: 20, outputTokens: 2 },
      ]),
    ).toEqual({ inputTokens: 30, outputTokens: -1 })
  })

  it('of a call are what its provider says, or unknown', () => {
    expect(readTokens({ inputTokens: 5, outputTokens: 6 })).toEqual({
      inputTokens: 5,
      outputTokens: 6,
    })
    expect(readTokens(undefined)).toEqual({ inputTokens: -1, outputTokens: -1 })
  })

  it('in total are read and written together, unknown when either is', () => {
    expect(totalTokens({ inputTokens: 5, outputTokens: 6 })).toBe(11)
    expect(totalTokens({ inputTokens: -1, outputTokens: 6 })).toBe(-1)
    expect(totalTokens({ inputTokens: 5, outputTokens: -1 })).toBe(-1)
    expect(totalTokens(NO_TOKENS)).toBe(0)
  })
})
