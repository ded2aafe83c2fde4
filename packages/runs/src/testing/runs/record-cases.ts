/** Cases of RUNS-P4: the records of a run, its tasks and its reviews after a write. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import {
  AT,
  AT_MS,
  cancelling,
  completed,
  failed,
  poison,
  result,
  reviewDecided,
  reviewRequested,
  started,
  step,
  taskFields,
  taskStarted,
} from '../support/event-fixtures.ts'
import { ownedRun, readRecord } from '../support/run-fixtures.ts'

import type { StorageCase } from '../support/storage-case.ts'
import type { RunEvent, RunEventOf } from '@tutti/protocol'

const snapshot: RunEventOf<'metrics_snapshot'> = {
  type: 'metrics_snapshot',
  ...taskFields(1),
  inputTokens: 3,
  outputTokens: -1,
  llmLatencyMs: 1,
  toolExecutionTimeMs: 1,
  iterationCount: 1,
  costEstimate: '0.5',
}

/** Returns the start of a delegation to the task of that index. */
function delegated(workerTaskIndex: number): RunEventOf<'delegation_started'> {
  return {
    type: 'delegation_started',
    startedAt: AT,
    delegationId: 'd',
    delegatingAgentRole: 'Manager',
    workerRole: 'Worker',
    taskDescription: 'Help out',
    taskName: 'task-2',
    attempt: 1,
    workerTask: `worker-${workerTaskIndex}`,
    workerTaskIndex,
    depth: 1,
  }
}

