import { describe, expect, it } from 'vitest'

import { filterOf } from './run-list-filter.ts'
import {
  listAfter,
  listOf,
  revealed,
  shownLines,
  tidied,
  withCandidates,
  withDetail,
  withPage,
  type RunListState,
} from './run-list.ts'

import type { ListEvent } from './server-feed.ts'
import type { RunDetail, RunStatus, RunSummary } from '@tutti/protocol'

const AT = '2026-01-01T00:00:'

const summary = (second: number, status: RunStatus = 'COMPLETED', change = {}): RunSummary => ({
  runId: `run-${second}`,
  status,
  startedAt: `${AT}${String(second).padStart(2, '0')}.000Z`,
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
  ...change,
})

const head = (runId: string, seq: number) => ({ runId, seq, id: `${runId}:${seq}` })

const queued = (second: number, change = {}): ListEvent => ({
  ...head(`run-${second}`, 0),
  type: 'run_queued',
  queuedAt: summary(second).startedAt,
  ensemble: 'band',
  workflow: 'SEQUENTIAL',
  totalTasks: 1,
  inputs: {},
  tags: {},
  ...change,
})

const started = (second: number): ListEvent => ({
  ...head(`run-${second}`, 1),
  type: 'ensemble_started',
  ensembleId: `run-${second}`,
  startedAt: summary(second).startedAt,
  totalTasks: 1,
  workflow: 'SEQUENTIAL',
  ensemble: 'band',
  tasks: [{ name: 'play', description: 'Play', agentRole: 'Player', context: [] }],
})

const result = (second: number, status: 'COMPLETED' | 'FAILED' = 'COMPLETED'): ListEvent => ({
  ...head(`run-${second}`, 90),
  type: 'run_result',
  status,
  outputs: [],
  durationMs: 5,
})

const cancelling = (second: number): ListEvent => ({
  ...head(`run-${second}`, 50),
  type: 'run_cancelling',
  requestedAt: AT,
  mode: 'abort',
})

const detail = (second: number, status: RunStatus, change = {}): RunDetail => ({
  runId: `run-${second}`,
  status,
  startedAt: summary(second).startedAt,
  workflow: 'SEQUENTIAL',
  inputs: {},
  tags: {},
  tasks: [],
  metrics: { totalTokens: 7, totalToolCalls: 0, costUsd: 0 },
  pendingReviews: [],
  ensemble: 'band',
  lastSeq: 60,
  ...change,
})

const list = (
  runs: readonly RunSummary[],
  {
    query = {},
    total = runs.length,
    meanwhile = [],
    before,
  }: {
    readonly query?: Record<string, string>
    readonly total?: number
    readonly meanwhile?: readonly ListEvent[]
    readonly before?: RunListState
  } = {},
): RunListState =>
  listOf(filterOf(query), { page: { runs: [...runs], total }, offset: 0, meanwhile }, before)

const ids = ({ lines }: RunListState) => lines.map(({ run }) => run.runId)
const shownIds = (state: RunListState) => shownLines(state).map(({ run }) => run.runId)
const statuses = ({ lines }: RunListState) => lines.map(({ run }) => run.status)

describe('[R1] the order', () => {
  it('has what was just accepted first, and what comes to fit in its place', () => {
    const failed = list([summary(9, 'FAILED'), summary(3, 'FAILED')], {
      query: { status: 'failed' },
    })
    const entered = withDetail(
      listAfter(failed, [result(5, 'FAILED')]),
      'run-5',
      detail(5, 'FAILED'),
    )
    expect(ids(entered)).toEqual(['run-9', 'run-5', 'run-3'])
    expect(ids(listAfter(list([summary(9)]), [queued(4)]))).toEqual(['run-4', 'run-9'])
  })

  it('stays while runs change', () => {
    const state = list([summary(3, 'ACCEPTED'), summary(2, 'ACCEPTED')])
    expect(ids(listAfter(state, [started(2), result(2), started(3)]))).toEqual(['run-3', 'run-2'])
  })
})

describe('[R2] a run that no longer fits', () => {
  const active = list([summary(3, 'ACCEPTED'), summary(2, 'ACCEPTED')], {
    query: { status: 'active' },
    total: 5,
  })
  const after = listAfter(active, [started(3), result(3)])

  it('stays, and is not counted', () => {
    expect(ids(after)).toEqual(['run-3', 'run-2'])
    expect(statuses(after)).toEqual(['COMPLETED', 'ACCEPTED'])
    expect([active.total, after.total, active.nextOffset, after.nextOffset]).toEqual([5, 4, 2, 1])
  })

  it('is gone when the list is tidied', () => {
    expect(ids(tidied(after))).toEqual(['run-2'])
    expect(tidied(active)).toBe(active)
  })
})

