import { describe, expect, it } from 'vitest'

import { filterOf } from './run-filter.ts'
import {
  emptyRunList,
  matchingRuns,
  revealed,
  shownRuns,
  unansweredRuns,
  withDetails,
  withoutPast,
  withRuns,
  type RunListState,
} from './run-list.ts'

import type { RunDetail, RunStatus, RunSummary } from '@tutti/protocol'

const NONE: ReadonlySet<string> = new Set()

const summary = (runId: string, status: RunStatus = 'RUNNING'): RunSummary => ({
  runId,
  status,
  startedAt: '2026-01-01T00:00:00.000Z',
  durationMs: null,
  taskCount: 1,
  completedTasks: 0,
  workflow: 'SEQUENTIAL',
  tags: {},
  ensemble: 'band',
  totalTokens: 0,
  totalToolCalls: 0,
  costUsd: 0,
  openReviews: 0,
})

const detail = (runId: string, status: RunStatus): RunDetail => ({
  runId,
  status,
  startedAt: '2026-01-01T00:00:00.000Z',
  workflow: 'SEQUENTIAL',
  inputs: {},
  tags: {},
  tasks: [
    { name: 'tune', description: 'Tune', status: 'COMPLETED', agentRole: '', index: 1, attempt: 1 },
    { name: 'play', description: 'Play', status: 'RUNNING', agentRole: '', index: 2, attempt: 1 },
  ],
  metrics: { totalTokens: 7, totalToolCalls: 2, costUsd: 0.5 },
  pendingReviews: [],
  ensemble: 'band',
  lastSeq: 9,
  error: 'x'.repeat(301),
})

/** An answer with runs named by the words of `names`. */
const answer = (names: string, { total = 9, isWhole = false } = {}) => ({
  runs: names.split(' ').map((name) => summary(name)),
  total,
  isWhole,
})

const list = (names: string): RunListState =>
  withRuns(emptyRunList(filterOf({ status: 'active' })), answer(names))

const namesOf = (runs: readonly RunSummary[]): string => runs.map(({ runId }) => runId).join(' ')

describe('a list of runs', () => {
  it('shows the first page at once', () => {
    const state = list('c b a')
    expect(namesOf(shownRuns(state))).toBe('c b a')
    expect(state).toMatchObject({ total: 9, isWhole: false })
  })

  it('appends the next page after the run that both have', () => {
    const state = withRuns(list('c b a'), answer('a z y', { total: 5, isWhole: true }))
    expect(namesOf(shownRuns(state))).toBe('c b a z y')
    expect(state).toMatchObject({ total: 5, isWhole: true })
  })

  it('hides runs that appear above others until they are revealed', () => {
    const state = withRuns(list('c b a'), answer('e d c x b a z'))
    expect(namesOf(shownRuns(state))).toBe('c b a z')
    expect([...state.fresh]).toEqual(['e', 'd', 'x'])
    expect(namesOf(shownRuns(revealed(state)))).toBe('e d c x b a z')
  })

  it('puts an answer without a known run above the known runs', () => {
    const state = withRuns(list('b a'), answer('d c'))
    expect(namesOf(state.runs)).toBe('d c b a')
    expect(namesOf(shownRuns(state))).toBe('b a')
  })

  it('keeps a run in its place that the answer does not tell of', () => {
    expect(namesOf(withRuns(list('d c b a'), answer('e d b z')).runs)).toBe('e d c b z a')
  })

  it('shares the runs that have not changed', () => {
    const before = list('b a')
    const changed = { ...summary('b'), totalTokens: 5 }
    const { runs } = withRuns(before, { ...answer('a'), runs: [changed, summary('a')] })
    expect(runs[0]).toEqual(changed)
    expect(runs[1]).toBe(before.runs[1])
  })
})

describe('runs that an answer does not tell of', () => {
  it('are read again when they have left the part of the list that was answered', () => {
    expect(unansweredRuns(list('d c b a'), answer('d b'), NONE)).toEqual(['c'])
    const whole = answer('d b', { isWhole: true })
    expect(unansweredRuns(list('d c b a'), whole, NONE)).toEqual(['c', 'a'])
  })

  it('are read again when they no longer match and have changed', () => {
    const details = new Map([['b', detail('b', 'COMPLETED')]])
    const state = withDetails(list('c b a'), details)
    expect(unansweredRuns(state, answer('c a'), NONE)).toEqual([])
    expect(unansweredRuns(state, answer('c a'), new Set(['a', 'b', 'x']))).toEqual(['b'])
  })

  it('stay where they are, not counted, until the list is left', () => {
    const state = withDetails(list('c b a'), new Map([['b', detail('b', 'COMPLETED')]]))
    expect(state.runs[1]).toMatchObject({
      status: 'COMPLETED',
      taskCount: 2,
      completedTasks: 1,
      currentTask: { name: 'play', index: 1 },
      totalTokens: 7,
      costUsd: 0.5,
      error: 'x'.repeat(300),
    })
    expect(namesOf(shownRuns(state))).toBe('c b a')
    expect(namesOf(matchingRuns(state))).toBe('c a')
    expect(namesOf(withoutPast(state).runs)).toBe('c a')
  })

  it('are removed when the server does not have them', () => {
    expect(namesOf(withDetails(list('c b a'), new Map([['b', undefined]])).runs)).toBe('c a')
  })
})
