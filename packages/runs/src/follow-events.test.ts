import { describe, expect, it } from 'vitest'

import { EventBus } from './event-bus.ts'
import { followEvents } from './follow-events.ts'
import { result, token } from './testing/run-storage-cases.ts'

import type { EventLog } from './ports/run-store.ts'
import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'

const RUN = 'run-a'

describe('followEvents', () => {
  it('[F1] gives what is in the log and then what comes, each event once, in order', async () => {
    const run = new FakeRun()
    run.append(3)
    const reader = run.follow(0)
    expect(await reader.take(3)).toEqual([0, 1, 2])
    run.append(2)
    expect(await reader.take(2)).toEqual([3, 4])
  })

  it('[F1] gives no event twice that was written while the log was read', async () => {
    const run = new FakeRun()
    run.append(2)
    run.duringRead = () => {
      run.duringRead = undefined
      run.append(2)
    }
    const reader = run.follow(0)
    run.append(1)
    expect(await reader.take(5)).toEqual([0, 1, 2, 3, 4])
  })

  it('[F1] begins where it is told, also when that is yet to come', async () => {
    const run = new FakeRun()
    run.append(2)
    const reader = run.follow(2)
    const first = reader.take(1)
    run.append(1)
    expect(await first).toEqual([2])
  })

  it('[F2] ends after the terminal event', async () => {
    const run = new FakeRun()
    run.append(1)
    const reader = run.follow(0)
    expect(await reader.take(1)).toEqual([0])
    run.end()
    expect(await reader.rest()).toEqual([1])
    expect(run.listeners).toBe(0)
  })

  it('[F3] a slow reader misses nothing of what did not fit in its memory', async () => {
    const run = new FakeRun()
    run.append(1)
    const reader = run.follow(0)
    expect(await reader.take(1)).toEqual([0])
    for (let burst = 0; burst < 50; burst += 1) run.append(100)
    run.end()
    expect(await reader.rest()).toEqual(Array.from({ length: 5001 }, (_, index) => index + 1))
    expect(run.reads).toBeGreaterThan(10)
  })

  it('[F3] a reader that keeps up is served from memory', async () => {
    const run = new FakeRun()
    const reader = run.follow(0)
    const all = reader.rest()
    for (let index = 0; index < 100; index += 1) {
      await new Promise((resolve) => setImmediate(resolve))
      run.append(1)
    }
    run.end()
    expect(await all).toHaveLength(101)
    expect(run.reads).toBe(1)
  })

  it('stops, and stops listening, when its signal aborts', async () => {
    const run = new FakeRun()
    run.append(1)
    const controller = new AbortController()
    const reader = run.follow(0, controller.signal)
    expect(await reader.take(1)).toEqual([0])
    const rest = reader.rest()
    controller.abort()
    expect(await rest).toEqual([])
    expect(run.listeners).toBe(0)
  })

  it('stops listening when its consumer leaves', async () => {
    const run = new FakeRun()
    run.append(1)
    for await (const _batch of run.events(0)) break
    expect(run.listeners).toBe(0)
  })

  it('gives every reader the same events, whenever it came', async () => {
    const run = new FakeRun()
    const early = run.follow(0).rest()
    run.append(700)
    const middle = run.follow(0).rest()
    run.append(700)
    run.end()
    const late = run.follow(0).rest()
    const expected = Array.from({ length: 1401 }, (_, index) => index)
    expect(await Promise.all([early, middle, late])).toEqual([expected, expected, expected])
  })
})

/** A run whose log and bus are in memory. */
class FakeRun {
  readonly #log: LoggedRunEvent[] = []
  readonly #bus = new EventBus((error) => {
    throw error
  })
  reads = 0
  listeners = 0
  duringRead: (() => void) | undefined

  append(count: number): void {
    this.#write(Array.from({ length: count }, () => token('x')))
  }

  end(): void {
    this.#write([result(RUN)])
  }

  events(from: number, signal?: AbortSignal): AsyncGenerator<readonly LoggedRunEvent[]> {
    const events: EventLog = {
      read: async ({ from: first, limit }) => {
        this.reads += 1
        const page = this.#log.slice(first, first + limit)
        await new Promise((resolve) => setImmediate(resolve))
        this.duringRead?.()
        return page
      },
    }
    const bus = {
      listen: (runId: string, listener: Parameters<EventBus['listen']>[1]) => {
        this.listeners += 1
        const stop = this.#bus.listen(runId, listener)
        return () => {
          this.listeners -= 1
          stop()
        }
      },
    }
    return followEvents({ events, bus }, { runId: RUN, from, ...(signal && { signal }) })
  }

  follow(from: number, signal?: AbortSignal): FakeReader {
    return new FakeReader(this.events(from, signal))
  }

  #write(events: readonly RunEvent[]): void {
    const logged = events.map((event, index) => {
      const seq = this.#log.length + index
      return { ...event, runId: RUN, seq, id: `${RUN}:${seq}` }
    })
    this.#log.push(...logged)
    this.#bus.publish(RUN, logged)
  }
}

class FakeReader {
  readonly #batches: AsyncGenerator<readonly LoggedRunEvent[]>

  constructor(batches: AsyncGenerator<readonly LoggedRunEvent[]>) {
    this.#batches = batches
  }

  /** The numbers of the next `count` events. */
  async take(count: number): Promise<readonly number[]> {
    const taken: number[] = []
    while (taken.length < count) {
      const { value, done } = await this.#batches.next()
      if (done === true) break
      taken.push(...value.map(({ seq }) => seq))
    }
    return taken
  }

  async rest(): Promise<readonly number[]> {
    return this.take(Number.POSITIVE_INFINITY)
  }
}
