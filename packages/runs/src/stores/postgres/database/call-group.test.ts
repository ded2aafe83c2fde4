import { setImmediate as nextTurn } from 'node:timers/promises'

import { TuttiError } from '@tutti/core'
import { expect, it } from 'vitest'

import { workFor } from '../../../load/work-source.ts'
import { CallGroup } from './call-group.ts'

it('[RUNS-D8] A call group makes the calls of one turn of the event loop together', async () => {
  const { calls, groups } = groupOf()
  const first = Promise.all([calls.add('a'), calls.add('b')])
  await nextTurn()
  expect([await first, await calls.add('c')]).toEqual([['A', 'B'], 'C'])
  expect(groups).toEqual([['a', 'b'], ['c']])
})

it('[RUNS-D8] A call group makes the calls together that waited for the last group', async () => {
  const gate = Promise.withResolvers<void>()
  const { calls, groups } = groupOf({ maxGroups: 1, wait: () => gate.promise })
  const all = [calls.add('a')]
  for (const call of ['b', 'c']) {
    await nextTurn()
    all.push(calls.add(call))
  }
  await nextTurn()
  expect(groups).toEqual([['a']])
  gate.resolve()
  expect(await Promise.all(all)).toEqual(['A', 'B', 'C'])
  expect(groups).toEqual([['a'], ['b', 'c']])
})

it('[RUNS-D9] A call group makes each call alone after a failure, and only the refused one fails', async () => {
  const { calls, groups } = groupOf({
    wait: (group) => (group.includes('bad') ? Promise.reject(new Error('bad')) : undefined),
  })
  const results = await Promise.allSettled([calls.add('a'), calls.add('bad'), calls.add('b')])
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
  expect(groups).toEqual([['a', 'bad', 'b'], ['a'], ['bad'], ['b']])
})

it('[RUNS-D9] A call group fails all calls while the database cannot be reached', async () => {
  const lost = new TuttiError('STORE_UNAVAILABLE', 'The database is lost', { retryable: true })
  const { calls, groups } = groupOf({ wait: () => Promise.reject(lost) })
  const results = await Promise.allSettled([calls.add('a'), calls.add('b')])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(groups).toEqual([['a', 'b']])
})

it('[RUNS-D10] A call group of limited size takes a call of each caller in turn', async () => {
  const { calls, groups } = groupOf({ maxGroups: 1, size: 400_000 })
  const eager = { key: 'eager', connection: {} }
  const other = { key: 'other', connection: {} }
  await Promise.all([
    ...['a', 'b', 'c', 'd'].map((call) => workFor(eager, () => calls.add(call))),
    workFor(other, () => calls.add('x')),
  ])
  expect(groups).toEqual([
    ['a', 'x', 'b'],
    ['c', 'd'],
  ])
})

interface GroupSettings {
  readonly maxGroups?: number
  readonly size?: number
  readonly wait?: (calls: readonly string[]) => Promise<void> | undefined
}

/** Returns a group whose calls return their texts in capitals. */
function groupOf({ maxGroups = Infinity, size = 1, wait }: GroupSettings = {}) {
  const groups: (readonly string[])[] = []
  const calls = new CallGroup<string, string>({
    maxGroups,
    sizeOf: () => size,
    async run(group) {
      groups.push(group)
      await wait?.(group)
      return group.map((call) => call.toUpperCase())
    },
  })
  return { calls, groups }
}
