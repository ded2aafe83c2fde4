import { describe, expect, it } from 'vitest'

import {
  sortReviews,
  NO_OPEN_REVIEWS,
  applyListEvents,
  toOpenReviews,
  dropClosed,
} from './open-reviews.ts'

import type { NotedEvent } from '@tutti/react/internal'
import type { PendingReview } from '@tutti/protocol'

const AT = '2026-01-01T00:00:00.000Z'
const PLACE = { runId: 'r1', seq: 4, id: 'r1:4' }

function requested(reviewId: string, more: Partial<NotedEvent> = {}): NotedEvent {
  // NOTE: the changed fields belong to this type.
  return {
    type: 'review_requested',
    reviewId,
    taskDescription: 'Write',
    taskOutput: 'A text',
    kind: 'TASK_OUTPUT',
    timing: 'AFTER_EXECUTION',
    prompt: null,
    timeoutMs: 60_000,
    onTimeout: 'EXIT_EARLY',
    taskName: 'draft',
    taskIndex: 1,
    attempt: 1,
    agentRole: 'Writer',
    requestedAt: AT,
    ...PLACE,
    ...more,
  } as NotedEvent
}

function decided(reviewId: string, decidedBy = 'clara'): NotedEvent {
  return {
    type: 'review_decided',
    reviewId,
    decision: 'REJECT',
    decidedBy,
    decidedAt: AT,
    ...PLACE,
  }
}

function timedOut(reviewId: string): NotedEvent {
  return { type: 'review_timed_out', reviewId, action: 'FAIL', ...PLACE }
}

function pending(reviewId: string, expiresAt?: string): PendingReview {
  return {
    reviewId,
    runId: 'r1',
    taskDescription: 'Write',
    taskOutput: 'A text',
    kind: 'TASK_OUTPUT',
    timing: 'AFTER_EXECUTION',
    timeoutMs: 60_000,
    onTimeout: 'EXIT_EARLY',
    createdAt: AT,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    taskName: 'draft',
    agentRole: 'Writer',
    attempt: 2,
  }
}

function ids(reviews: readonly { readonly reviewId: string }[]): readonly string[] {
  return reviews.map(({ reviewId }) => reviewId)
}

describe('open reviews', () => {
  it('[DASH-O1] Open reviews are sorted by deadline, then by age', () => {
    const state = applyListEvents(NO_OPEN_REVIEWS, [
      requested('never-new', { timeoutMs: 0, requestedAt: '2026-01-01T00:02:00.000Z' }),
      requested('late', { timeoutMs: 90_000 }),
      requested('never-old', { timeoutMs: 0 }),
      requested('soon', { timeoutMs: 30_000 }),
    ])
    expect(ids(state.open)).toEqual(['soon', 'late', 'never-old', 'never-new'])
    expect(state.open[0]?.expiresAt).toBe('2026-01-01T00:00:30.000Z')
    expect(state.open[2]?.expiresAt).toBeUndefined()
  })

  it('[DASH-O2] Open reviews keep a closed review in place with its outcome and reviewer', () => {
    const open = applyListEvents(NO_OPEN_REVIEWS, [
      requested('a'),
      requested('b', { timeoutMs: 90_000 }),
    ])
    const state = applyListEvents(open, [decided('a')])
    expect(ids(state.open)).toEqual(['b'])
    expect(state.closed[0]?.end).toMatchObject({ kind: 'decided', by: 'clara', decision: 'REJECT' })
    expect(ids(sortReviews(state))).toEqual(ids(sortReviews(open)))
    expect(dropClosed(state, ['a']).closed).toEqual([])
    expect(dropClosed(state, ['b'])).toBe(state)
  })

  it('[DASH-O2] Open reviews keep the first outcome, except that a decision replaces a timeout', () => {
    const open = applyListEvents(NO_OPEN_REVIEWS, [requested('a'), requested('b')])
    const state = applyListEvents(open, [
      decided('a'),
      timedOut('a'),
      decided('a', 'otto'),
      timedOut('b'),
      { type: 'review_withdrawn', reviewId: 'b', reason: 'Over', withdrawnAt: AT, ...PLACE },
      decided('b'),
    ])
    expect(state.closed.map(({ end }) => end)).toMatchObject([
      { kind: 'decided', by: 'clara' },
      { kind: 'decided', by: 'clara' },
    ])
  })

  it('[DASH-O3] Open reviews ignore duplicate events and unknown reviews', () => {
    const state = applyListEvents(NO_OPEN_REVIEWS, [requested('a'), requested('a')])
    expect(ids(state.open)).toEqual(['a'])
    expect(applyListEvents(state, [decided('x'), timedOut('y')])).toBe(state)
    const asked = { type: 'task_skipped', ...PLACE } as unknown as NotedEvent
    expect(applyListEvents(state, [asked])).toBe(state)
  })

  it('Open reviews are closed with their run, without affecting other runs', () => {
    const state = applyListEvents(NO_OPEN_REVIEWS, [
      requested('a'),
      requested('b', { runId: 'r2' }),
    ])
    const result = { type: 'run_result', status: 'FAILED', outputs: [], durationMs: 1, ...PLACE }
    const after = applyListEvents(state, [result as unknown as NotedEvent])
    expect(ids(after.open)).toEqual(['b'])
    expect(after.closed[0]?.end).toEqual({ kind: 'withdrawn', reason: 'The run has ended' })
  })

  it('Open reviews are opened again when they are requested again', () => {
    const state = applyListEvents(NO_OPEN_REVIEWS, [requested('a'), timedOut('a'), requested('a')])
    expect([ids(state.open), ids(state.closed)]).toEqual([['a'], []])
  })

  it('[DASH-O4] Open reviews leave out calls of client tools', () => {
    const call = { ...requested('call'), kind: 'CLIENT_TOOL' } as NotedEvent
    expect(ids(applyListEvents(NO_OPEN_REVIEWS, [call, requested('a')]).open)).toEqual(['a'])
  })

  it("Open reviews follow the server's list, and keep known reviews unchanged", () => {
    const known = applyListEvents(NO_OPEN_REVIEWS, [requested('a'), requested('gone')])
    const list = { reviews: [pending('new', '2026-01-01T00:00:10.000Z'), pending('a')], total: 2 }
    const state = toOpenReviews(list, known)
    expect(ids(state.open)).toEqual(['new', 'a'])
    expect(state.open[1]).toBe(known.open[0])
    expect(state.closed.map(({ reviewId, end }) => [reviewId, end?.kind])).toEqual([
      ['gone', 'gone'],
    ])
  })

  it('Open reviews have the task and the tool call given by the list', () => {
    const asked = { toolName: 'pay', toolCallId: 'c', toolInput: { amount: 7 } }
    const { agentRole: _, attempt: __, ...earlier } = pending('old')
    const reviews = [pending('a'), { ...pending('b'), ...asked }, earlier]
    const place = { taskName: 'draft', agentRole: 'Writer', attempt: 2 }
    expect(toOpenReviews({ reviews, total: 3 }).open.map(({ detail }) => detail)).toEqual([
      { ...place, tool: undefined },
      { ...place, tool: { name: 'pay', input: { amount: 7 } } },
      undefined,
    ])
  })

  it('Open reviews keep at most a hundred closed reviews', () => {
    const all = Array.from({ length: 120 }, (_, index) => `v${index}`)
    const state = applyListEvents(NO_OPEN_REVIEWS, [
      ...all.map((id) => requested(id)),
      ...all.map((id) => decided(id)),
    ])
    expect(state.closed).toHaveLength(100)
    expect(state.closed.at(-1)?.reviewId).toBe('v119')
  })
})
