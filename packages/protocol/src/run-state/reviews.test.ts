import { describe, expect, it } from 'vitest'
import { eventOf } from '../../test/run-events.ts'
import { ListEditor } from './lists.ts'
import { applyToReviews, type ReviewRunEvent } from './reviews.ts'
import { emptyRunState, type RunState } from './run-state.ts'

const apply = (state: RunState, event: ReviewRunEvent) =>
  applyToReviews(state, event, new ListEditor())
const stateAfter = (...events: readonly ReviewRunEvent[]) =>
  events.reduce((state, event) => apply(state, event), emptyRunState())
const after = (...events: readonly ReviewRunEvent[]) => stateAfter(...events).reviews
const opened = eventOf('review_requested')

describe('review_requested', () => {
  it('review_requested opens a review with all its fields', () => {
    const during = eventOf('review_requested', {
      timing: 'DURING_EXECUTION',
      requiredRole: 'legal',
      toolName: 'send_mail',
      toolCallId: 'call-2',
      toolInput: { to: 'board' },
    })
    const { type: _, ...fields } = during
    expect(after(during)).toEqual([{ ...fields, status: 'OPEN' }])
  })

  it('review_requested of a known review updates it in its place, with the remaining time', () => {
    const other = eventOf('review_requested', { reviewId: 'rev-2' })
    const again = eventOf('review_requested', { timeoutMs: 5 })
    expect(
      after(opened, other, again).map(({ reviewId, timeoutMs }) => [reviewId, timeoutMs]),
    ).toEqual([
      ['rev-abc123', 5],
      ['rev-2', 300_000],
    ])
  })
})

describe('the end of a review', () => {
  it('The end of a review is a decision, with its author and content', () => {
    expect(after(opened, eventOf('review_decided'))).toMatchObject([
      {
        status: 'DECIDED',
        decision: 'REJECT',
        decidedBy: 'key:ops',
        decidedAt: '2025-03-15T10:30:11Z',
        feedback: 'Name the articles',
        taskName: 'researcher',
      },
    ])
  })

  it('The end of a review has only the fields of the event', () => {
    const event = eventOf('review_decided', {
      decision: 'EDIT',
      decidedBy: undefined,
      feedback: undefined,
      revisedOutput: 'Better',
    })
    const [gate] = after(opened, event)
    expect(gate).toMatchObject({ decision: 'EDIT', revisedOutput: 'Better' })
    expect(gate).not.toHaveProperty('decidedBy')
    expect(gate).not.toHaveProperty('feedback')
  })

  it('The end of a review is a timeout, with its action', () => {
    expect(after(opened, eventOf('review_timed_out'))).toMatchObject([
      { status: 'TIMED_OUT', action: 'EXIT_EARLY' },
    ])
  })

  it('The end of a review is the end of its task or run, with the reason', () => {
    expect(after(opened, eventOf('review_withdrawn'))).toMatchObject([
      { status: 'WITHDRAWN', reason: 'Run was cancelled', withdrawnAt: '2025-03-15T10:30:12Z' },
    ])
  })

  it('The end of a review comes once: events after a decision or a withdrawal have no effect', () => {
    const ends = [eventOf('review_timed_out'), eventOf('review_withdrawn')]
    const decided = stateAfter(opened, eventOf('review_decided'))
    for (const end of [...ends, eventOf('review_decided', { decision: 'CONTINUE' })]) {
      expect(apply(decided, end)).toBe(decided)
    }
    const withdrawn = stateAfter(opened, eventOf('review_withdrawn'))
    expect(apply(withdrawn, eventOf('review_decided'))).toBe(withdrawn)
  })

  it('The end of a review is the decision even when the panel was closed first', () => {
    const [gate] = after(opened, eventOf('review_timed_out'), eventOf('review_decided'))
    expect(gate?.status).toBe('DECIDED')
    expect(gate).not.toHaveProperty('action')
  })

  it('The end of a review has no effect for an unknown review', () => {
    const gates = stateAfter(opened)
    expect(apply(gates, eventOf('review_decided', { reviewId: 'other' }))).toBe(gates)
  })
})
