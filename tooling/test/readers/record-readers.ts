/** Readers of the records of a store. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { expect } from 'vitest'

import { toRunDetail, toRunSummary } from '../../../packages/control-api/src/runs/to-wire.ts'
import { systemClock } from '../../../packages/core/src/index.ts'
import type { RunStorage } from '../../../packages/runs/src/adapter.ts'
import { sqliteRunStorage } from '../../../packages/runs/src/index.ts'
import { readForkedLog } from '../../../packages/runs/src/lineage/fork-log.ts'
import { claimRun, newRun } from '../../../packages/runs/src/testing/support/run-fixtures.ts'
import {
  RunThreads,
  type ThreadRunMessages,
} from '../../../packages/runs/src/threads/run-threads.ts'
import { stated, statedCost, lastOf, readStatus, type Found, type Readers } from './findings.ts'

import type { RunLog } from './run-logs.ts'

const directory = mkdtempSync(join(tmpdir(), 'tutti-readers-'))
const storage: RunStorage = await sqliteRunStorage(directory, { synchronous: 'NORMAL' })

/** Closes the store of the readers of records. */
export async function closeReaders(): Promise<void> {
  await storage[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true })
}

const stored = new Map<string, Promise<void>>()

/** Stores a log once, in its own thread. */
async function storeLog(log: RunLog): Promise<void> {
  const known = stored.get(log.runId) ?? createStored(log)
  stored.set(log.runId, known)
  await known
}

async function createStored(log: RunLog): Promise<void> {
  const { runId, events } = log
  const threadId = `thread-${runId}`
  await storage.threads.create({ threadId, tags: {} })
  const thread = { threadId, number: 1, userMessage: 'Go' }
  const forkedAt = events.findIndex(({ type }) => type === 'run_forked')
  if (forkedAt === -1) {
    await storeRun(log, { runId, thread })
    return
  }
  const parentId = `${runId}-parent`
  const isCopied = { events: events.slice(0, forkedAt), steps: log.steps }
  await storeRun(
    { ...log, ...isCopied, steps: log.steps.filter(({ at }) => at < forkedAt) },
    { runId: parentId },
  )
  const parent = (await storage.runs.get(parentId)) ?? expect.fail('no parent')
  const query = { parent, at: forkedAt - 1, maxStepBytes: Infinity }
  const { fork } = await readForkedLog(storage, systemClock, query)
  const run = newRun(runId, { taskCount: 1, thread })
  const [firstEvent = expect.fail('no event')] = events
  await storage.runs.create(run, { firstEvent, maxUnfinishedRuns: Infinity, fork })
  const owner = await claimRun(storage, runId)
  await owner.commit(events.slice(forkedAt + 1))
}

async function storeRun(
  { events, steps }: Pick<RunLog, 'events' | 'steps'>,
  run: Parameters<typeof newRun>[1] & { readonly runId: string },
): Promise<void> {
  const [firstEvent = expect.fail('no event'), ...rest] = events
  await storage.runs.create(newRun(run.runId, { taskCount: 1, ...run }), {
    firstEvent,
    maxUnfinishedRuns: Infinity,
  })
  const owner = await claimRun(storage, run.runId)
  const written = await owner.commit(rest, {
    steps: steps.map(({ step }) => step),
    stepEvents: steps.map(({ at }) => Math.min(at, events.length - 1) - 1),
  })
  expect(written.kind).toBe('written')
}

/** The list of runs. The queue marks a run that waits, which no event does. */
async function readList(log: RunLog): Promise<Found> {
  await storeLog(log)
  const { runs } = await storage.runs.list({ threadId: `thread-${log.runId}`, limit: 1 })
  const { status, totalTokens: count, costUsd } = toRunSummary(lastOf(runs))
  return {
    ...(log.status === 'WAITING_REVIEW' ? {} : { status: readStatus(status) }),
    tokens: stated(count),
    cost: statedCost(costUsd),
  }
}

/** The detail of a run, which webhooks deliver too. */
async function readDetail(log: RunLog): Promise<Found> {
  await storeLog(log)
  const run = (await storage.runs.get(log.runId)) ?? expect.fail('no run')
  const records = await storage.runs.tasks(log.runId)
  const { status, metrics, tasks } = toRunDetail({ run, tasks: records }, [])
  return {
    ...(log.status === 'WAITING_REVIEW' ? {} : { status: readStatus(status) }),
    output: tasks.find(({ name }) => name === run.outputTask)?.output,
    tokens: stated(metrics.totalTokens),
    cost: statedCost(metrics.costUsd),
  }
}

/** The message of a run in its thread. */
async function readThread(log: RunLog): Promise<Found> {
  await storeLog(log)
  const limits = { maxHistoryRuns: 1, maxHistoryBytes: 1_000_000 }
  const threads = new RunThreads(storage, limits)
  const page = await threads.runs({
    threadId: `thread-${log.runId}`,
    limit: 1,
    maxBytes: 1_000_000,
  })
  const { status, assistantMessage = '' }: ThreadRunMessages = lastOf(page.runs)
  // A client that shows the message of a run that has not ended folds its events.
  if (log.status === 'WAITING_REVIEW') return {}
  return { status: readStatus(status), output: assistantMessage, text: assistantMessage }
}

/** Readers by name. */
export const RECORD_READERS: Readers = {
  'the list of runs': readList,
  'the detail of a run (also of webhooks)': readDetail,
  'a thread': readThread,
}
