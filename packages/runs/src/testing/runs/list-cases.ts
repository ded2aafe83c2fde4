/** Cases of RUNS-P12: lists of runs. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import {
  AT,
  AT_MS,
  completed,
  failed,
  ODD_TEXT,
  result,
  reviewDecided,
  reviewRequested,
  started,
  taskFields,
  taskStarted,
} from '../support/event-fixtures.ts'
import { createRun, endedRun, ownedRun, parkedRun, readRecord } from '../support/run-fixtures.ts'

import type { RunStorage } from '../../ports/run-storage.ts'
import type { ChangedRun, ChangedRunsQuery, RunQuery } from '../../ports/run-store.ts'
import type { ListedRun, RunRecord } from '../../domain/run-record.ts'
import type { StorageCase } from '../support/storage-case.ts'
import type { RunEvent, RunEventOf } from '@tutti/protocol'

type Shown = Omit<ListedRun, keyof RunRecord | 'place'>

/** The listed fields of a run without work. */
const NOTHING: Shown = {
  totalTokens: 0,
  totalToolCalls: 0,
  skippedTasks: 0,
  costUsd: 0,
  openReviews: 0,
}

const secondCompleted: RunEvent = { ...completed, ...taskFields(2) }

/** Events of runs, and the fields that a list then shows. */
const HISTORIES: Readonly<
  Record<string, { readonly events: readonly RunEvent[]; readonly shown: Shown }>
> = {
  'run-waiting': { events: [], shown: NOTHING },
  'run-planned': { events: [started], shown: NOTHING },
  'run-at-work': {
    events: [started, taskStarted(1), taskStarted(2)],
    shown: { ...NOTHING, currentTask: { name: 'task-1', taskIndex: 1 } },
  },
  'run-further': {
    events: [started, taskStarted(1), completed, taskStarted(2)],
    shown: {
      totalTokens: 30,
      totalToolCalls: 2,
      skippedTasks: 0,
      costUsd: 0.5,
      currentTask: { name: 'task-2', taskIndex: 2 },
      openReviews: 0,
    },
  },
  'run-tried-again': {
    events: [
      started,
      taskStarted(1),
      failed,
      { ...taskStarted(1), attempt: 2 },
      completed,
      taskStarted(2),
      secondCompleted,
    ],
    shown: { totalTokens: 71, totalToolCalls: 5, skippedTasks: 0, costUsd: 1.25, openReviews: 0 },
  },
  'run-uncounted': {
    events: [started, taskStarted(1), { ...completed, inputTokens: -1 }, secondCompleted],
    shown: { totalTokens: -1, totalToolCalls: 4, skippedTasks: 0, costUsd: 1, openReviews: 0 },
  },
  'run-uncounted-before': {
    events: [
      started,
      taskStarted(1),
      { ...failed, outputTokens: -1 },
      { ...taskStarted(1), attempt: 2 },
    ],
    shown: {
      totalTokens: -1,
      totalToolCalls: 1,
      skippedTasks: 0,
      costUsd: 0.25,
      currentTask: { name: 'task-1', taskIndex: 1 },
      openReviews: 0,
    },
  },
  'run-unpriced': {
    events: [started, taskStarted(1), unpriced(completed), secondCompleted],
    shown: { totalTokens: 60, totalToolCalls: 4, skippedTasks: 0, openReviews: 0 },
  },
  'run-unpriced-and-uncounted': {
    events: [started, unpriced({ ...completed, inputTokens: -1, outputTokens: 1 })],
    shown: { totalTokens: -1, totalToolCalls: 2, skippedTasks: 0, openReviews: 0 },
  },
  'run-unpriced-of-no-tokens': {
    events: [started, unpriced({ ...completed, inputTokens: 0, outputTokens: 0 }), secondCompleted],
    shown: { totalTokens: 30, totalToolCalls: 4, skippedTasks: 0, costUsd: 0.5, openReviews: 0 },
  },
  'run-asking': {
    events: [
      started,
      reviewRequested('review-1'),
      reviewRequested('review-2'),
      reviewRequested('review-3'),
      reviewDecided('review-2'),
      reviewRequested('review-4', { kind: 'EVENT' }),
    ],
    shown: { ...NOTHING, openReviews: 2 },
  },
  'run-skipping': {
    events: [
      started,
      {
        type: 'task_skipped',
        taskIndex: 1,
        taskName: 'task-1',
        taskDescription: '',
        skippedAt: AT,
        reason: 'No need',
        cause: 'CONDITION',
      },
    ],
    shown: { ...NOTHING, skippedTasks: 1 },
  },
  'run-cut-off': {
    events: [started, taskStarted(1), reviewRequested('review-1'), result('run-cut-off')],
    shown: NOTHING,
  },
}

