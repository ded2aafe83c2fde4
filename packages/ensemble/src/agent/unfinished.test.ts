import { describe, expect, it } from 'vitest'

import { findOnUnfinishedProblems, resolveOnUnfinished } from '../definition/on-unfinished.ts'
import {
  decideRecovery,
  unfinishedError,
  findUnfinishedReason,
  type Unfinished,
} from './unfinished.ts'

const call = { id: 'call-1', name: 'search', arguments: '{"query": "ja' }

function cut(changes: Partial<Unfinished> = {}): Unfinished {
  return {
    reason: 'length',
    reply: { text: 'Once upon', toolCalls: [] },
    options: resolveOnUnfinished([]),
    structured: false,
    extraCalls: 0,
    maxOutputTokens: undefined,
    ...changes,
  }
}

describe('the options for unfinished answers', () => {
  it('The options for unfinished answers take each value from the first source that has it', () => {
    expect(
      resolveOnUnfinished([
        { refusal: 'fail' },
        undefined,
        { refusal: 'fallback', length: 'retry' },
      ]),
    ).toEqual({ length: 'retry', maxExtraCalls: 3, refusal: 'fail', contentFilter: 'fallback' })
  })

  it('The options for unfinished answers are checked by name and value', () => {
    const wrong: object = { length: 'more', maxExtraCalls: 0, refused: 'fail' }
    expect(findOnUnfinishedProblems({ ...wrong })).toEqual([
      'unknown option "refused" of onUnfinished (did you mean "refusal"?)',
      'onUnfinished.length must be one of "continue", "retry", "accept", "fail", got "more"',
      'onUnfinished.maxExtraCalls must be an integer >= 1, got 0',
    ])
    expect(findOnUnfinishedProblems({ contentFilter: 'fail' })).toEqual([])
  })
})

describe('findUnfinishedReason', () => {
  it.each(['length', 'refusal', 'content_filter'] as const)(
    'findUnfinishedReason returns %s as unfinished',
    (finishReason) => {
      expect(findUnfinishedReason({ finishReason })).toBe(finishReason)
    },
  )

  it.each(['stop', 'tool_calls', 'unknown', undefined] as const)(
    'findUnfinishedReason returns undefined for %s',
    (reason) => {
      expect(
        findUnfinishedReason(reason === undefined ? {} : { finishReason: reason }),
      ).toBeUndefined()
    },
  )
})

describe('decideRecovery after a cut answer', () => {
  it('decideRecovery continues a text that was cut', () => {
    expect(decideRecovery(cut())).toEqual({ kind: 'continue' })
  })

  it('decideRecovery retries a tool call, structured output and an answer without text', () => {
    const usage = { inputTokens: 9, outputTokens: 4_000 }
    const retry = { kind: 'retry', maxOutputTokens: 8_000 }
    expect(decideRecovery(cut({ reply: { text: '', toolCalls: [call], usage } }))).toEqual(retry)
    expect(
      decideRecovery(cut({ structured: true, reply: { text: '{"a', toolCalls: [], usage } })),
    ).toEqual(retry)
    expect(decideRecovery(cut({ reply: { text: ' \n', toolCalls: [], usage } }))).toEqual(retry)
  })

  it('decideRecovery doubles the limit of the last call, to at least 2048 tokens', () => {
    const reply = { text: '', toolCalls: [call] }
    expect(decideRecovery(cut({ reply }))).toEqual({ kind: 'retry', maxOutputTokens: 2_048 })
    expect(decideRecovery(cut({ reply, maxOutputTokens: 5_000 }))).toEqual({
      kind: 'retry',
      maxOutputTokens: 10_000,
    })
  })

  it('decideRecovery fails after the allowed number of extra calls, and at once with the option fail', () => {
    expect(decideRecovery(cut({ extraCalls: 3 }))).toEqual({ kind: 'fail' })
    expect(decideRecovery(cut({ options: resolveOnUnfinished([{ length: 'fail' }]) }))).toEqual({
      kind: 'fail',
    })
  })

  it('decideRecovery accepts a text with the option accept, but never a cut tool call', () => {
    const options = resolveOnUnfinished([{ length: 'accept' }])
    expect(decideRecovery(cut({ options, extraCalls: 3 }))).toEqual({ kind: 'accept' })
    expect(decideRecovery(cut({ options, reply: { text: '', toolCalls: [call] } }))).toMatchObject({
      kind: 'retry',
    })
  })
})

describe('unfinishedError', () => {
  it('unfinishedError has the text so far, and the explanation and the finish reason of the provider', () => {
    const reply = {
      text: 'Once',
      toolCalls: [],
      refusal: 'Not this one.',
      providerFinishReason: 'SAFETY',
    }
    const error = unfinishedError(
      { reason: 'content_filter', reply, extraCalls: 0 },
      { model: 'sonnet', text: 'Once' },
    )
    expect(error).toMatchObject({
      code: 'CONTENT_FILTERED',
      retryable: false,
      message: 'A content filter of sonnet blocked the answer (SAFETY): "Not this one."',
      details: {
        finishReason: 'content_filter',
        providerFinishReason: 'SAFETY',
        model: 'sonnet',
        text: 'Once',
        refusal: 'Not this one.',
      },
    })
  })

  it('unfinishedError says whether a tool call or an answer was cut, and after how many extra calls', () => {
    const describe = (toolCalls: readonly (typeof call)[], extraCalls: number): string =>
      unfinishedError(
        { reason: 'length', reply: { text: '', toolCalls }, extraCalls },
        { model: 'sonnet', text: '' },
      ).message
    expect(describe([call], 3)).toBe(
      'The tool call of sonnet was cut at its output limit, after 3 extra calls',
    )
    expect(describe([], 0)).toBe('The answer of sonnet was cut at its output limit')
  })
})
