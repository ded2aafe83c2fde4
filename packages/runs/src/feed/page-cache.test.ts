import { describe, expect, it } from 'vitest'

import { fakeClock } from '../../../../tooling/test-kit/clock.ts'
import { FakeLog, resultEvent } from '../../test/fake-log.ts'
import { token } from '../testing/index.ts'
import { started as runStarted } from '../testing/support/event-fixtures.ts'
import { isSharedPage, PageCache } from './page-cache.ts'

const RUN = 'run-a'
const QUERY = { runId: RUN, from: 0, limit: 3 }

interface SetUp {
  readonly log: FakeLog
  readonly clock: ReturnType<typeof fakeClock>
  readonly pages: PageCache
}

/** Returns a cache over a run of five events that has ended. */
function setUp(): SetUp {
  const log = new FakeLog()
  log.append(RUN, [token('a'), token('b'), token('c'), token('d'), resultEvent(RUN)])
  const clock = fakeClock()
  return { log, clock, pages: new PageCache(log, clock) }
}

describe('PageCache', () => {
  it('[RUNS-F9] A page is retained at its second read, and later readers get the same events', async () => {
    const { log, pages } = setUp()
    const first = await pages.read(QUERY)
    expect(isSharedPage(first.events)).toBe(false)
    const second = await pages.read(QUERY)
    expect(isSharedPage(second.events)).toBe(true)
    expect((await pages.read(QUERY)).events).toBe(second.events)
    expect(second).toEqual(first)
    expect(log.reads).toHaveLength(2)
  })

  it('[RUNS-F9] Readers at the same time share one read', async () => {
    const { log, pages } = setUp()
    await pages.read(QUERY)
    const found = await Promise.all(Array.from({ length: 9 }, () => pages.read(QUERY)))
    expect(new Set(found.map(({ events }) => events)).size).toBe(1)
    expect(log.reads).toHaveLength(2)
  })

  it('[RUNS-F9] Pages of different queries are different', async () => {
    const { pages } = setUp()
    const queries = [
      QUERY,
      { ...QUERY, limit: 2 },
      { ...QUERY, from: 1 },
      { ...QUERY, runId: 'run-b' },
    ]
    for (const query of [...queries, ...queries]) await pages.read(query)
    const found = await Promise.all(queries.map((query) => pages.read(query)))
    expect(found.map(({ events }) => events.map(({ seq }) => seq))).toEqual([
      [0, 1, 2],
      [0, 1],
      [1, 2, 3],
      [],
    ])
  })

  it('[RUNS-F9] Pages are forgotten when they exceed the memory limit, oldest first', async () => {
    const { log, pages } = setUp()
    const large = 'x'.repeat(6_000_000)
    log.append('run-b', [token(large), token('end'), token('end')])
    log.append('run-c', [token(large), token('end'), token('end')])
    const small = { ...QUERY, limit: 1 }
    const read = async (runId: string): Promise<number> => {
      await pages.read({ ...small, runId })
      return log.reads.length
    }
    await read('run-b')
    await read('run-b')
    expect(await read('run-b')).toBe(2)
    await read('run-c')
    expect(await read('run-c')).toBe(4)
    expect(await read('run-c')).toBe(4)
    expect(await read('run-b')).toBe(5)
  })

  it('[RUNS-F10] A page is read again after 2 s', async () => {
    const { log, clock, pages } = setUp()
    await pages.read(QUERY)
    await pages.read(QUERY)
    await clock.advance(1_999)
    await pages.read(QUERY)
    expect(log.reads).toHaveLength(2)
    log.delete(RUN)
    await clock.advance(1)
    expect(await pages.read(QUERY)).toEqual({ events: [], lastSeq: undefined })
  })

  it('[RUNS-F10] A page that began to be read before a deletion is not retained', async () => {
    const { log, pages } = setUp()
    await pages.read(QUERY)
    const reading = pages.read(QUERY)
    log.delete(RUN)
    pages.clear()
    await reading
    expect((await pages.read(QUERY)).events).toEqual([])
  })

  it('[RUNS-F10] A page with the newest event of an unfinished run is read by each reader, also at the same time', async () => {
    const { log, pages } = setUp()
    log.append('run-b', [token('a'), token('b')])
    const query = { ...QUERY, runId: 'run-b' }
    await pages.read(query)
    const before = pages.read(query)
    log.append('run-b', [token('c')])
    const after = pages.read(query)
    expect((await before).events).toHaveLength(2)
    expect((await after).events).toHaveLength(3)
    await pages.read(query)
    expect(isSharedPage((await pages.read(query)).events)).toBe(false)
  })

  it('[RUNS-F10] A page of some types is read by each reader while it is not full', async () => {
    const { log, pages } = setUp()
    log.append('run-b', [token('a'), runStarted, token('b'), runStarted])
    const query = { ...QUERY, runId: 'run-b', types: ['token'] as const }
    await pages.read(query)
    expect((await pages.read(query)).events.map(({ seq }) => seq)).toEqual([0, 2])
    log.append('run-b', [token('c'), runStarted])
    expect((await pages.read(query)).events.map(({ seq }) => seq)).toEqual([0, 2, 4])
    await pages.read(query)
    expect(isSharedPage((await pages.read(query)).events)).toBe(true)
  })

  it('A read that fails is not retained', async () => {
    const { log, pages } = setUp()
    await pages.read(QUERY)
    log.beforeAnswer = () => {
      throw new Error('The store is gone')
    }
    await expect(pages.read(QUERY)).rejects.toThrow('The store is gone')
    log.beforeAnswer = undefined
    expect((await pages.read(QUERY)).events).toHaveLength(3)
  })
})
