import { decode, ReviewDecisionBody } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import {
  toDecisionBody,
  isWorthKeeping,
  findJsonProblem,
  mustBeJson,
  findOriginalText,
} from './decision-body.ts'
import { asksForText, fromReviewState, type ReviewLike } from './review-like.ts'
import {
  labelActions,
  describeReviewEnd,
  formatReviewLabel,
  labelSubject,
  describeTimeout,
} from './review-labels.ts'

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

function ofTool(
  input: unknown,
  taskDescription = 'Call tool: pay',
  isOfClient = false,
): ReviewLike {
  const tool = { name: 'pay', input, isOfClient }
  const detail = { taskName: 'settle', agentRole: 'Payer', attempt: 1, tool }
  return review({ timing: 'DURING_EXECUTION', taskDescription, taskOutput: '', detail })
}

describe('toDecisionBody', () => {
  it('starts an edit with the subject of the review', () => {
    expect(findOriginalText(review())).toBe('A text')
    expect(findOriginalText(review({ timing: 'BEFORE_EXECUTION' }))).toBe('Write')
    expect(findOriginalText(ofTool({ a: 1 }))).toBe('{\n  "a": 1\n}')
    expect(findOriginalText(ofTool(null))).toBe('')
  })

  it('returns a body that the API accepts', () => {
    const bodies = [
      toDecisionBody(review(), 'EDIT', { ...DRAFT, text: '' }),
      toDecisionBody(review(), 'REJECT', { ...DRAFT, feedback: '  more  ' }),
      toDecisionBody(review(), 'EXIT_EARLY', { ...DRAFT, text: 'x', feedback: 'y' }),
    ]
    expect(bodies).toEqual([
      { decision: 'EDIT', revisedOutput: '' },
      { decision: 'REJECT', feedback: 'more' },
      { decision: 'EXIT_EARLY' },
    ])
    for (const body of bodies) expect(decode(ReviewDecisionBody, body).ok).toBe(true)
  })

  it('sends the edited input of a tool as JSON, and the answer to a question as a text value', () => {
    const edit = toDecisionBody(ofTool({ a: 1 }), 'EDIT', { ...DRAFT, text: '{"a":2}' })
    expect(edit.revisedOutput).toBe('{"a":2}')
    const asked = ofTool(null, 'Which colour?')
    expect(toDecisionBody(asked, 'EDIT', { ...DRAFT, text: 'red' }).revisedOutput).toBe('"red"')
    const json = { ...DRAFT, text: '["red"]', isJson: true }
    expect(toDecisionBody(asked, 'EDIT', json).revisedOutput).toBe('["red"]')
    expect([
      mustBeJson(ofTool({}), DRAFT),
      mustBeJson(asked, DRAFT),
      mustBeJson(asked, json),
    ]).toEqual([true, false, true])
    expect(mustBeJson(review(), json)).toBe(false)
  })

  it('reports invalid JSON', () => {
    expect(findJsonProblem('{"a": [1, null]}')).toBeUndefined()
    expect(findJsonProblem(' ')).toBe('Enter JSON')
    expect(findJsonProblem('{"a": }')).toMatch(/^Invalid JSON: /)
  })

  it('recognizes drafts that contain text of the reader', () => {
    expect(isWorthKeeping(review(), DRAFT)).toBe(false)
    expect(isWorthKeeping(review(), { ...DRAFT, text: 'A text' })).toBe(false)
    expect(isWorthKeeping(review(), { ...DRAFT, text: 'Another' })).toBe(true)
    expect(isWorthKeeping(review(), { ...DRAFT, feedback: 'no' })).toBe(true)
  })
})

describe('a call of a client tool', () => {
  const call = ofTool({ amount: 7 }, 'Call of the client tool "pay"', true)

  it('is answered with its result as it is typed', () => {
    expect(findOriginalText(call)).toBe('')
    expect(mustBeJson(call, { isJson: false })).toBe(false)
    expect(toDecisionBody(call, 'EDIT', { ...DRAFT, text: 'paid {' })).toEqual({
      decision: 'EDIT',
      revisedOutput: 'paid {',
    })
  })

  it('names the client in its title and its buttons', () => {
    expect(formatReviewLabel(call)).toBe('settle calls a tool of the client')
    expect(labelActions(call)).toMatchObject({ EDIT: 'Answer…', REJECT: 'Report failure…' })
  })
})

describe('ReviewLike', () => {
  it('is a question if the only input of the tool is the question', () => {
    expect(asksForText(ofTool(null))).toBe(true)
    expect(asksForText(ofTool('Which?', 'Which?'))).toBe(false)
    expect(asksForText(ofTool({ input: 'Which?' }, 'Which?'))).toBe(false)
    expect(asksForText(review())).toBe(false)
    expect(labelActions(ofTool(null)).EDIT).toBe('Answer…')
    expect(labelSubject(ofTool(null))).toBe('Question')
    expect(describeTimeout({ ...ofTool(null), onTimeout: 'CONTINUE' })).toContain(
      'without an answer',
    )
  })

  it('has the deadline and the outcome of its state', () => {
    const review = {
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
    const open = fromReviewState(review, 'r')
    expect([open.expiresAt, open.end, formatReviewLabel(open)]).toEqual([
      '2026-01-01T00:00:01.000Z',
      undefined,
      'Review of draft',
    ])
    expect(fromReviewState({ ...review, timeoutMs: 1e300 }, 'r').expiresAt).toBeUndefined()
    const ends = [
      fromReviewState({ ...review, status: 'TIMED_OUT', action: 'FAIL' }, 'r'),
      fromReviewState({ ...review, status: 'WITHDRAWN', reason: 'The run is over' }, 'r'),
      fromReviewState(
        {
          ...review,
          status: 'DECIDED',
          decision: 'EXIT_EARLY',
          decidedAt: 'x',
          decidedBy: 'clara',
        },
        'r',
      ),
      fromReviewState({ ...review, status: 'DECIDED', decision: 'CONTINUE', decidedAt: 'x' }, 'r'),
    ].flatMap(({ end }) => (end === undefined ? [] : [describeReviewEnd(end, true)]))
    expect(ends).toEqual([
      'Timed out: counts as rejected',
      'Withdrawn: The run is over',
      'Another reviewer decided: clara ended the run early',
      'Another reviewer decided: Approved',
    ])
  })
})
