/**
 * The cases that every adapter of the storage ports passes. A test of an adapter opens a fresh storage
 * and runs each case; a case throws when the adapter breaks its contract (P1 to P6 of the ports).
 */
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'

import type { RunStorage, RunWrite } from '../ports/run-store.ts'
import type { NewRun } from '../run-record.ts'
import type { RunStep } from '@tutti/ensemble'
import type { RunEvent, RunEventOf } from '@tutti/protocol'

/** One case: its name is the rule. */
export interface RunStorageCase {
  readonly name: string
  run(storage: RunStorage): Promise<void>
}

const AT = '2026-01-01T00:00:00.000Z'
const AT_MS = Date.parse(AT)

/** A run to be kept. */
export function newRun(runId: string, changes: Partial<NewRun> = {}): NewRun {
  return {
    runId,
    ensemble: 'band',
    workflow: 'SEQUENTIAL',
    inputs: { topic: 'käse & "quotes"' },
    tags: {},
    taskCount: 2,
    createdAt: AT_MS,
    ...changes,
  }
}

/** The first event of a run. */
export function queued(run: NewRun): RunEvent {
  return {
    type: 'run_queued',
    queuedAt: AT,
    ensemble: run.ensemble,
    workflow: run.workflow,
    totalTasks: run.taskCount,
    inputs: { ...run.inputs },
    tags: { ...run.tags },
  }
}

const who = (taskIndex: number) => ({
  taskIndex,
  taskName: `task-${taskIndex}`,
  taskDescription: `Task ${taskIndex}`,
  agentRole: 'Player',
  attempt: 1,
})

const started: RunEventOf<'ensemble_started'> = {
  type: 'ensemble_started',
  ensembleId: 'e',
  startedAt: AT,
  totalTasks: 2,
  workflow: 'SEQUENTIAL',
  ensemble: 'band',
  tasks: [1, 2].map((index) => ({
    name: `task-${index}`,
    description: `Task ${index}`,
    agentRole: 'Player',
    context: [],
  })),
}

/** A token event whose text is `token`. */
export function token(text: string, taskIndex = 1): RunEventOf<'token'> {
  return { type: 'token', token: text, ...who(taskIndex), iterationIndex: 0, sentAt: AT }
}

const completed: RunEventOf<'task_completed'> = {
  type: 'task_completed',
  ...who(1),
  totalTasks: 2,
  completedAt: AT,
  durationMs: 7,
  tokenCount: 30,
  toolCallCount: 2,
  output: 'first output',
  inputTokens: 20,
  outputTokens: 10,
  iterationLimitReached: false,
  costUsd: 0.5,
}

const failed: RunEventOf<'task_failed'> = {
  type: 'task_failed',
  ...who(1),
  failedAt: AT,
  reason: 'it broke',
  durationMs: 3,
  code: 'TASK_FAILED',
  inputTokens: 5,
  outputTokens: 6,
  toolCallCount: 1,
  costUsd: 0.25,
  willRetry: true,
}

const snapshot: RunEventOf<'metrics_snapshot'> = {
  type: 'metrics_snapshot',
  ...who(1),
  inputTokens: 3,
  outputTokens: -1,
  llmLatencyMs: 1,
  toolExecutionTimeMs: 1,
  iterationCount: 1,
  costEstimate: '0.5',
}

