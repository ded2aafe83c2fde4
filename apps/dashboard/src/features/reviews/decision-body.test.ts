import { decode, ReviewDecisionBody } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { decisionOf, isWorthKeeping, jsonProblem, mustBeJson, originalOf } from './decision-body.ts'
import { asksForText, reviewOfGate, type ReviewLike } from './review-like.ts'
import { actionWords, endWords, reviewTitle, subjectOf, timeoutWords } from './review-words.ts'

import type { Draft } from './drafts.ts'

const DRAFT: Draft = { mode: undefined, text: undefined, feedback: '', isJson: false }

function review(change: Partial<ReviewLike> = {}): ReviewLike {
  return {
    reviewId: 'v',
    runId: 'r',
    timing: 'AFTER_EXECUTION',
    taskDescription: 'Write',
    taskOutput: 'A text',
    prompt: undefined,
    requiredRole: undefined,
    onTimeout: 'FAIL',
    openedAt: '2026-01-01T00:00:00.000Z',
    expiresAt: undefined,
    detail: { taskName: 'draft', agentRole: 'Writer', attempt: 1, tool: undefined },
    run: undefined,
    mayDecide: undefined,
    end: undefined,
    ...change,
  }
}

function ofTool(input: unknown, taskDescription = 'Call tool: pay'): ReviewLike {
  const tool = { name: 'pay', input }
  const detail = { taskName: 'settle', agentRole: 'Payer', attempt: 1, tool }
  return review({ timing: 'DURING_EXECUTION', taskDescription, taskOutput: '', detail })
}

describe('a decision', () => {
  it('begins with what is under review', () => {
    expect(originalOf(review())).toBe('A text')
    expect(originalOf(review({ timing: 'BEFORE_EXECUTION' }))).toBe('Write')
    expect(originalOf(ofTool({ a: 1 }))).toBe('{\n  "a": 1\n}')
    expect(originalOf(ofTool(null))).toBe('')
  })

  it('is a body that the server takes', () => {
    const bodies = [
      decisionOf(review(), 'EDIT', { ...DRAFT, text: '' }),
      decisionOf(review(), 'REJECT', { ...DRAFT, feedback: '  more  ' }),
      decisionOf(review(), 'EXIT_EARLY', { ...DRAFT, text: 'x', feedback: 'y' }),
    ]
    expect(bodies).toEqual([
      { decision: 'EDIT', revisedOutput: '' },
      { decision: 'REJECT', feedback: 'more' },
      { decision: 'EXIT_EARLY' },
    ])
    for (const body of bodies) expect(decode(ReviewDecisionBody, body).ok).toBe(true)
  })

  it('of a tool call is JSON as it was typed, of a question text as a value', () => {
    const edit = decisionOf(ofTool({ a: 1 }), 'EDIT', { ...DRAFT, text: '{"a":2}' })
    expect(edit.revisedOutput).toBe('{"a":2}')
    const asked = ofTool(null, 'Which colour?')
    expect(decisionOf(asked, 'EDIT', { ...DRAFT, text: 'red' }).revisedOutput).toBe('"red"')
    const json = { ...DRAFT, text: '["red"]', isJson: true }
    expect(decisionOf(asked, 'EDIT', json).revisedOutput).toBe('["red"]')
    expect([
      mustBeJson(ofTool({}), DRAFT),
      mustBeJson(asked, DRAFT),
      mustBeJson(asked, json),
    ]).toEqual([true, false, true])
    expect(mustBeJson(review(), json)).toBe(false)
  })

  it('says at once what is no JSON', () => {
    expect(jsonProblem('{"a": [1, null]}')).toBeUndefined()
    expect(jsonProblem(' ')).toBe('Empty; JSON is needed')
    expect(jsonProblem('{"a": }')).toMatch(/^Not JSON yet: /)
  })

  it('is worth keeping when somebody wrote something', () => {
    expect(isWorthKeeping(review(), DRAFT)).toBe(false)
    expect(isWorthKeeping(review(), { ...DRAFT, text: 'A text' })).toBe(false)
    expect(isWorthKeeping(review(), { ...DRAFT, text: 'Another' })).toBe(true)
    expect(isWorthKeeping(review(), { ...DRAFT, feedback: 'no' })).toBe(true)
  })
})

describe('a review', () => {
  it('is a question when a tool was given nothing but it', () => {
    expect(asksForText(ofTool(null))).toBe(true)
    expect(asksForText(ofTool('Which?', 'Which?'))).toBe(true)
    expect(asksForText(ofTool({ input: 'Which?' }, 'Which?'))).toBe(true)
    expect(asksForText(ofTool({ input: 'Other' }, 'Which?'))).toBe(false)
    expect(asksForText(review())).toBe(false)
    expect(actionWords(ofTool(null)).EDIT).toBe('Answer…')
    expect(subjectOf(ofTool(null))).toBe('Question')
    expect(timeoutWords({ ...ofTool(null), onTimeout: 'CONTINUE' })).toContain('without an answer')
  })

  it('of a gate says until when it waits and how it ended', () => {
    const gate = {
      reviewId: 'v',
      taskDescription: 'Write',
      taskOutput: 'A text',
      timing: 'AFTER_EXECUTION',
      timeoutMs: 1_000,
      onTimeout: 'FAIL',
      taskName: 'draft',
      taskIndex: 1,
      attempt: 2,
      agentRole: 'Writer',
      requestedAt: '2026-01-01T00:00:00.000Z',
      status: 'OPEN',
    } as const
    const open = reviewOfGate(gate, 'r')
    expect([open.expiresAt, open.end, reviewTitle(open)]).toEqual([
      '2026-01-01T00:00:01.000Z',
      undefined,
      'Review of draft',
    ])
    expect(reviewOfGate({ ...gate, timeoutMs: 1e300 }, 'r').expiresAt).toBeUndefined()
    const ends = [
      reviewOfGate({ ...gate, status: 'TIMED_OUT', action: 'FAIL' }, 'r'),
      reviewOfGate({ ...gate, status: 'WITHDRAWN', reason: 'The run is over' }, 'r'),
      reviewOfGate(
        { ...gate, status: 'DECIDED', decision: 'EXIT_EARLY', decidedAt: 'x', decidedBy: 'clara' },
        'r',
      ),
      reviewOfGate({ ...gate, status: 'DECIDED', decision: 'CONTINUE', decidedAt: 'x' }, 'r'),
    ].flatMap(({ end }) => (end === undefined ? [] : [endWords(end, true)]))
    expect(ends).toEqual([
      'Nobody decided in time: it counts as rejected',
      'Not asked any more: The run is over',
      'Somebody else decided. clara ended the run early',
      'Somebody else decided. Approved',
    ])
  })
})
