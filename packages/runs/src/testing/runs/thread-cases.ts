/** Cases of RUNS-H: threads and their runs. */
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'

import { AT_MS, completed, ODD_TEXT, queued, result, started } from '../support/event-fixtures.ts'
import { claimRun, endedRun, newRun, parkedRun, readRecord } from '../support/run-fixtures.ts'

import type { RunStorage } from '../../ports/run-storage.ts'
import type { CreatedRun } from '../../ports/run-store.ts'
import type { ThreadRunQuery } from '../../ports/thread-store.ts'
import type { NewRun, NewThreadRun } from '../../domain/run-record.ts'
import type { ThreadRunRecord } from '../../domain/thread-record.ts'
import type { SharedStorageCase, StorageCase } from '../support/storage-case.ts'

const MOST = Number.MAX_SAFE_INTEGER

export const threadCases: readonly StorageCase[] = [
  {
    name: '[RUNS-H1] Runs are numbered in the order of their submission, and read newest first',
    async run({ storage }) {
      await createThread(storage, 'thread-a')
      await createThread(storage, 'thread-b')
      await answered(storage, 'run-1', place('thread-a', 1, { userMessage: ODD_TEXT }))
      await answered(storage, 'run-other', place('thread-b', 1))
      await answered(storage, 'run-2', place('thread-a', 2), 'task-2')
      await submit(storage, 'run-3', place('thread-a', 3))
      const { runs, hasMore } = await readRuns(storage, 'thread-a')
      strictEqual(hasMore, false)
      const {
        error: _,
        outputTask: __,
        ...unended
      } = ended('run-3', 3, { status: 'ACCEPTED', lastSeq: 0 })
      deepStrictEqual(runs, [
        unended,
        ended('run-2', 2, { outputTask: 'task-2' }),
        ended('run-1', 1, { userMessage: ODD_TEXT, output: 'first output' }),
      ])
      strictEqual((await readRecord(storage, 'run-3')).threadId, 'thread-a')
      strictEqual((await storage.threads.get('thread-a'))?.runCount, 3)
      deepStrictEqual((await storage.threads.get('thread-a'))?.newestRun, {
        runId: 'run-3',
        status: 'ACCEPTED',
      })
    },
  },
  {
    name: '[RUNS-H1] A thread accepts no run while its newest one has not ended',
    async run({ storage }) {
      await createThread(storage, 'thread-a')
      await submit(storage, 'run-1', place('thread-a', 1))
      await rejects(submit(storage, 'run-2', place('thread-a', 2)), { code: 'THREAD_BUSY' })
      const owner = await claimRun(storage, 'run-1')
      await rejects(submit(storage, 'run-2', place('thread-a', 2)), { code: 'THREAD_BUSY' })
      await owner.commit([result('run-1')])
      await submit(storage, 'run-2', place('thread-a', 2))
      await createThread(storage, 'thread-b')
      await parkedRun(storage, 'run-parked', { thread: place('thread-b', 1) })
      await rejects(submit(storage, 'run-3', place('thread-b', 2)), {
        code: 'THREAD_BUSY',
        retryable: true,
      })
      strictEqual(await storage.runs.get('run-3'), undefined)
    },
  },
  {
    name: '[RUNS-H1] Exactly one of several concurrent submissions to a thread is accepted',
    async run({ storage }) {
      await createThread(storage, 'thread-a')
      const ids = Array.from({ length: 8 }, (_, index) => `run-${index}`)
      const results = await Promise.allSettled(
        ids.map((runId) => create(storage, runId, { thread: place('thread-a', 1) })),
      )
      const created = results.filter(({ status }) => status === 'fulfilled')
      const refused = results.filter(({ status }) => status === 'rejected')
      strictEqual(created.length, 1)
      for (const one of refused) {
        ok(one.status === 'rejected')
        strictEqual(Reflect.get(Object(one.reason), 'code'), 'THREAD_BUSY')
      }
      strictEqual((await readRuns(storage, 'thread-a')).runs.length, 1)
      strictEqual((await storage.runs.list({ limit: 9 })).total, 1)
    },
  },
  {
    name: '[RUNS-H2] A run whose number is not the next one is not created',
    async run({ storage }) {
      await createThread(storage, 'thread-a')
      deepStrictEqual(await create(storage, 'run-1', { thread: place('thread-a', 2) }), {
        kind: 'outdated',
      })
      await endedRun(storage, 'run-1', { thread: place('thread-a', 1) })
      deepStrictEqual(await create(storage, 'run-2', { thread: place('thread-a', 1) }), {
        kind: 'outdated',
      })
      strictEqual(await storage.runs.get('run-2'), undefined)
      await rejects(create(storage, 'run-2', { thread: place('thread-z', 1) }), {
        code: 'THREAD_NOT_FOUND',
        message: 'No thread with ID thread-z',
      })
      strictEqual((await storage.runs.list({ limit: 9 })).total, 1)
    },
  },
  {
    name: '[RUNS-H2] A run is not created with the messages of another newest run, or of one that had not ended',
    async run({ storage }) {
      await createThread(storage, 'thread-a')
      await endedRun(storage, 'run-1', { thread: place('thread-a', 1) })
      const { follows: _, ...early } = place('thread-a', 2)
      for (const thread of [early, { ...early, follows: 'run-deleted' }]) {
        for (const quota of [undefined, { actor: 'ci', maxUnfinishedRuns: 9 }]) {
          deepStrictEqual(await create(storage, 'run-2', { thread }, quota), { kind: 'outdated' })
        }
      }
      strictEqual(await storage.runs.get('run-2'), undefined)
      await submit(storage, 'run-2', place('thread-a', 2))
      await createThread(storage, 'thread-b')
      const first = place('thread-b', 1, { follows: 'run-deleted' })
      deepStrictEqual(await create(storage, 'run-b', { thread: first }), { kind: 'outdated' })
    },
  },
  {
    name: '[RUNS-H1] A repeated submission to a busy thread returns its first run',
    async run({ storage }) {
      await createThread(storage, 'thread-a')
      const submission = { idempotencyKey: 'key', fingerprint: 'print' }
      await submit(storage, 'run-1', place('thread-a', 1), { submission })
      const again = await create(storage, 'run-2', { submission, thread: place('thread-a', 2) })
      ok(again.kind === 'repeated')
      strictEqual(again.run.runId, 'run-1')
      strictEqual(again.run.threadId, 'thread-a')
    },
  },
  {
    name: '[RUNS-H1] A refused submission of an actor with a quota leaves no trace',
    async run({ storage }) {
      await createThread(storage, 'thread-a')
      const quota = { actor: 'ci', maxUnfinishedRuns: 2 }
      const actor = { actor: 'ci' }
      await create(storage, 'run-1', { thread: place('thread-a', 1), ...actor }, quota)
      await rejects(create(storage, 'run-2', { thread: place('thread-a', 2), ...actor }, quota), {
        code: 'THREAD_BUSY',
      })
      strictEqual((await create(storage, 'run-3', actor, quota)).kind, 'created')
    },
  },
  {
    name: '[RUNS-H3] A deleted run leaves its thread, and a thread with runs is not deleted',
    async run({ storage }) {
      await createThread(storage, 'thread-a')
      await endedRun(storage, 'run-1', { thread: place('thread-a', 1) })
      await endedRun(storage, 'run-2', { thread: place('thread-a', 2) })
      deepStrictEqual(await storage.threads.delete('thread-a'), {
        kind: 'has_runs',
        runIds: ['run-1', 'run-2'],
      })
      strictEqual(await storage.runs.delete('run-1'), 'deleted')
      deepStrictEqual(
        (await readRuns(storage, 'thread-a')).runs.map(({ number }) => number),
        [2],
      )
      await submit(storage, 'run-3', place('thread-a', 3))
      const owner = await claimRun(storage, 'run-3')
      await owner.commit([result('run-3')])
      for (const runId of ['run-2', 'run-3']) await storage.runs.delete(runId)
      deepStrictEqual(await storage.threads.delete('thread-a'), { kind: 'deleted' })
      deepStrictEqual(await storage.threads.delete('thread-a'), { kind: 'unknown' })
      strictEqual(await storage.threads.get('thread-a'), undefined)
    },
  },
  {
    name: '[RUNS-H4] Threads without runs are deleted beyond a number and an age, and no others',
    async run({ storage, passTime }) {
      for (const threadId of ['thread-1', 'thread-2', 'thread-3', 'thread-4']) {
        await createThread(storage, threadId)
      }
      await endedRun(storage, 'run-1', { thread: place('thread-1', 1) })
      const { threads } = storage
      deepStrictEqual(await threads.deleteEmpty({ keep: Infinity, limit: 9 }), [])
      deepStrictEqual(await threads.deleteEmpty({ keep: 2, limit: 9 }), ['thread-2'])
      deepStrictEqual(await threads.deleteEmpty({ keep: 9, maxAgeMs: 60_000, limit: 9 }), [])
      await passTime(120_000)
      const old = { keep: 9, maxAgeMs: 60_000 }
      deepStrictEqual(await threads.deleteEmpty({ ...old, limit: 1 }), ['thread-3'])
      deepStrictEqual(await threads.deleteEmpty({ ...old, limit: 9 }), ['thread-4'])
      strictEqual((await threads.get('thread-1'))?.runCount, 1)
    },
  },
  {
    name: '[RUNS-H4] The retention of runs shortens their threads',
    async run({ storage, passTime }) {
      await createThread(storage, 'thread-a')
      await endedRun(storage, 'run-1', { thread: place('thread-a', 1) })
      await passTime(2_000)
      await endedRun(storage, 'run-2', { thread: place('thread-a', 2) })
      deepStrictEqual(await storage.runs.deleteEnded({ keep: 1, limit: 9 }), ['run-1'])
      const { runs } = await readRuns(storage, 'thread-a')
      deepStrictEqual(
        runs.map(({ runId }) => runId),
        ['run-2'],
      )
    },
  },
  {
    name: '[RUNS-H5] A list of threads has pages, and finds threads by their tags',
    async run({ storage }) {
      await createThread(storage, 'thread-1', { title: ODD_TEXT, tags: { by: 'ann', n: 5 } })
      await createThread(storage, 'thread-2', { actor: ODD_TEXT })
      await createThread(storage, 'thread-3', { tags: { by: 'bob' } })
      deepStrictEqual(await listIds(storage), ['thread-3', 'thread-2', 'thread-1'])
      await submit(storage, 'run-1', place('thread-1', 1))
      deepStrictEqual(await listIds(storage), ['thread-1', 'thread-3', 'thread-2'])
      const page = await storage.threads.list({ limit: 2 })
      deepStrictEqual(
        page.map(({ threadId }) => threadId),
        ['thread-1', 'thread-3'],
      )
      deepStrictEqual(await listIds(storage, { before: page.at(-1)?.place }), ['thread-2'])
      deepStrictEqual(await listIds(storage, { tag: { key: 'by' } }), ['thread-1', 'thread-3'])
      deepStrictEqual(await listIds(storage, { tag: { key: 'n', value: '5' } }), ['thread-1'])
      deepStrictEqual(await listIds(storage, { tag: { key: 'by', value: 'carl' } }), [])
      const [first] = page
      strictEqual(first?.title, ODD_TEXT)
      deepStrictEqual({ ...first.tags }, { by: 'ann', n: 5 })
      strictEqual((await storage.threads.get('thread-2'))?.actor, ODD_TEXT)
    },
  },
  {
    name: '[RUNS-H5] The creation of a thread that exists returns it unchanged',
    async run({ storage }) {
      const first = await storage.threads.create({ threadId: 'thread-a', title: 'One', tags: {} })
      const again = await storage.threads.create({ threadId: 'thread-a', title: 'Two', tags: {} })
      strictEqual(first.isNew, true)
      deepStrictEqual(again, { isNew: false, thread: first.thread })
      strictEqual(first.thread.createdAt, first.thread.changedAt)
    },
  },
  {
    name: '[RUNS-H5] The tags of a thread are replaced, and it is found by the new ones only',
    async run({ storage }) {
      await createThread(storage, 'thread-1', { title: ODD_TEXT, tags: { by: 'ann', n: 5 } })
      await createThread(storage, 'thread-2', { tags: { by: 'ann' } })
      const before = await storage.threads.get('thread-1')
      const thread = await storage.threads.setTags('thread-1', { by: 'bob', [ODD_TEXT]: ODD_TEXT })
      deepStrictEqual({ ...thread?.tags }, { by: 'bob', [ODD_TEXT]: ODD_TEXT })
      deepStrictEqual(thread, { ...before, tags: thread?.tags })
      deepStrictEqual(await storage.threads.get('thread-1'), thread)
      deepStrictEqual(await listIds(storage, { tag: { key: 'by', value: 'ann' } }), ['thread-2'])
      deepStrictEqual(await listIds(storage, { tag: { key: 'by', value: 'bob' } }), ['thread-1'])
      deepStrictEqual(await listIds(storage, { tag: { key: 'n' } }), [])
      strictEqual(await storage.threads.setTags('thread-z', {}), undefined)
    },
  },
  {
    name: '[RUNS-H5] A page of the runs of a thread ends at a number and at a size of texts',
    async run({ storage }) {
      await createThread(storage, 'thread-a')
      for (const n of [1, 2, 3]) {
        const userMessage = 'x'.repeat(1_000)
        await answered(storage, `run-${n}`, place('thread-a', n, { userMessage }))
      }
      const read = async (limits: PageLimits) => {
        const page = await readRuns(storage, 'thread-a', limits)
        return [page.runs.map(({ number }) => number), page.hasMore]
      }
      deepStrictEqual(await read({ limit: 2 }), [[3, 2], true])
      deepStrictEqual(await read({ limit: 2, before: 2 }), [[1], false])
      deepStrictEqual(await read({ limit: 3 }), [[3, 2, 1], false])
      deepStrictEqual(await read({ maxBytes: 1 }), [[3], true])
      deepStrictEqual(await read({ maxBytes: 1_500 }), [[3, 2], true])
      deepStrictEqual(await read({ before: 1 }), [[], false])
      deepStrictEqual(await readRuns(storage, 'thread-z'), { runs: [], hasMore: false })
      deepStrictEqual(await read({ after: 0 }), [[1, 2, 3], false])
      deepStrictEqual(await read({ after: 0, limit: 2 }), [[1, 2], true])
      deepStrictEqual(await read({ after: 1, maxBytes: 1 }), [[2], true])
      deepStrictEqual(await read({ after: 3 }), [[], false])
    },
  },
  {
    name: '[RUNS-P12] A list of runs shows their threads and finds the runs of one',
    async run({ storage }) {
      await createThread(storage, 'thread-a')
      await endedRun(storage, 'run-1', { thread: place('thread-a', 1) })
      await endedRun(storage, 'run-2')
      await endedRun(storage, 'run-3', { thread: place('thread-a', 2), inputs: { by: 'other' } })
      const all = await storage.runs.list({ limit: 9 })
      deepStrictEqual(
        all.runs.map(({ threadId }) => threadId),
        ['thread-a', undefined, 'thread-a'],
      )
      const found = await storage.runs.list({ threadId: 'thread-a', limit: 1 })
      deepStrictEqual([found.runs.map(({ runId }) => runId), found.total], [['run-3'], 2])
      const both = await storage.runs.list({ threadId: 'thread-a', text: 'other', limit: 9 })
      deepStrictEqual(
        both.runs.map(({ runId }) => runId),
        ['run-3'],
      )
      strictEqual((await storage.runs.list({ threadId: 'thread-z', limit: 9 })).total, 0)
    },
  },
]

