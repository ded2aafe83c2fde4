/** Cases of RUNS-M1 to RUNS-M4: memories and reflections of tasks. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'

import { MAX_MEMORY_ENTRIES } from '../../ports/run-memory.ts'
import { AT, ODD_TEXT } from '../support/event-fixtures.ts'
import { endedRun } from '../support/run-fixtures.ts'
import { at, openStorages } from '../support/open-storages.ts'

import type { RunStorage } from '../../ports/run-storage.ts'
import type { SharedStorageCase, StorageCase } from '../support/storage-case.ts'
import type { MemoryEntry, Reflection } from '@tutti/ensemble/adapter'

export const memoryCases: readonly StorageCase[] = [
  {
    name: '[RUNS-M1] A scope returns its most recent entries unchanged, oldest first',
    async run({ storage }) {
      const { memories } = storage
      const full = { ...entry(ODD_TEXT), taskName: ODD_TEXT, agentRole: ODD_TEXT }
      await memories.append('notes', entry('first'))
      await memories.append('notes', { ...entry('second'), runId: 'run-a' })
      await memories.append('notes', full)
      deepStrictEqual(await memories.retrieve('notes', { query: 'x', limit: 2 }), [
        { ...entry('second'), runId: 'run-a' },
        full,
      ])
      deepStrictEqual(await texts(storage, 'notes'), ['first', 'second', ODD_TEXT])
    },
  },
  {
    name: '[RUNS-M1] Scopes share nothing, even with unusual names',
    async run({ storage }) {
      const scopes = ['notes', 'NOTES', ODD_TEXT, ODD_TEXT.replace('\ud800', '\ud801'), '']
      for (const scope of scopes) await storage.memories.append(scope, entry(scope))
      for (const scope of scopes) deepStrictEqual(await texts(storage, scope), [scope])
      deepStrictEqual(await texts(storage, 'other'), [])
    },
  },
  {
    name: '[RUNS-M2] A scope holds its last entries only',
    async run({ storage }) {
      const { memories } = storage
      await memories.append('other', entry('stays'))
      for (let n = 0; n < MAX_MEMORY_ENTRIES + 2; n += 1) {
        await memories.append('notes', entry(`${n}`))
      }
      const held = await texts(storage, 'notes')
      strictEqual(held.length, MAX_MEMORY_ENTRIES)
      deepStrictEqual([held[0], held.at(-1)], ['2', `${MAX_MEMORY_ENTRIES + 1}`])
      deepStrictEqual(await texts(storage, 'other'), ['stays'])
    },
  },
  {
    name: '[RUNS-M3] A reflection replaces the earlier one with the same key',
    async run({ storage }) {
      const { reflections } = storage
      strictEqual(await reflections.get('key'), undefined)
      await reflections.put('key', reflection(1))
      await reflections.put(ODD_TEXT, reflection(7))
      await reflections.put('key', reflection(2))
      deepStrictEqual(await reflections.get('key'), reflection(2))
      deepStrictEqual(await reflections.get(ODD_TEXT), reflection(7))
    },
  },
  {
    name: '[RUNS-M4] Entries and reflections outlive the run that wrote them',
    async run({ storage }) {
      await endedRun(storage, 'run-a')
      await storage.memories.append('notes', { ...entry('found'), runId: 'run-a' })
      await storage.reflections.put('key', reflection(1))
      strictEqual(await storage.runs.delete('run-a'), 'deleted')
      deepStrictEqual(await texts(storage, 'notes'), ['found'])
      deepStrictEqual(await storage.reflections.get('key'), reflection(1))
    },
  },
]

/** The cases that a shared storage also passes. */
export const sharedMemoryCases: readonly SharedStorageCase[] = [
  {
    name: '[RUNS-M1] A process reads the entries of another',
    async run(given) {
      const all = await openStorages(given, 3)
      await at(all, 0).memories.append('notes', entry('from the first'))
      await at(all, 1).memories.append('notes', entry('from the second'))
      await at(all, 0).reflections.put('key', reflection(3))
      deepStrictEqual(await texts(at(all, 2), 'notes'), ['from the first', 'from the second'])
      deepStrictEqual(await at(all, 2).reflections.get('key'), reflection(3))
    },
  },
]

function entry(text: string): MemoryEntry {
  return { text, storedAt: AT, taskName: 'research', agentRole: 'Researcher' }
}

function reflection(runs: number): Reflection {
  return {
    description: ODD_TEXT,
    expectedOutput: 'A list',
    observations: ['It was long'],
    suggestions: [],
    runs,
  }
}

/** Returns the texts of a scope, oldest first. */
async function texts(storage: RunStorage, scope: string): Promise<readonly string[]> {
  const entries = await storage.memories.retrieve(scope, { query: '', limit: 9_999 })
  return entries.map(({ text }) => text)
}
