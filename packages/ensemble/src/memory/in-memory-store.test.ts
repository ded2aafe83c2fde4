import { describe, expect, it } from 'vitest'

import { fakeClock } from '../../test/testing.ts'
import { inMemoryStore, type InMemoryStoreOptions } from './in-memory-store.ts'

import type { MemoryEntry, MemoryStore } from './memory.ts'

const START = Date.UTC(2026, 0, 1)

function entry(text: string, storedAtMs = START): MemoryEntry {
  const storedAt = new Date(storedAtMs).toISOString()
  return { text, storedAt, taskName: 'weather', agentRole: 'Researcher' }
}

async function storeWith(
  texts: readonly string[],
  options?: InMemoryStoreOptions,
): Promise<MemoryStore> {
  const store = inMemoryStore(options)
  for (const text of texts) await store.append('team', entry(text))
  return store
}

async function textsIn(store: MemoryStore, limit = 10_000, scope = 'team'): Promise<string[]> {
  const entries = await store.retrieve(scope, { query: 'anything', limit })
  return entries.map(({ text }) => text)
}

describe('[ENS-M3] a scope of the in-memory store', () => {
  it('A scope of the in-memory store returns its most recent entries, the oldest of them first', async () => {
    const store = await storeWith(['a', 'b', 'c'])
    expect(await textsIn(store, 2)).toEqual(['b', 'c'])
    expect(await textsIn(store, 3)).toEqual(['a', 'b', 'c'])
    expect(await textsIn(store, 4)).toEqual(['a', 'b', 'c'])
  })

  it('A scope of the in-memory store returns nothing for a limit of 0 and for an unknown scope', async () => {
    const store = await storeWith(['a'])
    expect(await textsIn(store, 0)).toEqual([])
    expect(await textsIn(store, -1)).toEqual([])
    expect(await textsIn(store, 5, 'other')).toEqual([])
    expect(await textsIn(store, 5, '__proto__')).toEqual([])
  })

  it('A scope of the in-memory store returns only its own entries', async () => {
    const store = await storeWith(['a'])
    await store.append('other', entry('b'))
    expect(await textsIn(store)).toEqual(['a'])
    expect(await textsIn(store, 5, 'other')).toEqual(['b'])
    expect(await textsIn(inMemoryStore())).toEqual([])
  })
})

describe('[ENS-M4] a scope of the in-memory store', () => {
  it('A scope of the in-memory store retains the last maxEntriesPerScope entries, by default 1000', async () => {
    expect(await textsIn(await storeWith(['a', 'b', 'c'], { maxEntriesPerScope: 2 }))).toEqual([
      'b',
      'c',
    ])
    const texts = Array.from({ length: 1_001 }, (_, n) => `${n}`)
    expect(await textsIn(await storeWith(texts))).toEqual(texts.slice(1))
    const unbounded = await storeWith(texts, { maxEntriesPerScope: Infinity })
    expect(await textsIn(unbounded)).toHaveLength(1_001)
  })

  it('A scope of the in-memory store has its own limit', async () => {
    const store = await storeWith(['a', 'b'], { maxEntriesPerScope: 2 })
    await store.append('other', entry('c'))
    expect(await textsIn(store)).toEqual(['a', 'b'])
  })

  it('A scope of the in-memory store retains entries that are not older than maxAgeMs', async () => {
    const clock = fakeClock(START)
    const store = inMemoryStore({ maxAgeMs: 1_000, clock })
    await store.append('team', entry('a', START))
    await store.append('team', entry('b', START + 500))
    await clock.advance(1_000)
    expect(await textsIn(store)).toEqual(['a', 'b'])
    await clock.advance(1)
    expect(await textsIn(store)).toEqual(['b'])
    await store.append('team', entry('c', START + 1_001))
    expect(await textsIn(store)).toEqual(['b', 'c'])
    await clock.advance(60_000)
    expect(await textsIn(store)).toEqual([])
  })
})

describe('[ENS-M5] an appended entry', () => {
  it('An appended entry is copied', async () => {
    const store = inMemoryStore()
    const given = { ...entry('a'), text: 'a' }
    await store.append('team', given)
    given.text = 'b'
    expect(await textsIn(store)).toEqual(['a'])
  })

  it('An appended entry cannot be changed through a returned entry', async () => {
    const store = await storeWith(['a', 'b'])
    const entries = await store.retrieve('team', { query: '', limit: 9 })
    // NOTE: code without types can do this.
    const list = entries as MemoryEntry[]
    expect(() => Object.assign(list[0] ?? {}, { text: 'x' })).toThrow(TypeError)
    list.pop()
    expect(await textsIn(store)).toEqual(['a', 'b'])
  })

  it('An appended entry is rejected if its time is invalid', async () => {
    const store = inMemoryStore()
    const appending = store.append('team', { ...entry('a'), storedAt: 'yesterday' })
    await expect(appending).rejects.toThrow(
      'Cannot store a memory: storedAt must be an ISO 8601 instant, got "yesterday"',
    )
    expect(await textsIn(store)).toEqual([])
  })
})

describe('inMemoryStore', () => {
  it('inMemoryStore rejects invalid limits, all of them at once', () => {
    const bad = { maxEntriesPerScope: 0, maxAgeMs: 0 }
    expect(() => inMemoryStore(bad)).toThrow(RangeError)
    expect(() => inMemoryStore(bad)).toThrow(
      'Cannot create a memory store: maxEntriesPerScope must be an integer >= 1 or Infinity, got 0; ' +
        'maxAgeMs must be > 0, got 0',
    )
    expect(() => inMemoryStore({ maxEntriesPerScope: 1.5 })).toThrow(RangeError)
    expect(() => inMemoryStore({ maxAgeMs: NaN })).toThrow(RangeError)
  })
})