export const sharedThreadCases: readonly SharedStorageCase[] = [
  {
    name: '[RUNS-H1] Exactly one of the concurrent submissions of two processes to a thread is accepted',
    async run({ storage, another }) {
      const other = await another()
      await createThread(storage, 'thread-a')
      let newest = {}
      for (const number of [1, 2, 3]) {
        const { follows: _, ...first } = place('thread-a', number)
        const thread = { ...first, ...newest }
        const results = await Promise.allSettled(
          [storage, other, storage, other].map((one, index) =>
            create(one, `run-${number}-${index}`, { thread }),
          ),
        )
        const created = results.flatMap((one) =>
          one.status === 'fulfilled' && one.value.kind === 'created' ? [one.value] : [],
        )
        strictEqual(created.length, 1)
        const runId = created[0]?.event.runId ?? ''
        const owner = await claimRun(other, runId)
        await owner.commit([result(runId)])
        newest = { follows: runId }
      }
      strictEqual((await readRuns(other, 'thread-a')).runs.length, 3)
    },
  },
]

function createThread(
  storage: RunStorage,
  threadId: string,
  changes: Partial<Parameters<RunStorage['threads']['create']>[0]> = {},
) {
  return storage.threads.create({ threadId, tags: {}, ...changes })
}

/** Returns the number of a run in its thread, after the run with the number before it. */
function place(
  threadId: string,
  number: number,
  changes: Partial<NewThreadRun> = {},
): NewThreadRun {
  const follows = number === 1 ? {} : { follows: `run-${number - 1}` }
  return {
    threadId,
    number,
    ...follows,
    userMessage: `Message ${number}`,
    ...changes,
  }
}

