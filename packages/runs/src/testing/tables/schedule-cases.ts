/** Cases of RUNS-SC1 to RUNS-SC4 and RUNS-SC11: schedules. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'

import { ODD_TEXT } from '../support/event-fixtures.ts'

import type { NewSchedule, ScheduleRecord } from '../../ports/schedule-store.ts'
import type { RunStorage } from '../../ports/run-storage.ts'
import type { StorageCase } from '../support/storage-case.ts'

const TICK = Date.UTC(2027, 0)
const CLAIM_MS = 5_000

/** Due in the past of every clock, and after all tests. */
const PAST = 1_000
const FAR = Date.UTC(2100, 0)

function newSchedule(name: string, changes: Partial<NewSchedule> = {}): NewSchedule {
  return {
    name,
    definition: { cron: '0 9 * * *', run: { ensemble: 'band', inputs: { topic: 'Bach' } } },
    isConfigured: false,
    isPaused: false,
    nextTick: TICK,
    dueAt: FAR,
    queued: [],
    ...changes,
  }
}

async function added(
  storage: RunStorage,
  name: string,
  changes: Partial<NewSchedule> = {},
): Promise<ScheduleRecord> {
  strictEqual(await storage.schedules.add(newSchedule(name, changes), 100), true)
  return stored(storage, name)
}

async function stored(storage: RunStorage, name: string): Promise<ScheduleRecord> {
  const found = await storage.schedules.get(name)
  ok(found !== undefined, `${name} is there`)
  return found
}

async function dueNames(storage: RunStorage): Promise<readonly string[]> {
  const { schedules } = await storage.schedules.findDue(10)
  return schedules.map(({ name }) => name)
}

