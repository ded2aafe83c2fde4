/** Cases of values that a run stores once. */
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'

import { TuttiError } from '@tutti/core'

import {
  modelCalled,
  ODD_TEXT,
  result,
  step,
  toolCalled,
  toolEnded,
} from '../support/event-fixtures.ts'
import { claimRun, ownedRun, readAll } from '../support/run-fixtures.ts'

import type { RunStorage } from '../../ports/run-storage.ts'
import type { RunEvent } from '@tutti/protocol'
import type { Owner } from '../support/run-fixtures.ts'
import type { StorageCase } from '../support/storage-case.ts'

const TURNS = 12

/** Returns a long text that no other number returns. */
function textOf(number: number): string {
  return `${ODD_TEXT} ${number} ${String(number % 10).repeat(3_000)}`
}

/** Returns the events of one turn of a conversation, with all messages so far. */
function turnOf(index: number): readonly RunEvent[] {
  const messages = Array.from({ length: index + 1 }, (_, at) => ({
    role: 'user' as const,
    content: textOf(at),
    toolCalls: null,
    toolName: null,
  }))
  const structuredResult = { '@0/x': [`@${textOf(index)}`, textOf(index)] }
  return [modelCalled(messages), toolCalled({ toolResult: textOf(index + 1), structuredResult })]
}

/** Commits turns one by one, each with a step. */
async function commitTurns(owner: Owner, from: number, to: number): Promise<void> {
  for (let index = from; index < to; index += 1) {
    await owner.commit(turnOf(index), { steps: [toolEnded(textOf(index + 1))] })
  }
}

/** Returns the JSON of the events of a run, without the first. */
async function readJson(storage: RunStorage, runId: string): Promise<readonly string[]> {
  const events = []
  for (let from = 1; ;) {
    const { events: page } = await storage.events.read({ runId, from, limit: 7 })
    const last = page.at(-1)
    if (last === undefined) break
    from = last.seq + 1
    events.push(...page)
  }
  return events.map((event) => JSON.stringify(event))
}

function toJson(runId: string, events: readonly RunEvent[]): readonly string[] {
  return events.map((event, index) =>
    JSON.stringify({ ...event, runId, seq: index + 1, id: `${runId}:${index + 1}` }),
  )
}

const TURN_INDEXES = Array.from({ length: TURNS }, (_, index) => index)

export const valueCases: readonly StorageCase[] = [
  {
    name: '[RUNS-K1] Events and steps that repeat values are read exactly as they were written',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const other = await ownedRun(storage, 'run-b')
      for (const index of TURN_INDEXES) {
        await commitTurns(owner, index, index + 1)
        await commitTurns(other, index, index + 1)
      }
      for (const runId of ['run-a', 'run-b']) {
        deepStrictEqual(await readJson(storage, runId), toJson(runId, TURN_INDEXES.flatMap(turnOf)))
        const steps = TURN_INDEXES.map((index) => toolEnded(textOf(index + 1)))
        deepStrictEqual(await storage.runs.steps(runId), steps)
      }
    },
  },
  {
    name: '[RUNS-K1] The next owner of a run continues its values',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await commitTurns(owner, 0, 5)
      strictEqual(await storage.queue.release(owner, { kind: 'ready' }), 'ready')
      const next = await claimRun(storage, 'run-a')
      await commitTurns(next, 5, TURNS)
      const steps = TURN_INDEXES.map((index) => toolEnded(textOf(index + 1)))
      deepStrictEqual(await storage.runs.steps('run-a'), steps)
      await next.commit([result('run-a')])
      const events = [...TURN_INDEXES.flatMap(turnOf), result('run-a')]
      deepStrictEqual(await readJson(storage, 'run-a'), toJson('run-a', events))
    },
  },
  {
    name: '[RUNS-K1] A filter by type finds the values of events of other types',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await commitTurns(owner, 0, TURNS)
      const types = ['llm_iteration_started'] as const
      const query = { runId: 'run-a', from: 10, limit: 2, types }
      const { events: found } = await storage.events.read(query)
      const expected = (await readAll(storage, 'run-a')).filter(
        ({ type, seq }) => type === 'llm_iteration_started' && seq >= 10,
      )
      deepStrictEqual(found, expected.slice(0, 2))
    },
  },
  {
    name: '[RUNS-K3] A write that was not stored gives no values to the next one',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      const lost = owner.next(turnOf(0))
      const fenced = { ...lost, writeNo: lost.writeNo + 5 }
      deepStrictEqual(await storage.runs.commit([fenced]), [{ kind: 'fenced' }])
      strictEqual((await storage.runs.commit([lost]))[0]?.kind, 'written')
      // The caller has no confirmation, so it sends the same write again.
      strictEqual((await storage.runs.commit([lost]))[0]?.kind, 'written')
      await commitTurns(owner, 1, 3)
      const events = [0, 1, 2].flatMap(turnOf)
      deepStrictEqual(await readJson(storage, 'run-a'), toJson('run-a', events))
    },
  },
  {
    name: 'A limit in bytes counts the values that events and steps refer to',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await commitTurns(owner, 0, TURNS)
      const size = JSON.stringify(turnOf(TURNS - 1)[0]).length
      ok(size > 30_000)
      const { lastSeq } = owner.claimed.run
      const from = lastSeq + 1 + 2 * (TURNS - 2)
      const read = async (maxBytes: number): Promise<number> =>
        (await storage.events.read({ runId: 'run-a', from, limit: 9, maxBytes })).events.length
      deepStrictEqual([await read(1), await read(20_000), await read(200_000)], [1, 1, 4])
      const steps = await storage.runs.steps('run-a', { maxBytes: 200_000 })
      strictEqual(steps.length, TURNS)
      await rejects(
        storage.runs.steps('run-a', { maxBytes: 20_000 }),
        (error) => TuttiError.isInstance(error) && error.code === 'RUN_TOO_LARGE',
      )
    },
  },
  {
    name: 'A run that repeats values is deleted with all of them',
    async run({ storage }) {
      const owner = await ownedRun(storage, 'run-a')
      await commitTurns(owner, 0, 3)
      await owner.commit([result('run-a')], { steps: [step(1)] })
      strictEqual(await storage.runs.delete('run-a'), 'deleted')
      deepStrictEqual(await readAll(storage, 'run-a'), [])
      const again = await ownedRun(storage, 'run-a')
      await commitTurns(again, 0, 3)
      const events = [0, 1, 2].flatMap(turnOf)
      deepStrictEqual(await readJson(storage, 'run-a'), toJson('run-a', events))
    },
  },
]