describe('[R3] a run that comes in', () => {
  it('is counted at once and shown when it is wanted', () => {
    const state = listAfter(list([summary(1)]), [queued(2), queued(3)])
    expect([shownIds(state), state.fresh.size, state.total]).toEqual([['run-1'], 2, 3])
    expect(shownIds(revealed(state))).toEqual(['run-3', 'run-2', 'run-1'])
    expect(revealed(revealed(state)).fresh.size).toBe(0)
  })

  it('comes in when it fits, by its status and by everything else', () => {
    const into = (query: Record<string, string>, events: readonly ListEvent[]) =>
      ids(listAfter(list([], { query }), events))
    expect(into({ status: 'active' }, [queued(1)])).toEqual(['run-1'])
    expect(into({ status: 'completed' }, [queued(1), started(1)])).toEqual([])
    expect(into({ status: 'completed' }, [queued(1), started(1), result(1)])).toEqual(['run-1'])
    expect(into({ status: 'failed' }, [queued(1), started(1), result(1)])).toEqual([])
    expect(into({ ensemble: 'other' }, [queued(1)])).toEqual([])
    expect(into({ tag: 'k:v' }, [queued(1), queued(2, { tags: { k: 'v' } })])).toEqual(['run-2'])
    expect(into({ q: 'fugue' }, [queued(1, { inputs: { t: 'A Fugue' } })])).toEqual(['run-1'])
  })

  it('is not asked for when it was seen from its start', () => {
    const state = list([], { query: { status: 'completed' } })
    expect(listAfter(state, [queued(1), started(1), result(1)]).unclear.size).toBe(0)
  })

  it('is there once when it is told and read', () => {
    const state = list([summary(2, 'ACCEPTED'), summary(1)], { meanwhile: [queued(2), started(2)] })
    expect([ids(state), statuses(state), state.total]).toEqual([
      ['run-2', 'run-1'],
      ['RUNNING', 'COMPLETED'],
      2,
    ])
    expect(ids(listAfter(state, [queued(2), queued(2)]))).toEqual(['run-2', 'run-1'])
  })

  it('waits above what was shown when the list is read again', () => {
    const before = list([summary(2), summary(1)])
    const again = list([summary(4), summary(3), summary(2), summary(1)], { before })
    expect([shownIds(again), again.fresh.size]).toEqual([['run-2', 'run-1'], 2])
    const other = list([summary(4), summary(3)], { before })
    expect(other.fresh.size).toBe(0)
  })
})

describe('[R4] a line of which too little is known', () => {
  const unclear = listAfter(list([summary(1, 'RUNNING')]), [cancelling(1), result(1)])

  it('is to be read, and its events wait', () => {
    expect([...unclear.unclear.keys()]).toEqual(['run-1'])
    expect(unclear.unclear.get('run-1')).toHaveLength(2)
    expect(statuses(unclear)).toEqual(['RUNNING'])
  })

  it('goes on from where it was read', () => {
    const early = withDetail(unclear, 'run-1', detail(1, 'RUNNING', { lastSeq: 40 }))
    expect([statuses(early), early.unclear.size]).toEqual([['COMPLETED'], 0])
    const late = withDetail(unclear, 'run-1', detail(1, 'COMPLETED', { lastSeq: 90 }))
    expect(statuses(late)).toEqual(['COMPLETED'])
    expect(late.lines[0]?.run.totalTokens).toBe(7)
  })

  it('goes when its run is not there any more', () => {
    const gone = withDetail(unclear, 'run-1', undefined)
    expect([ids(gone), gone.total, gone.nextOffset]).toEqual([[], 0, 0])
  })

  it('is one that runs while reviews wait', () => {
    expect(list([summary(1, 'RUNNING', { openReviews: 1 })]).unclear.size).toBe(1)
    expect(list([summary(1, 'WAITING_REVIEW', { openReviews: 1 })]).unclear.size).toBe(0)
  })

  it('may be one that is not in the list, when it comes to fit', () => {
    const failed = listAfter(list([], { query: { status: 'failed', q: 'x' } }), [
      result(1, 'FAILED'),
      result(2),
    ])
    expect([...failed.unclear.keys()]).toEqual(['run-1'])
    expect(ids(withDetail(failed, 'run-1', detail(1, 'FAILED')))).toEqual([])
    const found = detail(1, 'FAILED', { inputs: { topic: 'X' } })
    expect(ids(withDetail(failed, 'run-1', found))).toEqual(['run-1'])
    expect(listAfter(list([]), [result(1)]).unclear.size).toBe(0)
  })
})

