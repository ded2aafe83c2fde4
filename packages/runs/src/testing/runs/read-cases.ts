/** Cases of reads: events, heads, lists, steps and texts. */
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'

import {
  completed,
  failed,
  toLoggedEvents,
  ODD_TEXT,
  queued,
  result,
  reviewDecided,
  reviewRequested,
  started,
  step,
  taskStarted,
  token,
} from '../support/event-fixtures.ts'
import {
  claimRun,
  createRun,
  endedRun,
  OWNER,
  newRun,
  ownedRun,
  parkedRun,
  readAll,
  readRecord,
} from '../support/run-fixtures.ts'

import type { RunCommand } from '@tutti/protocol'
import type { EventQuery } from '../../ports/event-log.ts'
import type { RunStorage } from '../../ports/run-storage.ts'
import type { StorageCase } from '../support/storage-case.ts'
import type { RunStep } from '@tutti/ensemble/internal'

/** A step with unusual text. */
const ODD_STEP: RunStep = {
  kind: 'model_turn',
  taskName: '__proto__',
  attempt: 1,
  taskMs: 1.5,
  runMs: 2,
  iterationIndex: 0,
  latencyMs: 3,
  directiveIds: [],
  reply: {
    text: ODD_TEXT,
    toolCalls: [{ id: 'é', name: 'x', arguments: '{"a":"\\u0000","__proto__":1}' }],
  },
}

