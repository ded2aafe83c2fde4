import { describe, expect, it } from 'vitest'

import { addTokens, NO_TOKENS, readTokens, totalTokens } from './tokens.ts'

describe('[ENS-L9] token counts', () => {
  it('are summed separately for input and output', () => {
    expect(
      addTokens([
        { inputTokens: 10, outputTokens: 1 },
        { inputTokens: 20, outputTokens: 2 },
      ]),
    ).toEqual({ inputTokens: 30, outputTokens: 3 })
    expect(addTokens([])).toEqual(NO_TOKENS)
    expect(addTokens([NO_TOKENS])).toEqual({ inputTokens: 0, outputTokens: 0 })
  })

  it('are -1 if any of them is', () => {
    expect(
      addTokens([
        { inputTokens: 10, outputTokens: -1 },
        { inputTokens: 20, outputTokens: 2 },
      ]),
    ).toEqual({ inputTokens: 30, outputTokens: -1 })
  })

  it('of a call are those of its provider, or unknown', () => {
    expect(readTokens({ inputTokens: 5, outputTokens: 6 })).toEqual({
      inputTokens: 5,
      outputTokens: 6,
    })
    expect(readTokens(undefined)).toEqual({ inputTokens: -1, outputTokens: -1 })
  })

  it('have a total of input and output, unknown if either is', () => {
    expect(totalTokens({ inputTokens: 5, outputTokens: 6 })).toBe(11)
    expect(totalTokens({ inputTokens: -1, outputTokens: 6 })).toBe(-1)
    expect(totalTokens({ inputTokens: 5, outputTokens: -1 })).toBe(-1)
    expect(totalTokens(NO_TOKENS)).toBe(0)
  })
})
