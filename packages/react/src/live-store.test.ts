import { describe, expect, it, vi } from 'vitest'

import { createLiveStore, type OpenStore } from './live-store.ts'

/** Creates a store of numbers, and records how often it was opened. */
function openCounted() {
  const opened: OpenStore<number>[] = []
  const store = createLiveStore(0, (open) => {
    opened.push(open)
    return () => undefined
  })
  return { opened, store }
}

describe('a live store', () => {
  it('[REACT-1] A live store is open while it has subscribers, also when one subscribes twice', () => {
    const { opened, store } = openCounted()
    const listener = vi.fn<() => void>()
    const first = store.subscribe(listener)
    const second = store.subscribe(listener)
    expect(opened).toHaveLength(1)
    first()
    expect(opened[0]?.signal.aborted).toBe(false)
    second()
    expect(opened[0]?.signal.aborted).toBe(true)
    store.subscribe(listener)()
    expect(opened.map(({ signal }) => signal.aborted)).toEqual([true, true])
  })

  it('[REACT-2] A live store notifies once of changes that arrive together, and shows them only then', async () => {
    const { opened, store } = openCounted()
    const notified = Promise.withResolvers<void>()
    const listener = vi.fn<() => void>(() => notified.resolve())
    const stop = store.subscribe(listener)
    for (let count = 0; count < 3; count += 1) opened[0]?.update((value) => value + 1)
    expect([store.get(), opened[0]?.get()]).toEqual([0, 3])
    await notified.promise
    expect([store.get(), listener.mock.calls.length]).toEqual([3, 1])
    stop()
  })

  it('[REACT-3] A live store keeps its value when it is closed, and ignores later changes', async () => {
    const { opened, store } = openCounted()
    const notified = Promise.withResolvers<void>()
    const stop = store.subscribe(() => notified.resolve())
    opened[0]?.update(() => 5)
    await notified.promise
    stop()
    opened[0]?.update(() => 7)
    expect([store.get(), store.getInitial()]).toEqual([5, 0])
    store.subscribe(() => undefined)()
    expect(opened[1]?.get()).toBe(5)
  })
})
