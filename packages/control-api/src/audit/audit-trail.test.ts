import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { AuditTrail, type AuditTrailOptions } from './audit-trail.ts'

import type { LogFields } from '@tutti/core/internal'
import type { NewAuditEntry } from '@tutti/runs/adapter'

describe('AuditTrail', () => {
  it('[API-T1] AuditTrail writes entries together after 50 ms, or when there are 100', async () => {
    const { trail, appended, clock } = createTrail()
    trail.record(entry('a'))
    trail.record(entry('b'))
    await clock.advance(49)
    expect(appended).toEqual([])
    await clock.advance(1)
    expect(appended).toEqual([['a', 'b']])
    for (let n = 0; n < 250; n += 1) trail.record(entry(String(n)))
    await trail.flush()
    expect(appended.slice(1).map(({ length }) => length)).toEqual([100, 100, 50])
    expect(clock.pending).toBe(0)
  })

  it('[API-T1] AuditTrail writes entries at once to a store that joins them to its other writes', async () => {
    const { trail, appended, clock } = createTrail({ joinsWrites: true })
    trail.record(entry('a'))
    expect([appended, clock.pending]).toEqual([[['a']], 0])
    await trail.flush()
  })

  it('[API-T2] AuditTrail stores entries in order, even when writing is slow', async () => {
    const gate = Promise.withResolvers<void>()
    const { trail, appended } = createTrail({ append: () => gate.promise })
    for (let n = 0; n < 101; n += 1) trail.record(entry(String(n)))
    trail.record(entry('last'))
    const flushed = trail.flush()
    gate.resolve()
    await flushed
    expect(appended.flat()).toEqual([...Array.from({ length: 101 }, (_, n) => String(n)), 'last'])
  })

  it('[API-T3] AuditTrail retries after a failure, with increasing pauses', async () => {
    let failures = 3
    const append = () => (failures-- > 0 ? Promise.reject(new Error('away')) : Promise.resolve())
    const { trail, appended, clock, warnings } = createTrail({ append })
    trail.record(entry('a'))
    for (const pause of [50, 250, 500]) await clock.advance(pause)
    expect(appended).toHaveLength(3)
    await clock.advance(999)
    expect(appended).toHaveLength(3)
    await clock.advance(1)
    expect(appended).toHaveLength(4)
    expect(warnings).toHaveLength(1)
    await trail.flush()
  })

  it('[API-T3] [API-T5] AuditTrail logs entries in full when retries are exhausted, and continues with later ones', async () => {
    let tries = 0
    const append = () => (++tries <= 10 ? Promise.reject(new Error('away')) : Promise.resolve())
    const { trail, appended, clock, errors } = createTrail({ append })
    trail.record(entry('a'))
    const flushed = trail.flush()
    for (let n = 0; n < 12; n += 1) await clock.advance(30_000)
    await flushed
    expect(errors).toMatchObject([{ entries: [{ action: 'a' }], error: { message: 'away' } }])
    trail.record(entry('b'))
    await trail.flush()
    expect(appended.at(-1)).toEqual(['b'])
  })

  it('[API-T4] AuditTrail logs entries when too many are waiting', async () => {
    const gate = Promise.withResolvers<void>()
    const { trail, errors, appended } = createTrail({ append: () => gate.promise })
    for (let n = 0; n < 10_200; n += 1) trail.record(entry(String(n)))
    expect(errors).toMatchObject(
      Array.from({ length: 100 }, (_, n) => ({ entries: [{ action: String(10_100 + n) }] })),
    )
    gate.resolve()
    await trail.flush()
    expect(appended.flat()).toHaveLength(10_100)
  })

  it('AuditTrail tries once and does not wait when it is closed', async () => {
    const { trail, clock, errors } = createTrail({
      append: () => Promise.reject(new Error('away')),
    })
    trail.record(entry('a'))
    await trail.close()
    expect(errors).toHaveLength(1)
    expect(clock.pending).toBe(0)
  })

  it('AuditTrail writes entries at once when the store is about to close', async () => {
    const { trail, appended } = createTrail({}, { isClosing: () => true })
    trail.record(entry('a'))
    await Promise.resolve()
    await trail.flush()
    expect(appended).toEqual([['a']])
  })

  it('AuditTrail trims at the start and after every 1,000 entries, and ignores failures of trimming', async () => {
    const trims: number[] = []
    const { trail, warnings } = createTrail({
      trim: (keep) => {
        trims.push(keep)
        return Promise.reject(new Error('away'))
      },
    })
    for (let round = 0; round < 21; round += 1) {
      for (let n = 0; n < 100; n += 1) trail.record(entry('a'))
      await trail.flush()
    }
    expect(trims).toEqual([7, 7, 7])
    expect(warnings).toHaveLength(3)
  })

  it('[API-T2] AuditTrail does not wait for a write under way when the store is about to close', async () => {
    const gate = Promise.withResolvers<void>()
    const { trail, appended } = createTrail(
      { append: () => gate.promise, joinsWrites: true },
      { isClosing: () => true },
    )
    trail.record(entry('a'))
    trail.record(entry('b'))
    expect(appended).toEqual([['a'], ['b']])
    gate.resolve()
    await trail.flush()
  })

  it('AuditTrail does not trim when the store is about to close', async () => {
    const trims: number[] = []
    const trim = async (keep: number): Promise<void> => void trims.push(keep)
    const { trail, appended } = createTrail({ trim }, { isClosing: () => true })
    trail.record(entry('a'))
    await trail.flush()
    expect([appended, trims]).toEqual([[['a']], []])
  })
})

interface Store {
  readonly append?: () => Promise<void>
  readonly trim?: (keep: number) => Promise<void>
  readonly joinsWrites?: boolean
}

function createTrail(
  {
    append = () => Promise.resolve(),
    trim = () => Promise.resolve(),
    joinsWrites = false,
  }: Store = {},
  options: Partial<AuditTrailOptions> = {},
) {
  const clock = fakeClock()
  const appended: (readonly string[])[] = []
  const warnings: unknown[] = []
  const errors: (LogFields | undefined)[] = []
  const trail = new AuditTrail({
    log: {
      append(entries) {
        appended.push(entries.map(({ action }) => action))
        return append()
      },
      list: async () => [],
      trim,
      joinsWrites,
    },
    clock,
    logger: {
      debug: () => undefined,
      info: () => undefined,
      warn: (message) => warnings.push(message),
      error: (_, fields) => errors.push(fields),
    },
    maxAuditEntries: 7,
    isClosing: () => false,
    ...options,
  })
  return { trail, clock, appended, warnings, errors }
}

function entry(action: string): NewAuditEntry {
  return { at: '2026-01-01T00:00:00.000Z', actor: 'a', action, via: 'http', outcome: 'DONE' }
}