export const scheduleCases: readonly StorageCase[] = [
  {
    name: '[RUNS-SC1] A schedule is stored with all of its fields, and listed by name',
    async run({ storage }) {
      const definition = {
        cron: '*/5 * * * *',
        timeZone: 'Europe/Berlin',
        run: { inputs: { topic: `${ODD_TEXT}\0\ud800` } },
      }
      const given = newSchedule('b', {
        definition,
        actor: ODD_TEXT,
        isConfigured: true,
        queued: [TICK - 1],
      })
      strictEqual(await storage.schedules.add(given, 100), true)
      await added(storage, 'a.1')
      const { createdAt, changedAt, ...rest } = await stored(storage, 'b')
      deepStrictEqual(rest, { ...given, revision: 1 })
      ok(createdAt > 0 && changedAt === createdAt)
      const names = (await storage.schedules.list()).map(({ name }) => name)
      deepStrictEqual(names, ['a.1', 'b'])
      strictEqual(await storage.schedules.get('c'), undefined)
    },
  },
  {
    name: '[RUNS-SC1] A name that is taken, and a schedule beyond the maximum number, are refused',
    async run({ storage }) {
      await added(storage, 'a')
      strictEqual(await storage.schedules.add(newSchedule('a', { dueAt: PAST }), 100), false)
      strictEqual((await stored(storage, 'a')).dueAt, FAR)
      strictEqual(await storage.schedules.add(newSchedule('b'), 1), false)
      strictEqual(await storage.schedules.get('b'), undefined)
    },
  },
  {
    name: '[RUNS-SC11] An actor saves no more schedules than still fit, and others have room',
    async run({ storage }) {
      const { schedules } = storage
      const add = (name: string, actor?: string) =>
        schedules.add(newSchedule(name, actor === undefined ? {} : { actor }), 7)
      await added(storage, 'configured', { isConfigured: true })
      const results: boolean[] = []
      for (const name of ['a1', 'a2', 'a3', 'a4']) results.push(await add(name, 'ann'))
      for (const name of ['b1', 'b2', 'b3']) results.push(await add(name, 'bob'))
      for (const name of ['c1', 'c2']) results.push(await add(name, 'cas'))
      results.push(await add('d1'), await add('d2'))
      deepStrictEqual(results, [
        true,
        true,
        true,
        false,
        true,
        true,
        false,
        true,
        false,
        false,
        false,
      ])
    },
  },
  {
    name: '[RUNS-SC1] A schedule is replaced and deleted only in the revision that was read',
    async run({ storage }) {
      const { schedules } = storage
      const { revision } = await added(storage, 'a')
      const paused = {
        ...newSchedule('a', { isPaused: true }),
        nextTick: undefined,
        dueAt: undefined,
      }
      const { nextTick: _tick, dueAt: _due, ...given } = paused
      strictEqual(await schedules.replace(given, revision), true)
      const replaced = await stored(storage, 'a')
      deepStrictEqual(
        [replaced.revision, replaced.isPaused, replaced.nextTick, replaced.dueAt],
        [revision + 1, true, undefined, undefined],
      )
      strictEqual(await schedules.replace(newSchedule('a'), revision), false)
      strictEqual(await schedules.delete('a', revision), false)
      strictEqual(await schedules.delete('a', revision + 1), true)
      strictEqual(await schedules.get('a'), undefined)
    },
  },
  {
    name: '[RUNS-SC2] A due schedule is claimed once, and is due again with the same tick when the claim ends',
    async run({ storage, passTime }) {
      const { schedules } = storage
      await added(storage, 'b', { dueAt: PAST + 1 })
      const first = await added(storage, 'a', { dueAt: PAST })
      deepStrictEqual(await dueNames(storage), ['a', 'b'])
      strictEqual(await schedules.claim(first, CLAIM_MS), true)
      strictEqual(await schedules.claim(first, CLAIM_MS), false)
      deepStrictEqual(await dueNames(storage), ['b'])
      await passTime(CLAIM_MS + 1_000)
      deepStrictEqual(await dueNames(storage), ['b', 'a'])
      const again = await stored(storage, 'a')
      strictEqual(again.nextTick, TICK)
      strictEqual(await schedules.claim(again, CLAIM_MS), true)
    },
  },
  {
    name: '[RUNS-SC2] A schedule that is not due, or was changed since it was read, cannot be claimed',
    async run({ storage }) {
      const { schedules } = storage
      strictEqual(await schedules.claim(await added(storage, 'a'), CLAIM_MS), false)
      const read = await added(storage, 'b', { dueAt: PAST })
      await schedules.replace(newSchedule('b', { dueAt: PAST }), read.revision)
      strictEqual(await schedules.claim(read, CLAIM_MS), false)
    },
  },
  {
    name: '[RUNS-SC3] The end of a tick is recorded once, with the next tick',
    async run({ storage }) {
      const { schedules } = storage
      const read = await added(storage, 'a', { dueAt: PAST })
      await schedules.claim(read, CLAIM_MS)
      const lastRun = { tick: TICK, runId: 'run-a' }
      const end = { nextTick: TICK + 1_000, dueAt: FAR, queued: [], lastRun }
      strictEqual(await schedules.settle(read, end), true)
      strictEqual(await schedules.settle(read, { ...end, nextTick: TICK + 2_000 }), false)
      const settled = await stored(storage, 'a')
      deepStrictEqual(
        [settled.nextTick, settled.dueAt, settled.lastRun, settled.revision],
        [TICK + 1_000, FAR, lastRun, read.revision],
      )
    },
  },
  {
    name: '[RUNS-SC3] A problem keeps the last run, and a later run removes the problem',
    async run({ storage }) {
      const { schedules } = storage
      const lastRun = { tick: TICK, runId: 'run-a' }
      const problem = { tick: TICK + 1, at: PAST, code: 'INVALID_ENSEMBLE', message: ODD_TEXT }
      const one = await added(storage, 'a')
      await schedules.settle(one, { nextTick: TICK + 1, dueAt: FAR, queued: [], lastRun })
      await schedules.settle(await stored(storage, 'a'), {
        nextTick: TICK + 2,
        dueAt: FAR,
        queued: [],
        problem,
      })
      const failed = await stored(storage, 'a')
      deepStrictEqual([failed.lastRun, failed.problem], [lastRun, problem])
      const next = { tick: TICK + 2, runId: 'run-b' }
      await schedules.settle(failed, { queued: [], lastRun: next })
      const ended = await stored(storage, 'a')
      deepStrictEqual(
        [ended.lastRun, ended.problem, ended.nextTick, ended.dueAt],
        [next, undefined, undefined, undefined],
      )
    },
  },
  {
    name: '[RUNS-SC3] The end of a tick of a schedule that was changed meanwhile is not recorded',
    async run({ storage }) {
      const { schedules } = storage
      const read = await added(storage, 'a', { dueAt: PAST })
      await schedules.claim(read, CLAIM_MS)
      await schedules.replace(newSchedule('a'), read.revision)
      const end = { queued: [], lastRun: { tick: TICK, runId: 'run-a' } }
      strictEqual(await schedules.settle(read, end), false)
      strictEqual((await stored(storage, 'a')).lastRun, undefined)
    },
  },
  {
    name: '[RUNS-SC3] The end of a tick is recorded only if the same ticks wait as when the schedule was read',
    async run({ storage }) {
      const { schedules } = storage
      const read = await added(storage, 'a', { dueAt: PAST })
      const end = { nextTick: TICK, dueAt: FAR, queued: [TICK - 2, TICK - 1] }
      strictEqual(await schedules.settle(read, end), true)
      strictEqual(await schedules.settle(read, end), false)
      const waiting = await stored(storage, 'a')
      deepStrictEqual([waiting.queued, waiting.nextTick], [[TICK - 2, TICK - 1], TICK])
      strictEqual(await schedules.settle(waiting, { ...end, queued: [TICK - 1] }), true)
      deepStrictEqual((await stored(storage, 'a')).queued, [TICK - 1])
    },
  },
  {
    name: '[RUNS-SC4] The time until the next schedule is due is reported, and paused ones are never due',
    async run({ storage }) {
      const { schedules } = storage
      deepStrictEqual((await schedules.findDue(10)).nextInMs, Infinity)
      const { nextTick: _tick, dueAt: _due, ...paused } = newSchedule('paused', { isPaused: true })
      await schedules.add(paused, 100)
      deepStrictEqual((await schedules.findDue(10)).nextInMs, Infinity)
      await added(storage, 'later')
      const { nextInMs, now, schedules: none } = await schedules.findDue(10)
      deepStrictEqual([nextInMs, none], [FAR - now, []])
      await added(storage, 'a', { dueAt: PAST })
      await added(storage, 'b', { dueAt: PAST + 1 })
      const limited = await schedules.findDue(1)
      deepStrictEqual([limited.schedules.map(({ name }) => name), limited.nextInMs], [['a'], 0])
    },
  },
]