it('[R4] a run that may fit is read, once', () => {
  const state = list([summary(2, 'WAITING_REVIEW')], { query: { status: 'review' } })
  expect(withCandidates(state, ['run-2'])).toBe(state)
  const asked = withCandidates(state, ['run-2', 'run-3', 'run-4', 'run-3'])
  expect([...asked.unclear.keys()]).toEqual(['run-3', 'run-4'])
  const waiting = detail(3, 'WAITING_REVIEW')
  expect(ids(withDetail(asked, 'run-3', waiting))).toEqual(['run-2'])
  const pendingReviews = [
    {
      reviewId: 'r',
      runId: 'run-3',
      taskDescription: 'Play',
      taskOutput: '',
      timing: 'AFTER_EXECUTION',
      timeoutMs: 0,
      onTimeout: 'EXIT_EARLY',
      createdAt: AT,
    },
  ]
  expect(ids(withDetail(asked, 'run-3', detail(3, 'RUNNING', { pendingReviews })))).toEqual([
    'run-3',
    'run-2',
  ])
  expect(ids(withDetail(asked, 'run-4', detail(4, 'RUNNING')))).toEqual(['run-2'])
})

describe('[R5] pages', () => {
  const first = list([summary(9, 'ACCEPTED'), summary(8)], { total: 4 })
  const page = (
    runs: readonly RunSummary[],
    offset: number,
    meanwhile: readonly ListEvent[] = [],
  ) => ({
    page: { runs: [...runs], total: 4 },
    offset,
    meanwhile,
  })

  it('follow each other until the last', () => {
    expect([first.nextOffset, first.isWhole]).toEqual([2, false])
    const whole = withPage(first, page([summary(7), summary(6)], 2))
    expect([ids(whole).length, whole.nextOffset, whole.isWhole]).toEqual([4, 4, true])
    expect(withPage(first, { ...page([], 2) }).isWhole).toBe(true)
  })

  it('begin later when a run came in, and hold none twice', () => {
    const state = listAfter(first, [queued(10)])
    expect(state.nextOffset).toBe(3)
    const next = withPage(state, page([summary(8), summary(7)], 2))
    expect(ids(next)).toEqual(['run-10', 'run-9', 'run-8', 'run-7'])
  })

  it('are not taken when they would leave a gap', () => {
    const active = list([summary(9, 'ACCEPTED'), summary(8, 'ACCEPTED')], {
      query: { status: 'active' },
      total: 4,
    })
    const state = listAfter(active, [started(9), result(9)])
    expect(withPage(state, page([summary(6, 'ACCEPTED')], 2))).toBe(state)
  })

  it('do not count runs that came to fit from further down', () => {
    const failed = list([summary(9, 'FAILED')], { query: { status: 'failed' }, total: 2 })
    const entered = withDetail(
      listAfter(failed, [result(5, 'FAILED')]),
      'run-5',
      detail(5, 'FAILED'),
    )
    expect([entered.total, entered.nextOffset]).toEqual([3, 1])
    const next = withPage(entered, page([summary(5, 'FAILED'), summary(4, 'FAILED')], 1))
    expect(ids(next)).toEqual(['run-9', 'run-5', 'run-4'])
    expect(next.nextOffset).toBe(3)
  })

  it('take what was told while they were on their way', () => {
    const state = withPage(first, page([summary(7, 'RUNNING')], 2, [cancelling(7), result(8)]))
    expect([...state.unclear.keys()]).toEqual(['run-7'])
  })

  it('count a run that ends and was not read', () => {
    const active = list([summary(9, 'ACCEPTED')], { query: { status: 'active' }, total: 4 })
    expect(listAfter(active, [result(1)]).total).toBe(3)
    const whole = list([summary(9, 'ACCEPTED')], { query: { status: 'active' } })
    expect(listAfter(whole, [result(1)]).total).toBe(1)
  })
})

it('gives back the very same list when nothing is told', () => {
  const state = list([summary(1)])
  expect(listAfter(state, [])).toBe(state)
  expect(withDetail(state, 'run-1', detail(1, 'COMPLETED'))).toBe(state)
})
