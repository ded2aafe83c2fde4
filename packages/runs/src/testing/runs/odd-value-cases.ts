/**
 * Cases of generated numbers, texts and dates: every store accepts and refuses the same ones, returns what it accepted
 * unchanged, and is not affected by what it refused (RUNS-C7, RUNS-P5, RUNS-P21).
 */
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
  step,
  taskStarted,
  toolEnded,
} from '../support/event-fixtures.ts'
import { createRun, endedRun, ownedRun, readAll, readRecord } from '../support/run-fixtures.ts'

import type { RunStorage } from '../../ports/run-storage.ts'
import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'
import type { StorageCase } from '../support/storage-case.ts'

const NUMBERS: readonly number[] = [
  0,
  -0,
  1,
  -1,
  -2,
  0.5,
  -1.5,
  2 ** 31 - 1,
  2 ** 31,
  2 ** 53 - 2,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 53 + 2,
  2 ** 63,
  1e308,
  Number.MAX_VALUE,
  5e-324,
  Number.NaN,
  Infinity,
  -Infinity,
]

const TEXTS: readonly string[] = [
  '',
  'a\u0000b',
  '\u0000',
  '\ud800',
  'x\udc00',
  '\uffff\ufffe',
  'e\u0301\u0323',
  '\\u0000 \\" \\',
  "'; DROP TABLE runs; --",
  '%_*',
  '🎻',
  ODD_TEXT,
  'ü'.repeat(1_000_000),
]

const LAST_TIME = Date.parse('9999-12-31T23:59:59.999Z')

type Accepts = (value: number) => boolean

const isCount: Accepts = (value) => Number.isSafeInteger(value) && value >= 0
const isTokens: Accepts = (value) => Number.isSafeInteger(value) && value >= -1
const isSmall: Accepts = (value) => isCount(value) && value < 2 ** 31
const isCost: Accepts = (value) => Number.isFinite(value) && value >= 0

/** A number of an event, and the record in which it can be read. */
interface NumberField {
  readonly name: string
  readonly accepts: Accepts
  toEvents(value: number, runId: string): readonly RunEvent[]
  /** Returns the value of the record. @default the same */
  readonly expected?: (value: number) => number
  read(storage: RunStorage, runId: string): Promise<unknown>
}

const readTask =
  (field: 'attempt' | 'durationMs' | 'inputTokens' | 'toolCallCount' | 'costUsd') =>
  async ({ runs }: RunStorage, runId: string): Promise<unknown> =>
    (await runs.tasks(runId))[0]?.[field]

const NUMBER_FIELDS: readonly NumberField[] = [
  {
    name: 'attempt',
    accepts: isSmall,
    toEvents: (attempt) => [{ ...taskStarted(1), attempt }],
    read: readTask('attempt'),
  },
  {
    name: 'duration of a task',
    accepts: isCount,
    toEvents: (durationMs) => [{ ...completed, durationMs }],
    read: readTask('durationMs'),
  },
  {
    name: 'duration of a failed attempt',
    accepts: isCount,
    toEvents: (durationMs) => [{ ...failed, durationMs }],
    read: readTask('durationMs'),
  },
  {
    name: 'input tokens',
    accepts: isTokens,
    toEvents: (inputTokens) => [{ ...completed, inputTokens }],
    read: readTask('inputTokens'),
  },
  {
    name: 'input tokens of a snapshot',
    accepts: isTokens,
    toEvents: (inputTokens) => [snapshot({ inputTokens })],
    read: readTask('inputTokens'),
  },
  {
    name: 'tool calls',
    accepts: isCount,
    toEvents: (toolCallCount) => [{ ...completed, toolCallCount }],
    read: readTask('toolCallCount'),
  },
  {
    name: 'cost',
    accepts: isCost,
    toEvents: (costUsd) => [{ ...completed, costUsd }],
    read: readTask('costUsd'),
  },
  {
    name: 'duration of a run',
    accepts: isCount,
    toEvents: (durationMs, runId) => [result(runId, { durationMs })],
    read: async ({ runs }, runId) => (await runs.get(runId))?.durationMs,
  },
  {
    name: 'time limit of a review',
    accepts: (value) => isCount(AT_MS + value) && AT_MS + value <= LAST_TIME,
    expected: (value) => (value === 0 ? 0 : AT_MS + value),
    toEvents: (timeoutMs) => [reviewRequested('review-a', { timeoutMs })],
    read: async ({ runs }, runId) => {
      const [review] = await runs.reviews({ runId })
      return review?.expiresAt ?? 0
    },
  },
]

