import { decode, ReviewDecisionBody } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import {
  toDecisionBody,
  isWorthKeeping,
  findJsonProblem,
  mustBeJson,
  findOriginalText,
} from './decision-body.ts'
import { createEditDraft, findEditSchema, formatEdit } from './edit-value.ts'
import { isQuestion, fromReviewState, type ReviewLike } from './review-like.ts'
import {
  labelActions,
  listActions,
  describeReviewEnd,
  describeTiming,
  formatReviewLabel,
  labelSubject,
  describeTimeout,
} from './review-labels.ts'

import type { Draft } from './drafts.ts'

const DRAFT: Draft = { mode: undefined, text: undefined, form: undefined, feedback: '' }

function review(change: Partial<ReviewLike> = {}): ReviewLike {
  return {
    reviewId: 'v',
    runId: 'r',
    kind: 'TASK_OUTPUT',
    timing: 'AFTER_EXECUTION',
    taskDescription: 'Write',
    taskOutput: 'A text',
    prompt: undefined,
    answerSchema: undefined,
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

function ofTool(input: unknown, kind: 'TOOL_CALL' | 'CLIENT_TOOL' = 'TOOL_CALL'): ReviewLike {
  const detail = {
    taskName: 'settle',
    agentRole: 'Payer',
    attempt: 1,
    tool: { name: 'pay', input },
  }
  return review({
    kind,
    timing: 'DURING_EXECUTION',
    taskDescription: 'Call tool: pay',
    taskOutput: '',
    detail,
  })
}

function question(answerSchema: unknown = { type: 'string' }): ReviewLike {
  const tool = { name: 'ask', input: undefined }
  return review({
    kind: 'QUESTION',
    timing: 'DURING_EXECUTION',
    prompt: 'Which colour?',
    taskDescription: 'Which colour?',
    taskOutput: '',
    answerSchema,
    detail: { taskName: 'settle', agentRole: 'Payer', attempt: 1, tool },
  })
}

describe('toDecisionBody', () => {
  it('toDecisionBody starts an edit with the subject of the review', () => {
    expect(findOriginalText(review())).toBe('A text')
    expect(findOriginalText(review({ kind: 'TASK_INPUT', timing: 'BEFORE_EXECUTION' }))).toBe(
      'Write',
    )
    expect(findOriginalText(ofTool({ a: 1 }))).toBe('{\n  "a": 1\n}')
    expect(findOriginalText(question())).toBe('')
  })

  it('toDecisionBody returns a body that the API accepts', () => {
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

  it('toDecisionBody sends the edited input of a tool as JSON, and the answer to a question as it was typed', () => {
    const edit = toDecisionBody(ofTool({ a: 1 }), 'EDIT', { ...DRAFT, text: '{"a":2}' })
    expect(edit.revisedOutput).toBe('{"a":2}')
    for (const text of ['Germany', '"Germany"', '["red"]']) {
      expect(toDecisionBody(question(), 'EDIT', { ...DRAFT, text })).toEqual({
        decision: 'EDIT',
        revisedOutput: text,
      })
    }
    expect([mustBeJson(ofTool({})), mustBeJson(question()), mustBeJson(review())]).toEqual([
      true,
      false,
      false,
    ])
  })

  it('toDecisionBody reports invalid JSON', () => {
    expect(findJsonProblem('{"a": [1, null]}')).toBeUndefined()
    expect(findJsonProblem(' ')).toBe('Enter JSON')
    expect(findJsonProblem('{"a": }')).toMatch(/^Invalid JSON: /)
  })

  it('toDecisionBody recognizes drafts that contain text of the reader', () => {
    expect(isWorthKeeping(review(), DRAFT)).toBe(false)
    expect(isWorthKeeping(review(), { ...DRAFT, text: 'A text' })).toBe(false)
    expect(isWorthKeeping(review(), { ...DRAFT, text: 'Another' })).toBe(true)
    expect(isWorthKeeping(review(), { ...DRAFT, feedback: 'no' })).toBe(true)
  })
})

describe('a call of a client tool', () => {
  const call = ofTool({ amount: 7 }, 'CLIENT_TOOL')

  it('A call of a client tool is answered with its result as it is typed', () => {
    expect(findOriginalText(call)).toBe('')
    expect(mustBeJson(call)).toBe(false)
    expect(toDecisionBody(call, 'EDIT', { ...DRAFT, text: 'paid {' })).toEqual({
      decision: 'EDIT',
      revisedOutput: 'paid {',
    })
  })

  it('A call of a client tool names the client in its title and its buttons', () => {
    expect(formatReviewLabel(call)).toBe('settle calls a tool of the client')
    expect(labelActions(call)).toMatchObject({ EDIT: 'Answer…', REJECT: 'Report failure…' })
  })
})

describe('ReviewLike', () => {
  it('ReviewLike is a question only by its kind, also when a tool is called with null', () => {
    expect(isQuestion(question())).toBe(true)
    expect(isQuestion(ofTool(null))).toBe(false)
    expect(labelActions(question())).toMatchObject({
      CONTINUE: 'Continue without answer',
      EDIT: 'Answer…',
    })
    expect(labelSubject(question())).toBe('Question')
    expect(formatReviewLabel(question())).toBe('Question of settle')
    expect(describeTiming(question())).toBe('waits for an answer')
    expect(listActions(question())[0]).toBe('EDIT')
    expect(listActions(ofTool(null))[0]).toBe('CONTINUE')
    expect(describeTimeout({ ...question(), onTimeout: 'CONTINUE' })).toContain('without an answer')
  })

  it('ReviewLike has the deadline and the outcome of its state', () => {
    const review = {
      reviewId: 'v',
      taskDescription: 'Write',
      taskOutput: 'A text',
      kind: 'TASK_OUTPUT',
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

describe('the value of an edit', () => {
  const inputSchema = { type: 'object', properties: { amount: { type: 'number' } } }
  const tools = [{ name: 'pay', description: 'Pays', inputSchema }]
  const call = (name: string) =>
    review({
      kind: 'TOOL_CALL',
      detail: { taskName: 't', agentRole: 'W', attempt: 1, tool: { name, input: { amount: 1 } } },
    })
  const question = (answerSchema: object) => review({ kind: 'QUESTION', answerSchema })

  it('The value of an edit has a form if the server reports the schema of its tool', () => {
    expect(findEditSchema(call('pay'), { tools })).toBe(inputSchema)
    expect(findEditSchema(call('other'), { tools })).toBeUndefined()
    expect(findEditSchema(call('pay'), undefined)).toBeUndefined()
    expect(findEditSchema(review(), { tools })).toBeUndefined()
    expect(createEditDraft(call('pay'), inputSchema).value).toEqual({ amount: 1 })
  })

  it('The value of an answer has a form unless any text is an answer', () => {
    expect(findEditSchema(question({ type: 'string' }), { tools })).toBeUndefined()
    const schema = { type: 'boolean' }
    expect(findEditSchema(question(schema), { tools })).toBe(schema)
    expect(createEditDraft(question(schema), schema).value).toBe(false)
  })

  it('The value of an edit is sent as JSON, and that of a schema of the type string as text', () => {
    expect(formatEdit(inputSchema, { amount: 2 })).toBe('{\n  "amount": 2\n}')
    const choice = { type: 'string', enum: ['yes', 'no'] }
    expect(findEditSchema(question(choice), { tools })).toBe(choice)
    expect(formatEdit(choice, 'yes')).toBe('yes')
  })
})