function create(
  storage: RunStorage,
  runId: string,
  changes: Partial<NewRun>,
  quota?: { readonly actor: string; readonly maxUnfinishedRuns: number },
): Promise<CreatedRun> {
  const run = newRun(runId, changes)
  return storage.runs.create(run, {
    firstEvent: queued(run),
    maxUnfinishedRuns: 1000,
    ...(quota === undefined ? {} : { quota }),
  })
}

async function submit(
  storage: RunStorage,
  runId: string,
  thread: NewThreadRun,
  changes: Partial<NewRun> = {},
): Promise<void> {
  strictEqual((await create(storage, runId, { thread, ...changes })).kind, 'created')
}

/** Creates a run whose first task completes before it ends. */
async function answered(
  storage: RunStorage,
  runId: string,
  thread: NewThreadRun,
  outputTask = 'task-1',
): Promise<void> {
  await submit(storage, runId, thread)
  const owner = await claimRun(storage, runId)
  await owner.commit([{ ...started, outputTask }, completed, result(runId)])
}

/** Bounds of a page of the runs of a thread. */
type PageLimits = Partial<Pick<ThreadRunQuery, 'limit' | 'before' | 'after' | 'maxBytes'>>

function readRuns(storage: RunStorage, threadId: string, limits: PageLimits = {}) {
  return storage.threads.runs({ threadId, limit: 9, maxBytes: MOST, ...limits })
}

/** Returns an ended run of a thread as it is read. */
function ended(runId: string, number: number, changes: Partial<ThreadRunRecord>): ThreadRunRecord {
  const userMessage = `Message ${number}`
  return {
    runId,
    ensemble: 'band',
    status: 'FAILED',
    createdAt: AT_MS,
    lastSeq: 3,
    error: 'it broke',
    number,
    userMessage,
    outputTask: 'task-1',
    ...changes,
  }
}

async function listIds(
  storage: RunStorage,
  query: Partial<Parameters<RunStorage['threads']['list']>[0]> = {},
): Promise<readonly string[]> {
  const threads = await storage.threads.list({ limit: 9, ...query })
  return threads.map(({ threadId }) => threadId)
}