function snapshot(fields: { readonly inputTokens: number }): RunEvent {
  return {
    type: 'metrics_snapshot',
    taskIndex: 1,
    taskName: 'task-1',
    agentRole: 'Player',
    attempt: 1,
    outputTokens: 0,
    llmLatencyMs: 0,
    toolExecutionTimeMs: 0,
    iterationCount: 0,
    ...fields,
  }
}

/** Returns all events of a run but the first, in pages. */
async function readPages(storage: RunStorage, runId: string): Promise<readonly LoggedRunEvent[]> {
  const found: LoggedRunEvent[] = []
  for (;;) {
    const from = (found.at(-1)?.seq ?? 0) + 1
    const { events } = await storage.events.read({ runId, from, limit: 9 })
    if (events.length === 0) return found
    found.push(...events)
  }
}

function numberCase(field: NumberField): StorageCase {
  return {
    name: `[RUNS-C7] The ${field.name} is stored unchanged or refused, and a refused one changes nothing`,
    async run({ storage }) {
      for (const [index, value] of NUMBERS.entries()) {
        const runId = `run-${index}`
        const owner = await ownedRun(storage, runId)
        await owner.commit([started], { steps: [step(1)] })
        const { lastSeq } = await readRecord(storage, runId)
        const write = owner.next(field.toEvents(value, runId))
        const [written] = await storage.runs.commit([write])
        const what = `${field.name} ${value}`
        if (field.accepts(value)) {
          strictEqual(written?.kind, 'written', `${what} is stored`)
          // The sign of zero has no meaning, and no store keeps it.
          const expected = field.expected?.(value) ?? value
          strictEqual(Number(await field.read(storage, runId)) + 0, expected + 0, what)
        } else {
          strictEqual(written?.kind, 'failed', `${what} is refused`)
          strictEqual((await readRecord(storage, runId)).lastSeq, lastSeq, what)
          const [next] = await storage.runs.commit([{ ...write, events: [result(runId)] }])
          strictEqual(next?.kind, 'written', `the run ends after ${what} was refused`)
        }
        ok((await readAll(storage, runId)).length > 0, what)
        strictEqual((await storage.runs.list({ limit: 1000 })).total, index + 1, what)
        ok(Array.isArray(await storage.runs.reviews({ open: true })), what)
      }
    },
  }
}

const DATES: Readonly<Record<string, boolean>> = {
  [AT]: true,
  '1970-01-01T00:00:00.000Z': true,
  '9999-12-31T23:59:59.999Z': true,
  '1969-12-31T23:59:59.999Z': false,
  '0000-01-01T00:00:00.000Z': false,
  '+010000-01-01T00:00:00.000Z': false,
  '+275760-09-13T00:00:00.000Z': false,
  'no date': false,
  '': false,
}

/** Events with a date that becomes a column. */
const DATED: Readonly<Record<string, (at: string) => RunEvent>> = {
  'start of a task': (startedAt) => ({ ...taskStarted(1), startedAt }),
  'end of a task': (completedAt) => ({ ...completed, completedAt }),
  'failure of an attempt': (failedAt) => ({ ...failed, failedAt }),
  'opening of a review': (requestedAt) => reviewRequested('review-a', { requestedAt }),
  'end of a run': (completedAt) => ({
    type: 'ensemble_completed',
    ensembleId: 'e',
    completedAt,
    durationMs: 1,
    exitReason: 'ERROR',
    totalTokens: 0,
    totalToolCalls: 0,
  }),
}

const dateCases: readonly StorageCase[] = Object.entries(DATED).map(([name, toEvent]) => ({
  name: `[RUNS-C7] The time of the ${name} is a date of the years 1970 to 9999, or refused`,
  async run({ storage }) {
    for (const [index, [date, isFine]] of Object.entries(DATES).entries()) {
      const owner = await ownedRun(storage, `run-${index}`)
      await owner.commit([started], { steps: [step(1)] })
      const written = await owner.commit([toEvent(date)])
      strictEqual(written.kind, isFine ? 'written' : 'failed', date)
    }
  },
}))

const batchCase: StorageCase = {
  name: '[RUNS-P5] A refused number does not affect the other writes of its batch',
  async run({ storage }) {
    const owners = [
      await ownedRun(storage, 'run-a'),
      await ownedRun(storage, 'run-b'),
      await ownedRun(storage, 'run-c'),
    ]
    for (const owner of owners) await owner.commit([started], { steps: [step(1)] })
    const writes = owners.map((owner) =>
      owner.next([owner.runId === 'run-b' ? { ...completed, inputTokens: Number.NaN } : completed]),
    )
    const kinds = (await storage.runs.commit(writes)).map(({ kind }) => kind)
    deepStrictEqual(kinds, ['written', 'failed', 'written'])
  },
}