/** A delegation whose work is the task of that index. */
function delegated(workerTaskIndex: number): RunEventOf<'delegation_started'> {
  return {
    type: 'delegation_started',
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

/** A step that can be told from others. */
function step(runMs: number): RunStep {
  return { kind: 'run_begun', startedAt: AT_MS, runMs }
}

/** The last event of a run. */
export function result(runId: string): RunEventOf<'run_result'> {
  return {
    type: 'run_result',
    runId,
    status: 'FAILED',
    outputs: [],
    durationMs: 12,
    metrics: { totalTokens: 30, totalToolCalls: 2 },
    error: 'it broke',
  }
}

/** The cases. */
export const runStorageCases: readonly RunStorageCase[] = [
  {
    name: '[P1] a new run and its first event are there together',
    async run(storage) {
      const run = newRun('run-a', { tags: { by: 'ci' } })
      const first = await storage.runs.create(run, queued(run))
      deepStrictEqual([first.seq, first.id, first.runId], [0, 'run-a:0', 'run-a'])
      const kept = await storage.runs.get('run-a')
      deepStrictEqual(kept, { ...run, status: 'ACCEPTED', completedTasks: 0, epoch: 0, lastSeq: 0 })
      deepStrictEqual(await readAll(storage, 'run-a'), [first])
      deepStrictEqual(await storage.runs.tasks('run-a'), [])
    },
  },
  {
    name: '[P1] a run id is taken once, and the second taker changes nothing',
    async run(storage) {
      const run = newRun('run-a')
      await storage.runs.create(run, queued(run))
      const other = newRun('run-a', { ensemble: 'other' })
      await rejects(storage.runs.create(other, queued(other)), { code: 'RUN_EXISTS' })
      strictEqual((await storage.runs.get('run-a'))?.ensemble, 'band')
      strictEqual((await readAll(storage, 'run-a')).length, 1)
    },
  },
  {
    name: '[P2] each claim raises the epoch; a writer with an older one is fenced and writes nothing',
    async run(storage) {
      const first = await createAndClaim(storage, 'run-a')
      const second = await storage.runs.claim('run-a')
      strictEqual(second?.run.epoch, first + 1)
      const answers = await storage.runs.commit([write('run-a', first, [token('zombie')])])
      deepStrictEqual(answers, [{ kind: 'fenced' }])
      strictEqual((await readAll(storage, 'run-a')).length, 1)
    },
  },
  {
    name: '[P2] a run that is finished or unknown cannot be claimed',
    async run(storage) {
      const epoch = await createAndClaim(storage, 'run-a')
      await storage.runs.commit([write('run-a', epoch, [result('run-a')])])
      strictEqual(await storage.runs.claim('run-a'), undefined)
      strictEqual(await storage.runs.claim('run-b'), undefined)
    },
  },
  {
    name: '[P3] sequence numbers are gapless across batches and owners, and apart for each run',
    async run(storage) {
      const a = await createAndClaim(storage, 'run-a')
      const b = await createAndClaim(storage, 'run-b')
      await storage.runs.commit([
        write('run-a', a, [token('1'), token('2')]),
        write('run-b', b, [token('x')]),
      ])
      const next = await storage.runs.claim('run-a')
      await storage.runs.commit([write('run-a', next?.run.epoch ?? -1, [token('3')])])
      deepStrictEqual(
        (await readAll(storage, 'run-a')).map(({ seq }) => seq),
        [0, 1, 2, 3],
      )
      deepStrictEqual(
        (await readAll(storage, 'run-b')).map(({ seq }) => seq),
        [0, 1],
      )
      strictEqual((await storage.runs.get('run-a'))?.lastSeq, 3)
    },
  },
  {
    name: '[P4] the records follow from the events',
    async run(storage) {
      const epoch = await createAndClaim(storage, 'run-a')
      await storage.runs.commit([
        write('run-a', epoch, [
          started,
          { type: 'task_started', ...who(1), totalTasks: 2, startedAt: AT },
          completed,
          { type: 'task_started', ...who(2), totalTasks: 2, startedAt: AT },
        ]),
      ])
      const run = await storage.runs.get('run-a')
      deepStrictEqual(
        [run?.status, run?.startedAt, run?.completedTasks, run?.error],
        ['RUNNING', AT_MS, 1, undefined],
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
      })
      deepStrictEqual([second?.status, run?.taskCount], ['RUNNING', 2])
    },
  },
  {
    name: '[P4] a task counts what all its attempts have used, and shows the latest',
    async run(storage) {
      const epoch = await createAndClaim(storage, 'run-a')
      const again = { ...who(1), attempt: 2, taskDescription: 'Task 1, edited' }
      const rows = async (events: readonly RunEvent[]): Promise<readonly unknown[]> => {
        await storage.runs.commit([write('run-a', epoch, events)])
        const [task] = await storage.runs.tasks('run-a')
        ok(task !== undefined)
        const { status, attempt, inputTokens, outputTokens, toolCallCount, costUsd, error } = task
        return [status, attempt, inputTokens, outputTokens, toolCallCount, costUsd, error]
      }
      deepStrictEqual(
        await rows([started, { type: 'task_started', ...who(1), totalTasks: 2, startedAt: AT }]),
        ['RUNNING', 1, 0, 0, 0, 0, undefined],
      )
      deepStrictEqual(await rows([failed]), ['FAILED', 1, 5, 6, 1, 0.25, 'it broke'])
      deepStrictEqual(
        await rows([{ type: 'task_started', ...again, totalTasks: 2, startedAt: AT }]),
        ['RUNNING', 2, 5, 6, 1, 0.25, undefined],
      )
      const [task] = await storage.runs.tasks('run-a')
      deepStrictEqual(
        [task?.description, task?.completedAt, task?.durationMs],
        ['Task 1, edited', undefined, undefined],
      )
      deepStrictEqual(await rows([snapshot]), ['RUNNING', 2, 8, -1, 1, 0.75, undefined])
      deepStrictEqual(await rows([completed]), ['COMPLETED', 2, 25, 16, 3, 0.75, undefined])
    },
  },
  {
    name: '[P4] what one attempt does not say is not known of the task',
    async run(storage) {
      const epoch = await createAndClaim(storage, 'run-a')
      const { costUsd: _, ...unpriced } = failed
      const start = { type: 'task_started', ...who(1), totalTasks: 2, startedAt: AT } as const
      await storage.runs.commit([
        write('run-a', epoch, [
          started,
          start,
          { ...unpriced, inputTokens: -1 },
          { ...start, attempt: 2 },
          { ...failed, attempt: 2 },
          { ...start, attempt: 3 },
          completed,
        ]),
      ])
      const [task] = await storage.runs.tasks('run-a')
      deepStrictEqual(
        [task?.inputTokens, task?.outputTokens, task?.toolCallCount, task?.costUsd],
        [-1, 22, 4, undefined],
      )
    },
  },
  {
    name: '[P4] a delegation adds its task once, and leaves one of the plan as it is',
    async run(storage) {
      const epoch = await createAndClaim(storage, 'run-a')
      await storage.runs.commit([
        write('run-a', epoch, [started, delegated(1), delegated(3), delegated(3)]),
      ])
      const tasks = await storage.runs.tasks('run-a')
      deepStrictEqual(
        tasks.map(({ taskIndex, name, description, agentRole, status }) => [
          taskIndex,
          name,
          description,
          agentRole,
          status,
        ]),
        [
          [1, 'task-1', 'Task 1', 'Player', 'PENDING'],
          [2, 'task-2', 'Task 2', 'Player', 'PENDING'],
          [3, 'worker-3', 'Help out', 'Worker', 'PENDING'],
        ],
      )
      strictEqual((await storage.runs.get('run-a'))?.taskCount, 3)
    },
  },
  {
    name: '[P6] a claim gives the steps of all owners in their order, each run its own',
    async run(storage) {
      const a = await createAndClaim(storage, 'run-a')
      const b = await createAndClaim(storage, 'run-b')
      await storage.runs.commit([
        write('run-a', a, [started], [step(1), step(2)]),
        write('run-b', b, [], [step(9)]),
        write('run-a', a, [token('x')], [step(3)]),
      ])
      const next = await storage.runs.claim('run-a')
      deepStrictEqual(next?.steps, [step(1), step(2), step(3)])
      await storage.runs.commit([write('run-a', next.run.epoch, [], [step(4)])])
      deepStrictEqual(await stepsOf(storage, 'run-a'), [step(1), step(2), step(3), step(4)])
      deepStrictEqual(await stepsOf(storage, 'run-b'), [step(9)])
    },
  },
  {
    name: '[P6] a run that has not begun has no steps; steps alone add no event',
    async run(storage) {
      const epoch = await createAndClaim(storage, 'run-a')
      deepStrictEqual(await stepsOf(storage, 'run-a'), [])
      const fenced = await storage.runs.commit([write('run-a', epoch, [], [step(1)])])
      deepStrictEqual(fenced, [{ kind: 'fenced' }])
      const claimed = await storage.runs.claim('run-a')
      deepStrictEqual(claimed?.steps, [])
      const answers = await storage.runs.commit([
        write('run-a', claimed.run.epoch, [], [step(1)]),
        write('run-a', claimed.run.epoch, [token('x')]),
      ])
      deepStrictEqual(
        answers.map((answer) => answer.kind === 'written' && answer.events.map(({ seq }) => seq)),
        [[], [1]],
      )
      deepStrictEqual(await stepsOf(storage, 'run-a'), [step(1)])
    },
  },
  {
    name: '[P6] a run that has ended keeps no steps, also none that come with its end',
    async run(storage) {
      const a = await createAndClaim(storage, 'run-a')
      const b = await createAndClaim(storage, 'run-b')
      await storage.runs.commit([
        write('run-a', a, [], [step(1)]),
        write('run-b', b, [], [step(1)]),
      ])
      await storage.runs.commit([write('run-a', a, [result('run-a')], [step(2)])])
      strictEqual(await storage.runs.claim('run-a'), undefined)
      deepStrictEqual(await storage.runs.steps('run-a'), [])
      deepStrictEqual(await storage.runs.steps('run-b'), [step(1)])
    },
  },
  {
    name: '[P6] steps come back as they were written, control characters and all',
    async run(storage) {
      const epoch = await createAndClaim(storage, 'run-a')
      const turn: RunStep = {
        kind: 'model_turn',
        taskName: '__proto__',
        attempt: 1,
        taskMs: 1.5,
        runMs: 2,
        iterationIndex: 0,
        latencyMs: 3,
        directiveIds: [],
        reply: {
          text: 'nul \u0000 lone \ud800 emoji 🎻 "quoted"',
          toolCalls: [{ id: 'é', name: 'x', arguments: '{"a":"\\u0000"}' }],
        },
      }
      await storage.runs.commit([write('run-a', epoch, [], [turn])])
      deepStrictEqual(await stepsOf(storage, 'run-a'), [turn])
    },
  },
  {
    name: '[P4] the end of a run is in its record with the reason',
    async run(storage) {
      const epoch = await createAndClaim(storage, 'run-a')
      await storage.runs.commit([write('run-a', epoch, [started, result('run-a')])])
      const run = await storage.runs.get('run-a')
      deepStrictEqual([run?.status, run?.durationMs, run?.error], ['FAILED', 12, 'it broke'])
    },
  },
  {
    name: '[P5] a write that cannot be kept leaves the others of its batch as they are',
    async run(storage) {
      const a = await createAndClaim(storage, 'run-a')
      const b = await createAndClaim(storage, 'run-b')
      const poison = { ...token(''), token: { toJSON: poisoned } }
      const answers = await storage.runs.commit([
        // NOTE: a value that no event can hold, to make the write fail inside the store.
        write('run-a', a, [token('lost'), poison as unknown as RunEvent], [step(1)]),
        write('run-b', b, [token('kept')], [step(2)]),
      ])
      deepStrictEqual(
        answers.map(({ kind }) => kind),
        ['failed', 'written'],
      )
      strictEqual((await readAll(storage, 'run-a')).length, 1)
      strictEqual((await readAll(storage, 'run-b')).length, 2)
      deepStrictEqual(await stepsOf(storage, 'run-a'), [])
      deepStrictEqual(await stepsOf(storage, 'run-b'), [step(2)])
    },
  },
  {
    name: 'events come back as they were written, control characters and all',
    async run(storage) {
      const epoch = await createAndClaim(storage, 'run-a')
      const text = 'nul \u0000 tab \t emoji 🎻 lone \ud800 end'
      await storage.runs.commit([write('run-a', epoch, [token(text)])])
      const [, event] = await readAll(storage, 'run-a')
      deepStrictEqual(event, { ...token(text), runId: 'run-a', seq: 1, id: 'run-a:1' })
    },
  },
  {
    name: 'a read begins where it is told, keeps to its limit and to the wanted types',
    async run(storage) {
      const epoch = await createAndClaim(storage, 'run-a')
      await storage.runs.commit([
        write('run-a', epoch, [token('1'), started, token('2'), token('3')]),
      ])
      const seqs = async (query: object): Promise<readonly number[]> => {
        const events = await storage.events.read({ runId: 'run-a', from: 0, limit: 9, ...query })
        return events.map(({ seq }) => seq)
      }
      deepStrictEqual(await seqs({ from: 2 }), [2, 3, 4])
      deepStrictEqual(await seqs({ from: 1, limit: 2 }), [1, 2])
      deepStrictEqual(await seqs({ types: ['token'] }), [1, 3, 4])
      deepStrictEqual(await seqs({ from: 5 }), [])
      deepStrictEqual(await seqs({ runId: 'run-z' }), [])
    },
  },
  {
    name: 'runs are listed newest first, by status and tag, in pages with the full count',
    async run(storage) {
      await createAndClaim(storage, 'run-1', { tags: { by: 'ci', env: 'prod' } })
      const epoch = await createAndClaim(storage, 'run-2', { tags: { by: 'hand' } })
      await createAndClaim(storage, 'run-3', { tags: { by: 'ci' } })
      await storage.runs.commit([write('run-2', epoch, [result('run-2')])])
      const ids = async (query: object): Promise<readonly [readonly string[], number]> => {
        const page = await storage.runs.list({ limit: 10, offset: 0, ...query })
        return [page.runs.map(({ runId }) => runId), page.total]
      }
      deepStrictEqual(await ids({}), [['run-3', 'run-2', 'run-1'], 3])
      deepStrictEqual(await ids({ limit: 1, offset: 1 }), [['run-2'], 3])
      deepStrictEqual(await ids({ statuses: ['FAILED'] }), [['run-2'], 1])
      deepStrictEqual(await ids({ tag: { key: 'by', value: 'ci' } }), [['run-3', 'run-1'], 2])
      deepStrictEqual(await ids({ tag: { key: 'env' } }), [['run-1'], 1])
      deepStrictEqual(await ids({ tag: { key: "'; DROP TABLE runs; --" } }), [[], 0])
    },
  },
  {
    name: 'unfinished runs are named oldest first',
    async run(storage) {
      await createAndClaim(storage, 'run-1')
      const epoch = await createAndClaim(storage, 'run-2')
      await createAndClaim(storage, 'run-3')
      await storage.runs.commit([write('run-2', epoch, [result('run-2')])])
      deepStrictEqual(await storage.runs.unfinished(), ['run-1', 'run-3'])
    },
  },
  {
    name: 'keys such as __proto__ in inputs and tags are values like others',
    async run(storage) {
      const inputs: Record<string, string> = JSON.parse('{"__proto__":"x","constructor":"y"}')
      const run = newRun('run-a', { inputs, tags: inputs })
      await storage.runs.create(run, queued(run))
      const kept = await storage.runs.get('run-a')
      strictEqual(JSON.stringify(kept?.inputs), JSON.stringify(inputs))
      ok(Object.hasOwn(kept?.tags ?? {}, '__proto__'))
    },
  },
]

function write(
  runId: string,
  epoch: number,
  events: readonly RunEvent[],
  steps: readonly RunStep[] = [],
): RunWrite {
  return { runId, epoch, events, steps }
}

async function stepsOf(storage: RunStorage, runId: string): Promise<readonly RunStep[]> {
  const claimed = await storage.runs.claim(runId)
  ok(claimed !== undefined)
  return claimed.steps
}

async function createAndClaim(
  storage: RunStorage,
  runId: string,
  changes: Partial<NewRun> = {},
): Promise<number> {
  const run = newRun(runId, changes)
  await storage.runs.create(run, queued(run))
  const claimed = await storage.runs.claim(runId)
  ok(claimed !== undefined)
  return claimed.run.epoch
}

async function readAll(storage: RunStorage, runId: string) {
  return storage.events.read({ runId, from: 0, limit: 1000 })
}

function poisoned(): never {
  throw new Error('this value cannot be written')
}