export const listCases: readonly StorageCase[] = [
  {
    name: '[RUNS-P12] A list shows the usage of the tasks of each run, and its current task',
    async run({ storage }) {
      for (const [runId, { events }] of Object.entries(HISTORIES)) {
        const owner = await ownedRun(storage, runId)
        strictEqual((await owner.commit(events)).kind, 'written')
      }
      const { runs, total } = await storage.runs.list({ limit: 99, offset: 0 })
      strictEqual(total, Object.keys(HISTORIES).length)
      const expected = Object.entries(HISTORIES).toReversed()
      strictEqual(runs.length, expected.length)
      for (const [at, [runId, { shown }]] of expected.entries()) {
        const { inputs: _inputs, ...stored } = await readRecord(storage, runId)
        const { place, ...listed } = runs[at] ?? { place: NaN }
        deepStrictEqual(listed, { ...stored, ...shown })
        ok(place < (runs[at - 1]?.place ?? Infinity))
      }
      const beyond = await storage.runs.list({ limit: 9, offset: 99 })
      deepStrictEqual(beyond, { runs: [], total, isCapped: false })
      const [one, ...rest] = (await storage.runs.list({ limit: 1, offset: 8 })).runs
      deepStrictEqual([one, rest], [runs[8], []])
    },
  },
  {
    name: '[RUNS-P12] A list continues before the place of a run, also when new runs came and that run is gone',
    async run({ storage }) {
      for (let index = 1; index <= 5; index += 1) await endedRun(storage, `run-${index}`)
      const first = await storage.runs.list({ limit: 2 })
      await createRun(storage, 'run-6')
      strictEqual(await storage.runs.delete('run-4'), 'deleted')
      const find = finder(storage)
      const before = first.runs.at(-1)?.place
      deepStrictEqual(await find({ before, limit: 2 }), ['run-3', 'run-2', 5])
      deepStrictEqual(await find({ before, limit: 2, offset: 2 }), ['run-1', 5])
      deepStrictEqual(await find({ before, text: 'cheese' }), [0])
      deepStrictEqual(await find({ before, text: 'run-', statuses: ['FAILED'] }), [
        'run-3',
        'run-2',
        'run-1',
        4,
      ])
      deepStrictEqual(await find({ before: 0 }), [5])
    },
  },
  {
    name: '[RUNS-P12] The name of the current task is returned unchanged, including unusual characters',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const planned = { name: ODD_TEXT, description: '', agentRole: '', context: [] }
      await owner.commit([{ ...started, tasks: [planned] }, taskStarted(1)])
      const [run] = (await storage.runs.list({ limit: 1, offset: 0 })).runs
      ok(run !== undefined)
      deepStrictEqual(run.currentTask, { name: ODD_TEXT, taskIndex: 1 })
    },
  },
  {
    name: '[RUNS-P12] Runs are found by the exact name of their ensemble, and match all fields of a query',
    async run({ storage }) {
      const odd = `o'%"\\_ é`
      await createRun(storage, 'run-1', { tags: { by: 'ci' } })
      await endedRun(storage, 'run-2', { ensemble: 'bands', tags: { by: 'ci' } })
      await createRun(storage, 'run-3', { ensemble: odd })
      await endedRun(storage, 'run-4')
      const find = finder(storage)
      deepStrictEqual(await find({ ensemble: 'band' }), ['run-4', 'run-1', 2])
      deepStrictEqual(await find({ ensemble: 'Band' }), [0])
      deepStrictEqual(await find({ ensemble: 'ban%' }), [0])
      deepStrictEqual(await find({ ensemble: '' }), [0])
      deepStrictEqual(await find({ ensemble: odd }), ['run-3', 1])
      deepStrictEqual(await find({ ensemble: 'band', statuses: ['FAILED'] }), ['run-4', 1])
      deepStrictEqual(await find({ ensemble: 'band', tag: { key: 'by' } }), ['run-1', 1])
      deepStrictEqual(await find({ ensemble: 'band', text: 'run-4' }), ['run-4', 1])
      deepStrictEqual(await find({ ensemble: 'band', limit: 1 }), ['run-4', 2])
    },
  },
  {
    name: '[RUNS-P12] Runs are found by the start of their id, in any case',
    async run({ storage }) {
      await createRun(storage, 'Run-12_b', { inputs: {} })
      await createRun(storage, 'run-1x', { inputs: {} })
      const find = finder(storage)
      deepStrictEqual(await find({ text: 'run-1' }), ['run-1x', 'Run-12_b', 2])
      deepStrictEqual(await find({ text: 'RUN-12_B' }), ['Run-12_b', 1])
      deepStrictEqual(await find({ text: 'un-1' }), [0])
      deepStrictEqual(await find({ text: 'run-1_' }), [0])
      deepStrictEqual(await find({ text: '%' }), [0])
      deepStrictEqual(await find({ text: 'run-1xx' }), [0])
    },
  },
  {
    name: '[RUNS-P12] Runs are found by a part of a value of a tag or an input, in any case',
    async run({ storage }) {
      await createRun(storage, 'run-1', { inputs: { topic: 'KÄSE & Σοφός', second: '100% of it' } })
      await createRun(storage, 'run-2', {
        inputs: { topic: 'a_b\\c"d\ne' },
        tags: { by: 'Straße' },
      })
      await createRun(storage, 'run-3', {
        inputs: { topic: ODD_TEXT },
        tags: { '%_': '1000 of it' },
      })
      const find = finder(storage)
      for (const text of ['käse', 'KäSe & σΟΦΌΣ', 'σοφό', '100%', '% of']) {
        deepStrictEqual([text, await find({ text })], [text, ['run-1', 1]])
      }
      for (const text of ['A_B', '\\C', '"d\ne', 'STRASSE', 'straß']) {
        deepStrictEqual([text, await find({ text })], [text, ['run-2', 1]])
      }
      for (const text of ['nul \0 BELL', 'lone \ud800', '\\U0000', '🎻', '1000']) {
        deepStrictEqual([text, await find({ text })], [text, ['run-3', 1]])
      }
      deepStrictEqual(await find({ text: 'OF it' }), ['run-3', 'run-1', 2])
      deepStrictEqual(await find({ text: 'of it', limit: 1, offset: 1 }), ['run-1', 2])
      // Neither names, nor text across two values, nor the encoding of a store.
      for (const text of ['topic', 'by', '%_', 'σ100', 'σοφός100', '\\n', 'u0007', 'a%b', '10_%']) {
        deepStrictEqual([text, await find({ text })], [text, [0]])
      }
    },
  },
  {
    name: '[RUNS-P12] Texts of one and two characters, and in very long values, are found like others',
    async run({ storage }) {
      const long = `${'filler '.repeat(6_000)}needle`
      await createRun(storage, 'qx-1', { inputs: { topic: 'ab' } })
      await createRun(storage, 'run-2', { inputs: { topic: long, second: 'Zß' }, tags: { n: 7 } })
      await createRun(storage, 'run-3', { inputs: { topic: 'bqx', second: '' } })
      const find = finder(storage)
      deepStrictEqual(await find({ text: 'q' }), ['run-3', 'qx-1', 2])
      deepStrictEqual(await find({ text: 'QX' }), ['run-3', 'qx-1', 2])
      for (const text of ['a', 'ab', 'x-', '1']) {
        deepStrictEqual(
          [text, await find({ text })],
          [text, text.startsWith('a') ? ['qx-1', 1] : [0]],
        )
      }
      for (const text of ['needle', 'e', 'zs', 'S', '7', 'filler needle']) {
        deepStrictEqual([text, await find({ text })], [text, ['run-2', 1]])
      }
      deepStrictEqual(await find({ text: 'ru' }), ['run-3', 'run-2', 2])
      deepStrictEqual(await find({ text: 'un' }), [0])
      deepStrictEqual(await find({ text: '' }), ['run-3', 'run-2', 'qx-1', 3])
    },
  },
  {
    name: '[RUNS-P12] Many runs are found by their texts, and not after they were deleted and their places used again',
    async run({ storage }) {
      const find = finder(storage)
      const create = async (from: number, to: number, topic: string) => {
        for (let n = from; n <= to; n += 1)
          await endedRun(storage, `run-${n}`, { inputs: { topic } })
      }
      await create(1, 40, 'cheese')
      deepStrictEqual(await find({ text: 'cheese', limit: 1 }), ['run-40', 40])
      for (let n = 30; n <= 40; n += 1)
        strictEqual(await storage.runs.delete(`run-${n}`), 'deleted')
      await create(41, 45, 'ham')
      deepStrictEqual(await find({ text: 'cheese', limit: 1 }), ['run-29', 29])
      deepStrictEqual(await find({ text: 'ham' }), [
        'run-45',
        'run-44',
        'run-43',
        'run-42',
        'run-41',
        5,
      ])
      deepStrictEqual(await find({ text: 'ha', limit: 1 }), ['run-45', 5])
    },
  },
  {
    name: '[RUNS-P12] A run is found by the cache key of its submission, but not by a tag of that name',
    async run({ storage }) {
      await createRun(storage, 'run-1', { cacheKey: 'abc' })
      await createRun(storage, 'run-2', { cacheKey: 'def' })
      await createRun(storage, 'run-3', { tags: { cacheKey: 'abc', cache_key: 'abc' } })
      await createRun(storage, 'run-4', { cacheKey: 'abc' })
      const find = finder(storage)
      deepStrictEqual(await find({ cacheKey: 'abc' }), ['run-4', 'run-1', 2])
      deepStrictEqual(await find({ cacheKey: 'ab' }), [0])
      strictEqual(JSON.stringify(await readRecord(storage, 'run-1')).includes('abc'), false)
    },
  },
  {
    name: '[RUNS-P12] Runs are listed page by page in the order in which their status changed',
    async run({ storage }) {
      await createRun(storage, 'run-a')
      await createRun(storage, 'run-b', { createdAt: AT_MS + 1 })
      await createRun(storage, 'run-C', { createdAt: AT_MS + 1 })
      await createRun(storage, 'run-other', { ensemble: 'choir' })
      const asking = await ownedRun(storage, 'run-asking')
      const opened = (reviewId: string, ms: number) =>
        reviewRequested(reviewId, { requestedAt: new Date(AT_MS + ms).toISOString() })
      await asking.commit([started, opened('review-1', 5_000), opened('review-2', 9_000)])
      await endedRun(storage, 'run-ended')
      const expected: readonly ChangedRun[] = [
        { runId: 'run-asking', changedAt: AT_MS + 5_000 },
        { runId: 'run-b', changedAt: AT_MS + 1 },
        { runId: 'run-C', changedAt: AT_MS + 1 },
        { runId: 'run-ended', changedAt: AT_MS },
        { runId: 'run-a', changedAt: AT_MS },
      ]
      const query = { ensembles: ['band', 'none'], limit: 2 }
      const seen: ChangedRun[] = []
      for (let after: ChangedRun | undefined; ; after = seen.at(-1)) {
        const page = await storage.runs.listByChange({ ...query, after })
        strictEqual(page.total, 5)
        if (page.runs.length === 0) break
        seen.push(...page.runs)
      }
      deepStrictEqual(seen, expected)
      const since = { ...query, since: AT_MS + 1, limit: 9 }
      const later = expected.filter(({ changedAt }) => changedAt > AT_MS)
      deepStrictEqual(await storage.runs.listByChange(since), { runs: later, total: later.length })
      const both = await storage.runs.listByChange({ ensembles: ['choir', 'band'], limit: 1 })
      deepStrictEqual([both.runs, both.total], [expected.slice(0, 1), 6])
      deepStrictEqual(await storage.runs.listByChange({ ensembles: [], limit: 9 }), {
        runs: [],
        total: 0,
      })
    },
  },
  {
    name: '[RUNS-P12] Runs are listed by change for one group, for some statuses, and by whether they wait for a review',
    async run({ storage }) {
      const odd = `o'%"\\_ é`
      await createRun(storage, 'run-1', { tags: { context: odd } })
      await createRun(storage, 'run-2', { tags: { context: 'run-3', other: 1 } })
      await createRun(storage, 'run-3', { tags: { other: 'run-3' } })
      await createRun(storage, 'run-4', { tags: { context: 7 } })
      await ownedRun(storage, 'run-5').then((owner) => owner.commit([started]))
      await ownedRun(storage, 'run-6').then((owner) =>
        owner.commit([started, reviewRequested('review-1')]),
      )
      await ownedRun(storage, 'run-7').then((owner) =>
        owner.commit([started, reviewRequested('review-1'), reviewDecided('review-1')]),
      )
      const wait = reviewRequested('wait', { kind: 'EVENT' })
      await ownedRun(storage, 'run-9').then((owner) => owner.commit([started, wait]))
      const idsOf = async (query: Omit<ChangedRunsQuery, 'ensembles' | 'limit'>) => {
        const page = await storage.runs.listByChange({ ensembles: ['band'], limit: 9, ...query })
        strictEqual(page.total, page.runs.length)
        return page.runs.map(({ runId }) => runId).toSorted()
      }
      const group = (value: string) => ({ group: { tag: 'context', value } })
      deepStrictEqual(await idsOf(group(odd)), ['run-1'])
      deepStrictEqual(await idsOf(group('run-3')), ['run-2', 'run-3'])
      deepStrictEqual(await idsOf(group('run-2')), [])
      deepStrictEqual(await idsOf(group('7')), ['run-4'])
      deepStrictEqual(await idsOf({ statuses: ['RUNNING'] }), ['run-5', 'run-6', 'run-7', 'run-9'])
      deepStrictEqual(await idsOf({ statuses: [] }), [])
      deepStrictEqual(await idsOf({ awaitsReview: true }), ['run-6'])
      const working = {
        statuses: ['RUNNING', 'WAITING', 'CANCELLING'],
        awaitsReview: false,
      } as const
      deepStrictEqual(await idsOf(working), ['run-5', 'run-7', 'run-9'])
      deepStrictEqual(await idsOf({ ...working, ...group('run-5') }), ['run-5'])
      await parkedRun(storage, 'run-8', { events: [reviewRequested('review-1')] })
      await parkedRun(storage, 'run-10', { events: [wait] })
      await parkedRun(storage, 'run-11', { events: [wait, reviewRequested('review-1')] })
      deepStrictEqual(await idsOf({ awaitsReview: true }), ['run-11', 'run-6', 'run-8'])
      deepStrictEqual(await idsOf(working), ['run-10', 'run-5', 'run-7', 'run-9'])
    },
  },
  {
    name: '[RUNS-P12] A deleted run is not found',
    async run({ storage }) {
      await endedRun(storage, 'run-1', { inputs: { topic: 'cheese' } })
      strictEqual(await storage.runs.delete('run-1'), 'deleted')
      await createRun(storage, 'run-2', { inputs: { topic: 'ham' } })
      deepStrictEqual(await finder(storage)({ text: 'cheese' }), [0])
      deepStrictEqual(await finder(storage)({ text: 'ham' }), ['run-2', 1])
    },
  },
]

function unpriced({ costUsd: _, ...event }: RunEventOf<'task_completed'>): RunEvent {
  return event
}

/** Returns the function that lists the ids of the found runs, followed by the total. */
function finder(
  storage: RunStorage,
): (query: Partial<RunQuery>) => Promise<readonly (string | number)[]> {
  return async (query) => {
    const { runs, total } = await storage.runs.list({ limit: 9, offset: 0, ...query })
    return [...runs.map(({ runId }) => runId), total]
  }
}