export const recordCases: readonly StorageCase[] = [
  {
    name: '[RUNS-P4] The records follow from the events',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const ended = { ...completed, finishReason: 'stop' } as const
      await owner.commit([started, taskStarted(1), ended, taskStarted(2)])
      const run = await readRecord(storage, 'run-a')
      deepStrictEqual(
        [run.status, run.startedAt, run.completedTasks, run.error, run.taskCount],
        ['RUNNING', AT_MS, 1, undefined, 2],
      )
      const [first, second] = await storage.runs.tasks('run-a')
      deepStrictEqual(first, {
        taskIndex: 1,
        name: 'task-1',
        description: 'Task 1',
        agentRole: 'Player',
        status: 'COMPLETED',
        attempt: 1,
        startedAt: AT_MS,
        completedAt: AT_MS,
        durationMs: 7,
        inputTokens: 20,
        outputTokens: 10,
        toolCallCount: 2,
        costUsd: 0.5,
        output: 'first output',
        finishReason: 'stop',
      })
      strictEqual(second?.status, 'RUNNING')
    },
  },
  {
    name: '[RUNS-P4] [RUNS-C6] Tasks that other code adds have records, and one that was skipped is pending again',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const added = { taskIndex: 3, name: 'task-3', description: 'Third', agentRole: 'Player' }
      const resumed: RunEvent = {
        type: 'run_resumed',
        resumedAt: AT,
        epoch: 2,
        completedTasks: [],
        addedTasks: [{ ...added, context: [] }],
        outputTask: 'task-3',
      }
      const readTasks = async (): Promise<readonly unknown[]> => {
        const tasks = await storage.runs.tasks('run-a')
        return tasks.map(({ taskIndex, name, status, error }) => [taskIndex, name, status, error])
      }
      const others = [
        [1, 'task-1', 'PENDING', undefined],
        [2, 'task-2', 'PENDING', undefined],
      ]
      await owner.commit([started])
      strictEqual((await readRecord(storage, 'run-a')).outputTask, 'task-2')
      await owner.commit([resumed])
      strictEqual((await readRecord(storage, 'run-a')).outputTask, 'task-3')
      deepStrictEqual(await readTasks(), [...others, [3, 'task-3', 'PENDING', undefined]])
      strictEqual((await readRecord(storage, 'run-a')).taskCount, 3)
      await owner.commit([
        {
          type: 'task_skipped',
          taskIndex: 3,
          taskName: 'task-3',
          taskDescription: '',
          skippedAt: AT,
          reason: 'gone',
        },
      ])
      deepStrictEqual(await readTasks(), [...others, [3, 'task-3', 'SKIPPED', 'gone']])
      await owner.commit([resumed])
      deepStrictEqual(await readTasks(), [...others, [3, 'task-3', 'PENDING', undefined]])
      strictEqual((await readRecord(storage, 'run-a')).taskCount, 3)
    },
  },
  {
    name: '[RUNS-P4] A task counts the usage of all its attempts, and shows the times and the error of the latest',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const again = { ...taskStarted(1), attempt: 2, taskDescription: 'Task 1, edited' }
      const row = async (events: readonly RunEvent[]): Promise<readonly unknown[]> => {
        await owner.commit(events)
        const [task] = await storage.runs.tasks('run-a')
        ok(task !== undefined)
        const { status, attempt, inputTokens, outputTokens, toolCallCount, costUsd, error } = task
        return [status, attempt, inputTokens, outputTokens, toolCallCount, costUsd, error]
      }
      deepStrictEqual(await row([started, taskStarted(1)]), ['RUNNING', 1, 0, 0, 0, 0, undefined])
      deepStrictEqual(await row([failed]), ['FAILED', 1, 5, 6, 1, 0.25, 'it broke'])
      deepStrictEqual(await row([again]), ['RUNNING', 2, 5, 6, 1, 0.25, undefined])
      const [task] = await storage.runs.tasks('run-a')
      deepStrictEqual(
        [task?.description, task?.completedAt, task?.durationMs],
        ['Task 1, edited', undefined, undefined],
      )
      deepStrictEqual(await row([snapshot]), ['RUNNING', 2, 8, -1, 1, 0.75, undefined])
      deepStrictEqual(await row([completed]), ['COMPLETED', 2, 25, 16, 3, 0.75, undefined])
    },
  },
  {
    name: '[RUNS-P4] Usage that one attempt does not report is unknown for the task',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const { costUsd: _, ...unpriced } = failed
      await owner.commit([
        started,
        taskStarted(1),
        { ...unpriced, inputTokens: -1 },
        { ...taskStarted(1), attempt: 2 },
        { ...failed, attempt: 2 },
        { ...taskStarted(1), attempt: 3 },
        completed,
      ])
      const [task] = await storage.runs.tasks('run-a')
      deepStrictEqual(
        [task?.inputTokens, task?.outputTokens, task?.toolCallCount, task?.costUsd],
        [-1, 22, 4, undefined],
      )
    },
  },
  {
    name: '[RUNS-P4] A delegation adds its task once, and does not change a task of the plan',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await owner.commit([started, delegated(1), delegated(3), delegated(3)])
      const tasks = await storage.runs.tasks('run-a')
      deepStrictEqual(
        tasks.map((task) => [
          task.taskIndex,
          task.name,
          task.description,
          task.agentRole,
          task.status,
        ]),
        [
          [1, 'task-1', 'Task 1', 'Player', 'PENDING'],
          [2, 'task-2', 'Task 2', 'Player', 'PENDING'],
          [3, 'worker-3', 'Help out', 'Worker', 'PENDING'],
        ],
      )
      strictEqual((await readRecord(storage, 'run-a')).taskCount, 3)
    },
  },
  {
    name: '[RUNS-P4] Only the events of a run change its records',
    async run({ storage }) {
      const a = await ownedRun(storage, 'run-a')
      const b = await ownedRun(storage, 'run-b')
      await a.commit([started, reviewRequested('review-1')])
      await b.commit([started, reviewRequested('review-1')])
      const before = [await readRecord(storage, 'run-b'), await storage.runs.tasks('run-b')]
      await a.commit([taskStarted(1), completed, reviewDecided('review-1'), cancelling])
      deepStrictEqual(
        [await readRecord(storage, 'run-b'), await storage.runs.tasks('run-b')],
        before,
      )
      deepStrictEqual(
        (await storage.runs.reviews({ reviewId: 'review-1' })).map(({ runId, status }) => [
          runId,
          status,
        ]),
        [
          ['run-a', 'DECIDED'],
          ['run-b', 'OPEN'],
        ],
      )
    },
  },
  {
    name: '[RUNS-P4] The record of an ended run has its end and the reason',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await owner.commit([started, result('run-a')])
      const run = await readRecord(storage, 'run-a')
      deepStrictEqual([run.status, run.durationMs, run.error], ['FAILED', 12, 'it broke'])
    },
  },
  {
    name: '[RUNS-P4] A write that cannot be stored changes neither events nor steps nor records',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await owner.commit([started])
      const before = await readRecord(storage, 'run-a')
      const write = owner.next(
        [taskStarted(1), completed, reviewRequested('review-1'), result('run-a'), poison()],
        { steps: [step(1)] },
      )
      const [answer] = await storage.runs.commit([write])
      strictEqual(answer?.kind, 'failed')
      deepStrictEqual(await readRecord(storage, 'run-a'), before)
      strictEqual((await storage.runs.tasks('run-a'))[0]?.status, 'PENDING')
      deepStrictEqual(await storage.runs.reviews({}), [])
      deepStrictEqual(await storage.runs.steps('run-a'), [])
      deepStrictEqual(await storage.queue.load(), { running: 1, queued: 0, waiting: 0, parked: 0 })
    },
  },
  {
    name: '[RUNS-P4] A review is open from its request until it is decided, with its expiry',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a', { tags: { by: 'ci' }, actor: 'ada' })
      const request = reviewRequested('review-1', { timeoutMs: 5000 })
      const endless = reviewRequested('review-2')
      await owner.commit([started, request, endless])
      const { ensemble, inputs, tags } = owner.claimed.run
      const run = { runId: 'run-a', ensemble, inputs, tags, actor: 'ada' }
      const base = { ...run, status: 'OPEN', openedAt: AT_MS }
      const open = { ...base, reviewId: 'review-1', request, expiresAt: AT_MS + 5000 }
      const other = { ...base, reviewId: 'review-2', request: endless }
      deepStrictEqual(await storage.runs.reviews({ open: true }), [open, other])
      await owner.commit([reviewDecided('review-1', 'ann'), reviewDecided('review-2')])
      deepStrictEqual(await storage.runs.reviews({}), [
        { ...open, status: 'DECIDED', decidedBy: 'ann' },
        { ...other, status: 'DECIDED' },
      ])
      deepStrictEqual(await storage.runs.reviews({ open: true }), [])
    },
  },
  {
    name: '[RUNS-P4] A review that ended does not change, even if it is requested again',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const ids = ['review-1', 'review-2', 'review-3', 'review-4']
      await owner.commit([started, ...ids.map((id) => reviewRequested(id))])
      await owner.commit([
        { type: 'review_timed_out', reviewId: 'review-1', action: 'CONTINUE' },
        { type: 'review_withdrawn', reviewId: 'review-2', reason: 'over', withdrawnAt: AT },
        reviewDecided('review-3', 'ann'),
        reviewDecided('review-unknown'),
      ])
      await owner.commit([
        ...ids.slice(0, 3).flatMap((id) => [reviewRequested(id), reviewDecided(id, 'bob')]),
        reviewRequested('review-4', { taskOutput: 'other' }),
      ])
      deepStrictEqual(
        (await storage.runs.reviews({})).map(({ reviewId, status, decidedBy, request }) => [
          reviewId,
          status,
          decidedBy,
          request.taskOutput,
        ]),
        [
          ['review-1', 'TIMED_OUT', undefined, 'draft'],
          ['review-2', 'WITHDRAWN', undefined, 'draft'],
          ['review-3', 'DECIDED', 'ann', 'draft'],
          ['review-4', 'OPEN', undefined, 'draft'],
        ],
      )
    },
  },
  {
    name: '[RUNS-P4] Reviews are read in the order in which they opened, by run, id and state',
    async run({ storage }) {
      const a = await ownedRun(storage, 'run-a')
      const b = await ownedRun(storage, 'run-b')
      await b.commit([started, reviewRequested('review-2')])
      await a.commit([started, reviewRequested('review-3'), reviewRequested('review-1')])
      await b.commit([reviewRequested('review-4'), reviewDecided('review-2')])
      const ids = async (query: object): Promise<readonly string[]> =>
        (await storage.runs.reviews(query)).map(({ reviewId }) => reviewId)
      deepStrictEqual(await ids({}), ['review-2', 'review-3', 'review-1', 'review-4'])
      deepStrictEqual(await ids({ open: true }), ['review-3', 'review-1', 'review-4'])
      deepStrictEqual(await ids({ runId: 'run-b' }), ['review-2', 'review-4'])
      deepStrictEqual(await ids({ runId: 'run-b', open: true }), ['review-4'])
      deepStrictEqual(await ids({ reviewId: 'review-2' }), ['review-2'])
      deepStrictEqual(await ids({ reviewId: 'review-2', open: true }), [])
      deepStrictEqual(await ids({ runId: 'run-a', reviewId: 'review-2' }), [])
      deepStrictEqual(await ids({ runId: 'run-z' }), [])
    },
  },
]
