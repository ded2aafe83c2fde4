import { describe, expect, it } from 'vitest'

import { readForm, toReviewForm } from './review-form.ts'

import type { RunEventOf } from '@tutti/protocol'

// NOTE: a form reads no other fields.
const REVIEW = {
  type: 'review_requested',
  reviewId: 'r1',
  taskName: 'sing',
  taskDescription: 'Sing Ave',
  taskOutput: 'La la',
  kind: 'TASK_OUTPUT',
  timing: 'AFTER_EXECUTION',
  prompt: 'In tune?',
} as RunEventOf<'review_requested'>

describe('toReviewForm', () => {
  it('toReviewForm shows the question, the task and the value under review', () => {
    expect(toReviewForm(REVIEW).message).toBe(
      'In tune?\n\nTask "sing":\nSing Ave\n\nOutput:\nLa la',
    )
    const asked = { ...REVIEW, prompt: null, taskOutput: '' }
    expect(toReviewForm(asked).message).toBe('Review of "sing"\n\nTask "sing":\nSing Ave')
    const tool = { ...REVIEW, taskOutput: '', toolName: 'tune', toolInput: { hertz: 440 } }
    expect(toReviewForm(tool).message).toContain('Tool tune:\n{"hertz":440}')
  })

  it('toReviewForm begins with the error of the last answer', () => {
    expect(toReviewForm(REVIEW, 'too loud').message).toMatch(
      /^The last answer was not accepted: too loud\n\nIn tune\?/,
    )
  })

  it('toReviewForm asks for an answer if a tool asks for text, and passes only that text to the tool', () => {
    const asked = {
      ...REVIEW,
      kind: 'QUESTION' as const,
      timing: 'DURING_EXECUTION' as const,
      taskDescription: 'How many?',
      taskOutput: '',
      prompt: 'How many?',
      toolName: 'ask',
      answerSchema: { type: 'integer' },
    }
    expect(toReviewForm(asked).message).toBe(
      'How many?\n\nTask "sing" asks through the tool ask\n\nJSON Schema of the answer: {"type":"integer"}',
    )
    const ofText = { ...asked, answerSchema: { type: 'string' } }
    expect(toReviewForm(ofText).message).toBe('How many?\n\nTask "sing" asks through the tool ask')
    expect(toReviewForm(asked).requestedSchema).toMatchObject({
      properties: { answer: { type: 'string' } },
      required: ['answer'],
    })
    expect(readForm({ answer: '7' })).toEqual({
      ok: true,
      decision: { decision: 'EDIT', revisedOutput: '7' },
    })
  })

  it.each(['CONTINUE', 'EXIT_EARLY'])(
    'toReviewForm refuses %s with a text, which it would drop',
    (decision) => {
      expect(readForm({ decision, text: 'Louder' })).toMatchObject({
        ok: false,
        problem: expect.stringContaining(`${decision} uses no text`),
      })
      expect(readForm({ decision, text: '' })).toEqual({ ok: true, decision: { decision } })
    },
  )

  it('toReviewForm truncates texts that are too long for a form', () => {
    const { message } = toReviewForm({ ...REVIEW, taskOutput: 'x'.repeat(10_000) })
    expect(message.length).toBeLessThan(4_200)
    expect(message).toContain('10000 characters in full')
  })

  it('toReviewForm describes the text of an EDIT, which depends on the moment of the review', () => {
    const described = (timing: typeof REVIEW.timing): string =>
      JSON.stringify(toReviewForm({ ...REVIEW, timing }).requestedSchema.properties['text'])
    expect(described('AFTER_EXECUTION')).toContain('the new output')
    expect(described('BEFORE_EXECUTION')).toContain('the new text of the task')
    expect(described('DURING_EXECUTION')).toContain('input of the tool as JSON')
  })
})

describe('readForm', () => {
  it('readForm reads each decision, and its text if it has one', () => {
    const decided = (content: object) => {
      const answer = readForm(content)
      return answer.ok ? answer.decision : answer.problem
    }
    expect(decided({ decision: 'CONTINUE', text: '' })).toEqual({ decision: 'CONTINUE' })
    expect(decided({ decision: 'EXIT_EARLY' })).toEqual({ decision: 'EXIT_EARLY' })
    expect(decided({ decision: 'EDIT', text: 'Do' })).toEqual({
      decision: 'EDIT',
      revisedOutput: 'Do',
    })
    expect(decided({ decision: 'REJECT', text: 'Louder' })).toEqual({
      decision: 'REJECT',
      feedback: 'Louder',
    })
    expect(decided({ decision: 'REJECT' })).toEqual({ decision: 'REJECT' })
  })

  it.each([
    [{ decision: 'EDIT' }, 'EDIT requires a text'],
    [{ decision: 'EDIT', text: '' }, 'EDIT requires a text'],
    [{ decision: 'MAYBE' }, 'got "MAYBE"'],
    [{}, 'got nothing'],
    [undefined, 'got nothing'],
    [null, 'got nothing'],
    ['CONTINUE', 'got nothing'],
  ])('readForm finds no decision in %j', (content, problem) => {
    expect(readForm(content)).toEqual({ ok: false, problem: expect.stringContaining(problem) })
  })
})