export const readCases: readonly StorageCase[] = [
  {
    name: '[RUNS-P3] A read starts at the given number and respects its limit and types',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await owner.commit([token('1'), started, token('2'), token('3')])
      const seqs = async (query: Partial<EventQuery>) => (await readSeqs(storage, query))[0]
      deepStrictEqual(await seqs({ from: 2 }), [2, 3, 4])
      deepStrictEqual(await seqs({ from: 1, limit: 2 }), [1, 2])
      deepStrictEqual(await seqs({ types: ['token'] }), [1, 3, 4])
      deepStrictEqual(await seqs({ types: ['token', 'run_queued'], limit: 3 }), [0, 1, 3])
      deepStrictEqual(await seqs({ types: [] }), [])
      deepStrictEqual(await seqs({ from: 5 }), [])
      deepStrictEqual(await seqs({ runId: 'run-z' }), [])
    },
  },
  {
    name: '[RUNS-P3] A read returns the newest event of the run, regardless of the events that it selects',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await owner.commit([token('1'), started, token('2'), token('3')])
      const read = (query: Partial<EventQuery>) => readSeqs(storage, query)
      deepStrictEqual(await read({ from: 1, limit: 2 }), [[1, 2], 4])
      deepStrictEqual(await read({ from: 3 }), [[3, 4], 4])
      deepStrictEqual(await read({ from: 5 }), [[], 4])
      deepStrictEqual(await read({ from: 9 }), [[], 4])
      deepStrictEqual(await read({ maxBytes: 1 }), [[0], 4])
      deepStrictEqual(await read({ types: ['run_queued'] }), [[0], 4])
      deepStrictEqual(await read({ from: 1, types: ['run_queued'] }), [[], 4])
      deepStrictEqual(await read({ runId: 'run-z' }), [[], undefined])
      await owner.commit([result('run-a')])
      deepStrictEqual(await read({ from: 5 }), [[5], 5])
      await storage.runs.delete('run-a')
      deepStrictEqual(await read({}), [[], undefined])
    },
  },
  {
    name: '[RUNS-P3] Heads are those of the named runs and, for a process that follows all, of the owned runs',
    async run({ storage }) {
      await createRun(storage, 'run-ready')
      await parkedRun(storage, 'run-parked')
      await ownedRun(storage, 'run-owned')
      await endedRun(storage, 'run-ended')
      await endedRun(storage, 'run-other')
      const heads = async (
        all: boolean,
        runIds: readonly string[],
      ): Promise<ReadonlyMap<string, number>> => {
        const found = await storage.events.follow({ runIds, all })
        const byRun = new Map(found.map(({ runId, lastSeq }) => [runId, lastSeq]))
        strictEqual(found.length, byRun.size)
        return byRun
      }
      const owned = ['run-owned', 0] as const
      const ended = ['run-ended', 1] as const
      const parked = ['run-parked', 1] as const
      deepStrictEqual(await heads(true, []), new Map([owned]))
      deepStrictEqual(await heads(false, []), new Map())
      const named = ['run-ended', 'run-owned', 'run-ended', 'run-z', 'run-parked']
      deepStrictEqual(await heads(false, named), new Map([owned, ended, parked]))
      deepStrictEqual(await heads(true, ['run-ended']), new Map([owned, ended]))
    },
  },
  {
    name: '[RUNS-P4] Tags keep their types, and are found by the text form of their value',
    async run({ storage }) {
      const tags = { n: 5, ratio: 0.1, large: 1e21, negative: -3, yes: true, no: false, five: '5' }
      await createRun(storage, 'run-typed', { tags })
      await createRun(storage, 'run-text', { tags: { n: '5', yes: 'true', kind: 'integer' } })
      deepStrictEqual((await storage.runs.get('run-typed'))?.tags, tags)
      const find = async (key: string, value: string) => {
        const page = await storage.runs.list({ tag: { key, value }, limit: 10, offset: 0 })
        return page.runs.map(({ runId }) => runId)
      }
      const both = ['run-text', 'run-typed']
      deepStrictEqual(await find('n', '5'), both)
      deepStrictEqual(await find('yes', 'true'), both)
      deepStrictEqual(await find('five', '5'), ['run-typed'])
      deepStrictEqual(await find('ratio', '0.1'), ['run-typed'])
      deepStrictEqual(await find('large', '1e+21'), ['run-typed'])
      deepStrictEqual(await find('negative', '-3'), ['run-typed'])
      deepStrictEqual(await find('no', 'false'), ['run-typed'])
      deepStrictEqual(await find('n', '5.0'), [])
      deepStrictEqual(await find('yes', '1'), [])
      deepStrictEqual(await find('no', '0'), [])
      deepStrictEqual(await find('n', 'integer'), [])
      deepStrictEqual(await find('kind', 'integer'), ['run-text'])
    },
  },
  {
    name: '[RUNS-P4] Runs are listed newest first, by status and tag, in pages with the full count',
    async run({ storage }) {
      await createRun(storage, 'run-1', { tags: { by: 'ci', env: 'prod' } })
      await endedRun(storage, 'run-2', { tags: { by: 'hand' } })
      await createRun(storage, 'run-3', { tags: { by: 'ci', on: 'hand' } })
      await claimRun(storage, 'run-1')
      const ids = async (query: object): Promise<readonly [readonly string[], number]> => {
        const page = await storage.runs.list({ limit: 10, offset: 0, ...query })
        return [page.runs.map(({ runId }) => runId), page.total]
      }
      deepStrictEqual(await ids({}), [['run-3', 'run-2', 'run-1'], 3])
      deepStrictEqual(await ids({ limit: 1, offset: 1 }), [['run-2'], 3])
      deepStrictEqual(await ids({ offset: 3 }), [[], 3])
      deepStrictEqual(await ids({ statuses: ['FAILED'] }), [['run-2'], 1])
      deepStrictEqual(await ids({ statuses: ['FAILED', 'ACCEPTED'], limit: 2 }), [
        ['run-3', 'run-2'],
        3,
      ])
      deepStrictEqual(await ids({ statuses: [] }), [[], 0])
      deepStrictEqual(await ids({ tag: { key: 'by', value: 'ci' } }), [['run-3', 'run-1'], 2])
      deepStrictEqual(await ids({ tag: { key: 'by', value: 'hand' } }), [['run-2'], 1])
      deepStrictEqual(await ids({ tag: { key: 'env' } }), [['run-1'], 1])
      deepStrictEqual(await ids({ tag: { key: 'by' }, statuses: ['FAILED'] }), [['run-2'], 1])
      deepStrictEqual(await ids({ tag: { key: 'ci' } }), [[], 0])
      deepStrictEqual(await ids({ tag: { key: 'by', value: '' } }), [[], 0])
      deepStrictEqual(await ids({ tag: { key: "'; DROP TABLE runs; --" } }), [[], 0])
    },
  },
  {
    name: '[RUNS-P4] A tag is found by any name and value',
    async run({ storage }) {
      const key = 'a"b\\c="d" $.x é'
      await createRun(storage, 'run-1', { tags: { [key]: 'v"=\\' } })
      await createRun(storage, 'run-2', { tags: { a: 'b\\c="d" $.x é' } })
      const ids = async (tag: { key: string; value?: string }): Promise<readonly string[]> => {
        const page = await storage.runs.list({ limit: 10, offset: 0, tag })
        return page.runs.map(({ runId }) => runId)
      }
      deepStrictEqual(await ids({ key }), ['run-1'])
      deepStrictEqual(await ids({ key, value: 'v"=\\' }), ['run-1'])
      deepStrictEqual(await ids({ key: 'a' }), ['run-2'])
    },
  },
  {
    name: '[RUNS-P4] Steps are read in order, over all owners, for each run separately',
    async run({ storage }) {
      const a = await ownedRun(storage, 'run-a')
      const b = await ownedRun(storage, 'run-b')
      deepStrictEqual(await storage.runs.steps('run-a'), [])
      await storage.runs.commit([
        a.next([started], { steps: [step(1), step(2)] }),
        b.next([], { steps: [step(9)] }),
      ])
      await a.commit([], { steps: [step(3)] })
      await storage.queue.release(a, { kind: 'ready' })
      const next = await claimRun(storage, 'run-a', { ...OWNER, owner: 'owner-b' })
      deepStrictEqual(await storage.runs.steps('run-a'), [step(1), step(2), step(3)])
      await next.commit([], { steps: [step(4)] })
      deepStrictEqual(await storage.runs.steps('run-a'), [step(1), step(2), step(3), step(4)])
      deepStrictEqual(await storage.runs.steps('run-b'), [step(9)])
      deepStrictEqual(await storage.runs.steps('run-z'), [])
      strictEqual((await readRecord(storage, 'run-a')).lastSeq, 1)
    },
  },
  {
    name: '[RUNS-P4] Events and steps are read as they were written, including unusual characters',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await owner.commit([token(ODD_TEXT)], { steps: [ODD_STEP] })
      deepStrictEqual((await readAll(storage, 'run-a'))[1], {
        ...token(ODD_TEXT),
        runId: 'run-a',
        seq: 1,
        id: 'run-a:1',
      })
      deepStrictEqual(await storage.runs.steps('run-a'), [ODD_STEP])
    },
  },
  {
    name: '[RUNS-P4] Steps are read only if they are within the limit in bytes of JSON',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const steps = [step(1), { ...ODD_STEP }]
      await owner.commit([], { steps })
      const bytes = steps.reduce((sum, one) => sum + Buffer.byteLength(JSON.stringify(one)), 0)
      deepStrictEqual(await storage.runs.steps('run-a', { maxBytes: bytes }), steps)
      await rejects(storage.runs.steps('run-a', { maxBytes: bytes - 1 }), {
        code: 'RUN_TOO_LARGE',
        message: `Run run-a has ${bytes} bytes in the store; at most ${bytes - 1} are allowed (maxStoredRunBytes)`,
      })
      deepStrictEqual(await storage.runs.steps('run-z', { maxBytes: 0 }), [])
    },
  },
  {
    name: '[RUNS-P4] The texts of a run and its tasks are stored unchanged, including unusual characters',
    async run({ storage }) {
      const texts = { [ODD_TEXT]: ODD_TEXT }
      const run = newRun('run-a', { inputs: texts, tags: texts })
      await storage.runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns: 1 })
      const owner = await claimRun(storage, 'run-a')
      const planned = { name: ODD_TEXT, description: ODD_TEXT, agentRole: ODD_TEXT, context: [] }
      await owner.commit([
        { ...started, tasks: [planned, planned] },
        { ...taskStarted(1), taskDescription: `1 ${ODD_TEXT}` },
        { ...completed, output: ODD_TEXT },
        { ...failed, taskIndex: 2, reason: ODD_TEXT },
      ])
      const [first, second] = await storage.runs.tasks('run-a')
      deepStrictEqual(
        [first?.name, first?.description, first?.agentRole, first?.output, first?.error],
        [ODD_TEXT, `1 ${ODD_TEXT}`, ODD_TEXT, ODD_TEXT, undefined],
      )
      deepStrictEqual([second?.description, second?.error], [ODD_TEXT, ODD_TEXT])
      await owner.commit([result('run-a', { error: ODD_TEXT })])
      const stored = await readRecord(storage, 'run-a')
      deepStrictEqual([stored.inputs, stored.tags, stored.error], [texts, texts, ODD_TEXT])
      const [listed] = (await storage.runs.list({ limit: 1, offset: 0 })).runs
      deepStrictEqual([listed?.tags, listed?.error], [texts, ODD_TEXT])
    },
  },
  {
    name: '[RUNS-P4] Review requests and reviewers are stored unchanged, including unusual characters',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const toolInput = JSON.parse('{"__proto__":{"text":"nul \\u0000 \\ud800"},"n":1}')
      const request = reviewRequested('review-1', { taskOutput: ODD_TEXT, toolInput })
      await owner.commit([request, reviewDecided('review-1', ODD_TEXT)])
      const [review] = await storage.runs.reviews({ runId: 'run-a' })
      ok(review !== undefined)
      strictEqual(JSON.stringify(review.request.toolInput), JSON.stringify(toolInput))
      strictEqual(review.request.taskOutput, ODD_TEXT)
      strictEqual(review.decidedBy, ODD_TEXT)
    },
  },
  {
    name: '[RUNS-W1] Commands and answers are stored unchanged, including unusual characters',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const input = JSON.parse('{"__proto__":["\\u0000"]}')
      const commands: readonly RunCommand[] = [
        { kind: 'inject', directive: { content: ODD_TEXT, to: 'Player', ttlMs: 5 } },
        { kind: 'decide', reviewId: 'review-1', decision: { action: 'EDIT', input } },
        { kind: 'switch_model', model: ODD_TEXT },
      ]
      for (const command of commands) await storage.commands.send('run-a', command)
      const pending = await storage.commands.pending(['run-a'])
      deepStrictEqual(
        pending.map(({ command }) => JSON.stringify(command)),
        commands.map((command) => JSON.stringify(command)),
      )
      const [first, second, third] = pending.map(({ id }) => id)
      ok(first !== undefined && second !== undefined && third !== undefined)
      const error = { code: 'BAD_REQUEST', message: ODD_TEXT, retryable: false } as const
      const answers = [
        { commandId: first, ok: true, value: { text: ODD_TEXT, list: [null, 1.5] } },
        { commandId: second, ok: false, error: { ...error, details: { of: [ODD_TEXT] } } },
        { commandId: third, ok: true },
      ] as const
      await owner.commit([], { answers })
      for (const answer of answers) {
        deepStrictEqual(await storage.commands.answer(answer.commandId), answer)
      }
    },
  },
  {
    name: '[RUNS-P1] Names such as __proto__ in inputs and tags are ordinary values',
    async run({ storage }) {
      const inputs: Record<string, string> = JSON.parse('{"__proto__":"x","constructor":"y"}')
      const run = newRun('run-a', { inputs, tags: inputs })
      await storage.runs.create(run, { firstEvent: queued(run), maxUnfinishedRuns: 1 })
      const stored = await readRecord(storage, 'run-a')
      strictEqual(JSON.stringify(stored.inputs), JSON.stringify(inputs))
      ok(Object.hasOwn(stored.tags, '__proto__'))
      const tag = { key: '__proto__', value: 'x' }
      strictEqual((await storage.runs.list({ limit: 1, offset: 0, tag })).total, 1)
    },
  },
  {
    name: '[RUNS-P3] Events that are read equal those that were written, character by character',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const written = await owner.commit([started, token(''), completed])
      ok(written.kind === 'written')
      deepStrictEqual(written.events, toLoggedEvents('run-a', 1, [started, token(''), completed]))
      deepStrictEqual((await readAll(storage, 'run-a')).slice(1), written.events)
    },
  },
]

/** Reads events of `run-a` by default; returns their numbers, and that of the run's newest event. */
async function readSeqs(
  storage: RunStorage,
  query: Partial<EventQuery>,
): Promise<readonly [seqs: readonly number[], lastSeq: number | undefined]> {
  const { events, lastSeq } = await storage.events.read({
    runId: 'run-a',
    from: 0,
    limit: 9,
    ...query,
  })
  return [events.map(({ seq }) => seq), lastSeq]
}