const textCases: readonly StorageCase[] = [
  {
    name: '[RUNS-P21] Every text of a new run is read as it was written',
    async run({ storage }) {
      for (const [index, text] of TEXTS.entries()) {
        const given = {
          // Names of ensembles are well-formed: `ensemble` refuses others.
          ensemble: `band ${text.slice(0, 100).toWellFormed()}`,
          inputs: { [`input ${text.slice(0, 100)}`]: text },
          tags: { [`tag ${text.slice(0, 100)}`]: text },
          actor: `actor ${text}`,
          webhooks: [`hook ${text}`],
          request: { history: [{ role: 'user' as const, content: text }] },
        }
        const submission = { idempotencyKey: `key ${text}`, fingerprint: `print ${text}` }
        const run = await createRun(storage, `run-${index}`, { ...given, submission })
        const { ensemble, inputs, tags, actor, webhooks, request, unreadable } = run
        deepStrictEqual({ ensemble, inputs, tags, actor, webhooks, request }, given)
        strictEqual(unreadable, undefined)
        const value = text
        const key = `tag ${text.slice(0, 100)}`
        // Half of a surrogate pair cannot be a part of a query over HTTP.
        const found = await storage.runs.list({ tag: { key, value }, limit: 10 })
        deepStrictEqual(
          found.runs.map(({ runId }) => runId),
          text.isWellFormed() ? [`run-${index}`] : found.runs.map(({ runId }) => runId),
        )
        const ofEnsemble = await storage.runs.list({ ensemble: given.ensemble, limit: 10 })
        deepStrictEqual(
          ofEnsemble.runs.map(({ runId }) => runId),
          [`run-${index}`],
        )
      }
    },
  },
  {
    name: '[RUNS-P21] Every text of an event and a step is read as it was written',
    async run({ storage }) {
      for (const [index, text] of TEXTS.entries()) {
        const runId = `run-${index}`
        const owner = await ownedRun(storage, runId)
        const task = { ...taskStarted(1), taskDescription: text }
        const review = reviewRequested(`review-${index}`, { taskOutput: text, prompt: text })
        const decided = reviewDecided(`review-${index}`, text)
        const end = { ...completed, taskDescription: text, output: text }
        const events = [started, task, review, decided, end, result(runId, { error: text })]
        const written = await owner.commit(events, { steps: [step(1), toolEnded(text)] })
        strictEqual(written.kind, 'written')
        const stored = await readPages(storage, runId)
        deepStrictEqual(
          stored.map((event) => JSON.stringify(event)),
          events.map((event, at) =>
            JSON.stringify({ ...event, runId, seq: at + 1, id: `${runId}:${at + 1}` }),
          ),
        )
        const [first] = await storage.runs.tasks(runId)
        deepStrictEqual([first?.description, first?.output], [text, text])
        strictEqual((await readRecord(storage, runId)).error, text)
        const [opened] = await storage.runs.reviews({ runId })
        deepStrictEqual([opened?.decidedBy, opened?.request.prompt], [text, text])
        deepStrictEqual(await storage.runs.steps(runId), [step(1), toolEnded(text)])
      }
    },
  },
  {
    name: '[RUNS-P21] Every text of a query is compared as it is, and is not an error',
    async run({ storage }) {
      await endedRun(storage, 'run-a')
      for (const text of TEXTS.filter((one) => one.length > 0 && one.length < 1_000)) {
        const { runs, events, threads, audit, commands } = storage
        deepStrictEqual(await runs.get(text), undefined)
        deepStrictEqual(await runs.tasks(text), [])
        deepStrictEqual(await runs.steps(text), [])
        deepStrictEqual(await runs.reviews({ runId: text }), [])
        deepStrictEqual(await runs.reviews({ reviewId: text }), [])
        strictEqual(await runs.countReviews({ runId: text, open: true }), 0)
        strictEqual(await runs.delete(text), 'unknown')
        deepStrictEqual(await events.read({ runId: text, from: 0, limit: 9 }), {
          events: [],
          lastSeq: undefined,
        })
        deepStrictEqual(await threads.get(text), undefined)
        deepStrictEqual(await threads.list({ tag: { key: text, value: text }, limit: 9 }), [])
        deepStrictEqual(await audit.list({ actor: text, limit: 9 }), [])
        deepStrictEqual(await audit.list({ action: text, runId: text, limit: 9 }), [])
        strictEqual(await commands.send(text, { kind: 'cancel' }), undefined)
        for (const query of [
          { ensemble: text },
          { threadId: text },
          { cacheKey: text },
          { tag: { key: text } },
          { tag: { key: 'a', value: text } },
          { text },
        ]) {
          deepStrictEqual((await runs.list({ ...query, limit: 9 })).runs, [], JSON.stringify(query))
        }
        const group = { tag: text, value: text }
        const changed = await runs.listByChange({ ensembles: [text, 'band'], group, limit: 9 })
        strictEqual(changed.total, 0)
      }
    },
  },
  {
    name: '[RUNS-P21] Texts of threads, memories and audit entries are read as they were written',
    async run({ storage }) {
      const { threads, audit, memories } = storage
      for (const [index, text] of TEXTS.entries()) {
        const threadId = `thread-${index}`
        const tags = { [`tag ${text.slice(0, 100)}`]: text }
        await threads.create({ threadId, title: text, tags, actor: text })
        const thread = await threads.get(threadId)
        deepStrictEqual([thread?.title, thread?.tags, thread?.actor], [text, tags, text])
        const entry = { at: AT, actor: text, action: text, target: text, via: 'http' } as const
        await audit.append([{ ...entry, outcome: 'DONE' }])
        const [found] = await audit.list({ actor: text, action: text, limit: 1 })
        deepStrictEqual([found?.actor, found?.action, found?.target], [text, text, text])
        await memories.append(`scope ${text}`, {
          text,
          storedAt: AT,
          taskName: text,
          agentRole: text,
        })
        const [memory] = await memories.retrieve(`scope ${text}`, { limit: 1, query: '' })
        strictEqual(memory?.text, text)
      }
    },
  },
]

