import { expect, it } from 'vitest'

import { inMemoryStore } from './in-memory-store.ts'
import { memoryScope, renderMemories, type MemoryEntry } from './memory.ts'

const ENTRY: MemoryEntry = {
  text: 'Bonn is rainy.\n\nAlso in May.',
  storedAt: '2026-01-01T00:00:00.000Z',
  taskName: 'weather',
  agentRole: 'Researcher',
}

it('[ENS-M1] memoryScope shows five entries by default', () => {
  const store = inMemoryStore()
  expect(memoryScope({ name: 'team', store })).toEqual({ name: 'team', store, limit: 5 })
  expect(memoryScope({ name: 'team', store, limit: 1 }).limit).toBe(1)
})

it('[ENS-M2] Each entry is shown in full, with its agent, task and time, in the given order', () => {
  const later = { ...ENTRY, text: 'Köln too', taskName: 'again', runId: 'r1' }
  expect(renderMemories([later, ENTRY])).toBe(
    [
      '### Researcher: again (2026-01-01T00:00:00.000Z)',
      'Köln too',
      '---',
      '### Researcher: weather (2026-01-01T00:00:00.000Z)',
      'Bonn is rainy.',
      '',
      'Also in May.',
      '---',
    ].join('\n'),
  )
  expect(renderMemories([{ ...ENTRY, text: 'x'.repeat(50_000) }]).length).toBeGreaterThan(50_000)
})

it('[ENS-M2] The section is empty without entries', () => {
  expect(renderMemories([])).toBe('')
})

it('memoryScope rejects an invalid definition with every problem', () => {
  const bad = JSON.parse('{"name":" ","store":{},"limit":0}')
  expect(() => memoryScope(bad)).toThrow(TypeError)
  expect(() => memoryScope(bad)).toThrow(
    'Cannot create a memory scope: name must be a text that is not blank, got " "; ' +
      'store must have append and retrieve, such as inMemoryStore(); ' +
      'limit must be an integer >= 1, got 0',
  )
})

it.each([
  { name: 5 },
  { store: null },
  { store: { append: () => 1 } },
  { store: { retrieve: () => 1 } },
  { limit: 1.5 },
  { limit: 'all' },
])('memoryScope rejects a scope with %o', (part) => {
  const definition: unknown = { name: 'team', store: inMemoryStore(), ...part }
  // NOTE: code without types can pass this.
  expect(() => memoryScope(definition as Parameters<typeof memoryScope>[0])).toThrow(
    /^Cannot create a memory scope: (?:name|store|limit) must/,
  )
})
