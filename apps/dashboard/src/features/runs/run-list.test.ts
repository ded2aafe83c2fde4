import { describe, expect, it } from 'vitest'

import { parseRunFilter } from './run-filter.ts'
import {
  createRunList,
  formatTotal,
  selectMatchingRuns,
  revealFresh,
  selectShownRuns,
  findUnansweredRuns,
  replaceRuns,
  dropPast,
  mergeRuns,
  type ReadRuns,
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
  skippedTasks: 0,
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

/** A response with the runs named by the words of `names`; its cursor is the name of the last one. */
const answer = (
  names: string,
  { total = 9, isWhole = false, isContinued = false } = {},
): ReadRuns => ({
  runs: names.split(' ').map((name) => summary(name)),
  total,
  isContinued,
  ...(isWhole ? {} : { nextCursor: names.slice(-1) }),
})

const list = (names: string): RunListState =>
  mergeRuns(createRunList(parseRunFilter({ status: 'active' })), answer(names))

const namesOf = (runs: readonly RunSummary[]): string => runs.map(({ runId }) => runId).join(' ')

describe('mergeRuns', () => {
  it('mergeRuns shows the first page at once', () => {
    const state = list('c b a')
    expect(namesOf(selectShownRuns(state))).toBe('c b a')
    expect(state).toMatchObject({ total: 9, isWhole: false })
  })

  it('mergeRuns appends a page that continues the list', () => {
    const page = answer('z y', { total: 5, isWhole: true, isContinued: true })
    const state = mergeRuns(list('c b a'), page)
    expect(namesOf(selectShownRuns(state))).toBe('c b a z y')
    expect(state).toMatchObject({ total: 5, isWhole: true, nextCursor: undefined })
  })

  it('mergeRuns continues after the last loaded run, also when a response ends before it', () => {
    expect(list('c b a').nextCursor).toBe('a')
    expect(mergeRuns(list('c b a'), answer('d c b')).nextCursor).toBe('a')
    expect(mergeRuns(list('c b a'), answer('d c b a z')).nextCursor).toBe('z')
    const whole = mergeRuns(list('c b'), answer('a', { isWhole: true, isContinued: true }))
    expect(mergeRuns(whole, answer('d c b'))).toMatchObject({
      isWhole: true,
      nextCursor: undefined,
    })
  })

  it('mergeRuns hides runs that appear above others until they are revealed', () => {
    const state = mergeRuns(list('c b a'), answer('e d c x b a z'))
    expect(namesOf(selectShownRuns(state))).toBe('c b a z')
    expect([...state.fresh]).toEqual(['e', 'd', 'x'])
    expect(namesOf(selectShownRuns(revealFresh(state)))).toBe('e d c x b a z')
  })

  it('mergeRuns puts a response without a known run above the known runs', () => {
    const state = mergeRuns(list('b a'), answer('d c'))
    expect(namesOf(state.runs)).toBe('d c b a')
    expect(namesOf(selectShownRuns(state))).toBe('b a')
  })

  it('mergeRuns keeps a run in place that the response does not contain', () => {
    expect(namesOf(mergeRuns(list('d c b a'), answer('e d b z')).runs)).toBe('e d c b z a')
  })

  it('mergeRuns reuses unchanged runs', () => {
    const before = list('b a')
    const changed = { ...summary('b'), totalTokens: 5 }
    const { runs } = mergeRuns(before, { ...answer('a'), runs: [changed, summary('a')] })
    expect(runs[0]).toEqual(changed)
    expect(runs[1]).toBe(before.runs[1])
  })
})

describe('runs missing from a response', () => {
  it('Runs missing from a response are loaded again if they left the range of the response', () => {
    expect(findUnansweredRuns(list('d c b a'), answer('d b'), NONE)).toEqual(['c'])
    const whole = answer('d b', { isWhole: true })
    expect(findUnansweredRuns(list('d c b a'), whole, NONE)).toEqual(['c', 'a'])
  })

  it('Runs missing from a response are loaded again if they no longer match and have changed', () => {
    const details = new Map([['b', detail('b', 'COMPLETED')]])
    const state = replaceRuns(list('c b a'), details)
    expect(findUnansweredRuns(state, answer('c a'), NONE)).toEqual([])
    expect(findUnansweredRuns(state, answer('c a'), new Set(['a', 'b', 'x']))).toEqual(['b'])
  })

  it('Runs missing from a response stay in place, uncounted, until the reader leaves the list', () => {
    const state = replaceRuns(list('c b a'), new Map([['b', detail('b', 'COMPLETED')]]))
    expect(state.runs[1]).toMatchObject({
      status: 'COMPLETED',
      taskCount: 2,
      completedTasks: 1,
      skippedTasks: 0,
      currentTask: { name: 'play', index: 1 },
      totalTokens: 7,
      costUsd: 0.5,
      error: 'x'.repeat(300),
    })
    expect(namesOf(selectShownRuns(state))).toBe('c b a')
    expect(namesOf(selectMatchingRuns(state))).toBe('c a')
    expect(namesOf(dropPast(state).runs)).toBe('c a')
  })

  it('Runs missing from a response are removed if they no longer exist', () => {
    expect(namesOf(replaceRuns(list('c b a'), new Map([['b', undefined]])).runs)).toBe('c a')
  })
})

describe('formatTotal', () => {
  it('formatTotal has a plus when the server does not count all runs', () => {
    expect(formatTotal({ total: 1, isCapped: false }, 'run')).toBe('1 run')
    expect(formatTotal({ total: 10_000, isCapped: true }, 'matching run')).toBe(
      '10,000+ matching runs',
    )
  })
})