/** Numbers of queries; only the order of pages depends on them. */
const QUERY_NUMBERS = [0, -0, 0.5, 1, 1.5, 2 ** 31, 2 ** 53 - 1, 2 ** 53, 1e308, Infinity] as const

const queryCase: StorageCase = {
  name: 'Every number of a query is accepted, and a fraction is rounded up',
  async run({ storage }) {
    const owner = await ownedRun(storage, 'run-a')
    await owner.commit([started, reviewRequested('review-a')], { steps: [step(1)] })
    const { runs, events, threads, audit } = storage
    await threads.create({ threadId: 'thread-a', tags: {} })
    for (const number of QUERY_NUMBERS) {
      const limit = number === 0 ? 1 : number
      strictEqual((await runs.list({ limit })).total, 1)
      strictEqual((await runs.list({ limit: 1, offset: number })).total, 1)
      strictEqual((await runs.list({ limit: 1, before: number })).total, 1)
      strictEqual((await runs.listByChange({ ensembles: ['band'], limit })).total, 1)
      strictEqual(
        (await runs.listByChange({ ensembles: ['band'], since: number, limit })).total,
        number > AT_MS + 1e12 ? 0 : 1,
      )
      strictEqual((await runs.reviews({ open: true, maxBytes: limit })).length, 1)
      const from = Math.min(number, 1)
      const first = await events.read({ runId: 'run-a', from: 0, limit, maxBytes: number })
      strictEqual(first.events.length >= 1, true)
      strictEqual((await events.read({ runId: 'run-a', from, limit: 1 })).events.length, 1)
      strictEqual((await threads.list({ limit })).length, 1)
      ok(Array.isArray(await threads.list({ limit, before: number })))
      const page = { threadId: 'thread-a', limit: 1, maxBytes: limit }
      ok(Array.isArray((await threads.runs({ ...page, before: number })).runs))
      ok(Array.isArray((await threads.runs({ ...page, after: number })).runs))
      ok(Array.isArray(await audit.list({ limit, before: number, maxBytes: limit })))
    }
    const half = await events.read({ runId: 'run-a', from: 0.5, limit: 1.5, maxBytes: 999_120.5 })
    deepStrictEqual(
      half.events.map(({ seq }) => seq),
      [1, 2],
    )
    const negative = await events.read({ runId: 'run-a', from: -5, limit: 1 })
    deepStrictEqual(
      negative.events.map(({ runId, seq }) => [runId, seq]),
      [['run-a', 0]],
    )
  },
}

export const oddValueCases: readonly StorageCase[] = [
  ...NUMBER_FIELDS.map(numberCase),
  ...dateCases,
  batchCase,
  ...textCases,
  queryCase,
]
