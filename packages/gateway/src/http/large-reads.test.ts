import { ByteBudget, readTurn, workFor } from '@tutti/runs/internal'
import { describe, expect, it } from 'vitest'

import { LargeReads } from './large-reads.ts'

/** Resolves after the waiting callers have run. */
const turn = readTurn

describe('LargeReads', () => {
  it('[GW-X1] LargeReads builds two answers at a time, and the others of one connection in the order of their requests', async () => {
    const reads = new LargeReads(() => undefined, new ByteBudget(100_000_000))
    const begun: number[] = []
    const ends = [1, 2, 3, 4].map(() => Promise.withResolvers<void>())
    const all = ends.map(({ promise }, index) =>
      reads.run(async () => {
        begun.push(index)
        await promise
      }),
    )
    await turn()
    await turn()
    expect(begun).toEqual([0, 1])
    ends[1]?.resolve()
    await turn()
    await turn()
    expect(begun).toEqual([0, 1, 2])
    for (const end of ends) end.resolve()
    await Promise.all(all)
    expect(begun).toEqual([0, 1, 2, 3])
  })

  it('[GW-X1] LargeReads passes the slot of a failed answer to the next one', async () => {
    const reads = new LargeReads(() => undefined, new ByteBudget(100_000_000))
    const fail = (): Promise<never> => Promise.reject(new Error('No'))
    const failed = await Promise.allSettled([1, 2, 3].map(() => reads.run(fail)))
    expect(failed.every(({ status }) => status === 'rejected')).toBe(true)
    expect(await reads.run(() => Promise.resolve('done'))).toBe('done')
  })

  it('[GW-X3] LargeReads skips an answer whose client has disconnected, without using a slot', async () => {
    const reads = new LargeReads(() => undefined, new ByteBudget(100_000_000))
    const first = Promise.withResolvers<void>()
    const client = new AbortController()
    let built = 0
    const build = async (): Promise<void> => {
      built += 1
    }
    const busy = [1, 2].map(() => reads.run(() => first.promise))
    const left = Array.from({ length: 100 }, () => reads.run(build, client.signal))
    const last = reads.run(build)
    client.abort()
    first.resolve()
    const ends = await Promise.allSettled(left)
    expect(ends.every(({ status }) => status === 'rejected')).toBe(true)
    await Promise.all([...busy, last])
    expect(built).toBe(1)
  })

  it('[GW-X1] LargeReads lets the keys of waiting answers take turns', async () => {
    const reads = new LargeReads(() => undefined, new ByteBudget(100_000_000))
    const built: string[] = []
    const busy = Promise.withResolvers<void>()
    const first = ['x', 'x', 'y', 'z'].map((key) =>
      workFor({ key, connection: {} }, () => reads.run(() => busy.promise)),
    )
    const rest = ['many', 'many', 'many', 'one'].map((key) =>
      workFor({ key, connection: {} }, () => reads.run(async () => void built.push(key))),
    )
    busy.resolve()
    await Promise.all([...first, ...rest])
    expect(built).toEqual(['many', 'one', 'many', 'many'])
  })

  it('[GW-X1] LargeReads builds an answer of another key while one key has many that take long', async () => {
    const reads = new LargeReads(() => undefined, new ByteBudget(100_000_000))
    const end = Promise.withResolvers<void>()
    const many = { key: 'many', connection: {} }
    const slow = [1, 2, 3, 4].map(() => workFor(many, () => reads.run(() => end.promise)))
    const other = { key: 'other', connection: {} }
    expect(await workFor(other, () => reads.run(async () => 'built'))).toBe('built')
    end.resolve()
    await Promise.all(slow)
  })

  it('[GW-X4] LargeReads limits the bytes of waiting answers, and counts a finished one until its request is answered', async () => {
    const budget = new ByteBudget(40_000)
    const reads = new LargeReads(() => undefined, budget)
    const held = budget.hold('a', 0)
    const end = Promise.withResolvers<Uint8Array>()
    const source = { key: 'a', connection: {}, held }
    await workFor(source, async () => {
      const begun = [reads.run(() => end.promise), reads.run(() => end.promise)]
      await expect(reads.run(() => end.promise)).rejects.toMatchObject({ code: 'OVERLOADED' })
      end.resolve(new Uint8Array(1_000))
      await Promise.all(begun)
    })
    expect(budget.used).toBe(2_000)
    held.release()
    expect(budget.used).toBe(0)
  })

  it('[GW-X2] LargeReads frees memory before each answer', async () => {
    let made = 0
    const reads = new LargeReads(() => {
      made += 1
    }, new ByteBudget(100_000_000))
    await Promise.all([1, 2, 3].map(() => reads.run(() => Promise.resolve())))
    expect(made).toBe(3)
  })
})
