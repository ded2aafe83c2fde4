import { expect, it } from 'vitest'

import { AgentUpdates } from './update-queue.ts'

it('AgentUpdates yields updates in order until it is closed', async () => {
  const queue = new AgentUpdates<number>()
  const { promise, resolve } = Promise.withResolvers<void>()
  queue.closeWith(promise)
  queue.add(1)
  const got: number[] = []
  const reading = (async () => {
    for await (const update of queue.updates()) {
      got.push(update)
      if (update === 1) queue.add(2)
    }
  })()
  await new Promise(setImmediate)
  expect(got).toEqual([1, 2])
  queue.add(3)
  resolve()
  queue.add(4)
  await reading
  expect(got).toEqual([1, 2, 3, 4])
})

it('AgentUpdates yields the updates before its close, also after a failure', async () => {
  const queue = new AgentUpdates<number>()
  queue.add(1)
  queue.closeWith(Promise.reject(new Error('Failed')))
  await new Promise(setImmediate)
  const got: number[] = []
  for await (const update of queue.updates()) got.push(update)
  expect(got).toEqual([1])
})

it('AgentUpdates yields an update that is added while its last update is read', async () => {
  const queue = new AgentUpdates<number>()
  queue.closeWith(Promise.resolve())
  queue.add(1)
  await new Promise(setImmediate)
  const got: number[] = []
  for await (const update of queue.updates()) {
    got.push(update)
    if (update < 3) queue.add(update + 1)
  }
  expect(got).toEqual([1, 2, 3])
})
