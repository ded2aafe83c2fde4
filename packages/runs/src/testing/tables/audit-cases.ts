/** Cases of RUNS-A1 to RUNS-A3: the audit log. */
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'

import { AT, ODD_TEXT } from '../support/event-fixtures.ts'
import { endedRun } from '../support/run-fixtures.ts'

import type { NewAuditEntry } from '../../ports/audit-log.ts'
import type { RunStorage } from '../../ports/run-storage.ts'
import type { StorageCase } from '../support/storage-case.ts'
import type { AuditQuery } from '@tutti/protocol/internal'

export const auditCases: readonly StorageCase[] = [
  {
    name: '[RUNS-A1] Entries are stored unchanged and listed newest first, with increasing numbers',
    async run({ storage }) {
      const full: NewAuditEntry = {
        at: AT,
        actor: ODD_TEXT,
        action: 'decideReview',
        via: 'websocket',
        remoteAddress: '::1',
        runId: 'run-a',
        target: ODD_TEXT,
        outcome: 'REFUSED',
        error: 'FORBIDDEN',
      }
      await storage.audit.append([full, entry('b')])
      await storage.audit.append([])
      await storage.audit.append([entry('c')])
      const all = await storage.audit.list({ limit: 9 })
      deepStrictEqual(
        all.map(({ id: _id, ...rest }) => rest),
        [entry('c'), entry('b'), full],
      )
      const ids = all.map(({ id }) => id)
      ok(ids.every((id, at) => Number.isInteger(id) && id < (ids[at - 1] ?? Infinity)))
    },
  },
  {
    name: '[RUNS-A1] Entries of one call are stored completely or not at all, in their order',
    async run({ storage }) {
      const toJSON = (): never => {
        throw new Error('this value cannot be written')
      }
      // NOTE: a value that cannot be serialized, to make the store fail.
      const target = { toJSON } as unknown as string
      await rejects(storage.audit.append([entry('a'), { ...entry('b'), target }, entry('c')]))
      deepStrictEqual(await actions(storage), [])
      const many = Array.from({ length: 300 }, (_, n) => `act-${n}`)
      await storage.audit.append(many.map((action) => entry(action)))
      deepStrictEqual(await actions(storage, { limit: 999 }), many.toReversed())
    },
  },
  {
    name: '[RUNS-A2] A list filters by run, actor and action, alone or combined',
    async run({ storage }) {
      await storage.audit.append([
        entry('submit', { runId: 'run-a', actor: 'ann' }),
        entry('cancel', { runId: 'run-a', actor: 'bob' }),
        entry('cancel', { runId: 'run-b', actor: 'ann' }),
        entry('login', { actor: 'ann' }),
      ])
      const of = (query: AuditQuery): Promise<readonly string[]> => actions(storage, query)
      deepStrictEqual(await of({ runId: 'run-a' }), ['cancel', 'submit'])
      deepStrictEqual(await of({ actor: 'ann' }), ['login', 'cancel', 'submit'])
      deepStrictEqual(await of({ action: 'cancel' }), ['cancel', 'cancel'])
      deepStrictEqual(await of({ action: 'cancel', actor: 'ann' }), ['cancel'])
      const both = await storage.audit.list({ action: 'cancel', actor: 'bob', limit: 9 })
      deepStrictEqual(
        both.map(({ runId }) => runId),
        ['run-a'],
      )
      deepStrictEqual(await of({ runId: 'run-a', actor: 'ann', action: 'cancel' }), [])
      deepStrictEqual(await of({ runId: 'run-' }), [])
      deepStrictEqual(await of({ actor: 'ANN' }), [])
    },
  },
  {
    name: '[RUNS-A2] Filters are compared exactly, including unusual and long texts',
    async run({ storage }) {
      const long = 'ß🎻'.repeat(2000)
      const names = [ODD_TEXT, ODD_TEXT.replace('\ud800', '\ud801'), `${long}a`, `${long}b`, '%']
      await storage.audit.append(names.map((name) => entry(name, { runId: name, actor: name })))
      for (const name of names) {
        for (const query of [{ runId: name }, { actor: name }, { action: name }]) {
          deepStrictEqual(await actions(storage, query), [name])
        }
      }
    },
  },
  {
    name: '[RUNS-A2] A page continues where the last one ended, even if entries were added since',
    async run({ storage }) {
      await storage.audit.append(['a', 'b', 'c', 'd', 'e'].map((action) => entry(action)))
      const first = await storage.audit.list({ limit: 2 })
      await storage.audit.append([entry('f'), entry('g')])
      const before = first[1]?.id ?? 0
      deepStrictEqual(await actions(storage, { limit: 2, before }), ['c', 'b'])
      deepStrictEqual(await actions(storage, { limit: 2, before, action: 'a' }), ['a'])
      deepStrictEqual(await actions(storage, { before: 0 }), [])
      deepStrictEqual(await actions(storage, { limit: 2 }), ['g', 'f'])
    },
  },
  {
    name: '[RUNS-A2] A page ends after the entry that reaches its limit in bytes, and the next one continues',
    async run({ storage }) {
      const target = 'é'.repeat(500)
      await storage.audit.append(['a', 'b', 'c', 'd', 'e'].map((name) => entry(name, { target })))
      const pages: string[] = []
      for (let before: number | undefined; ;) {
        const query = { limit: 9, maxBytes: 2_000, ...(before === undefined ? {} : { before }) }
        const page = await storage.audit.list(query)
        if (page.length === 0) break
        pages.push(page.map(({ action }) => action).join(' '))
        before = page.at(-1)?.id
      }
      deepStrictEqual(pages, ['e d', 'c b', 'a'])
      strictEqual((await storage.audit.list({ limit: 9, maxBytes: 1 })).length, 1)
    },
  },
  {
    name: '[RUNS-A2] Trimming retains the newest entries, and numbers continue to increase',
    async run({ storage }) {
      await storage.audit.trim(3)
      await storage.audit.append(['a', 'b', 'c', 'd', 'e'].map((action) => entry(action)))
      const newest = (await storage.audit.list({ limit: 1 }))[0]?.id ?? 0
      for (const keep of [Infinity, 9, 5]) {
        await storage.audit.trim(keep)
        strictEqual((await actions(storage)).length, 5)
      }
      await storage.audit.trim(2)
      deepStrictEqual(await actions(storage), ['e', 'd'])
      await storage.audit.trim(0)
      deepStrictEqual(await actions(storage), [])
      await storage.audit.append([entry('f')])
      const [after] = await storage.audit.list({ limit: 1 })
      ok(after !== undefined && after.id > newest)
    },
  },
  {
    name: '[RUNS-A3] Entries are retained when their run is deleted',
    async run({ storage }) {
      await storage.audit.append([entry('cancel', { runId: 'run-a' })])
      await endedRun(storage, 'run-a')
      await endedRun(storage, 'run-b')
      strictEqual(await storage.runs.delete('run-a'), 'deleted')
      await storage.audit.append([entry('delete', { runId: 'run-a' })])
      await storage.runs.deleteEnded({ keep: 0, limit: 9 })
      deepStrictEqual(await actions(storage, { runId: 'run-a' }), ['delete', 'cancel'])
    },
  },
]

/** Returns an entry that is identified by its action. */
export function entry(action: string, changes: Partial<NewAuditEntry> = {}): NewAuditEntry {
  return { at: AT, actor: 'ci', action, via: 'http', outcome: 'DONE', ...changes }
}

/** Returns the actions of matching entries, newest first. */
async function actions(storage: RunStorage, query: AuditQuery = {}): Promise<readonly string[]> {
  const entries = await storage.audit.list({ limit: 99, ...query })
  return entries.map(({ action }) => action)
}
