import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

import { describe, expect, it } from 'vitest'

import { FakeLog, resultEvent } from '../../test/fake-log.ts'
import { turns } from '../../test/turns.ts'
import { EventBus, type EventListener } from './event-bus.ts'
import {
  followEvents,
  followNewRun,
  type EventBatches,
  type FollowSource,
} from './follow-events.ts'
import { token } from '../testing/index.ts'

import type { LoggedRunEvent, RunEvent, RunStatus } from '@tutti/protocol'

const RUN = 'run-a'

describe('followEvents', () => {
  it('[RUNS-F1] followEvents yields the events of the log and then live events, each once, in order', async () => {
    const run = new FakeRun()
    run.append(3)
    const reader = run.follow(0)
    expect(await reader.take(3)).toEqual([0, 1, 2])
    run.append(2)
    expect(await reader.take(2)).toEqual([3, 4])
  })

  it('[RUNS-F1] followEvents yields an event once that was written during a read of the log', async () => {
    const run = new FakeRun()
    run.append(2)
    run.duringRead(() => {
      run.append(2)
    })
    const reader = run.follow(0)
    run.append(1)
    expect(await reader.take(5)).toEqual([0, 1, 2, 3, 4])
  })

  it('[RUNS-F1] followEvents reads the log of a running run once, and does not read the run', async () => {
    const run = new FakeRun()
    run.append(3)
    const reader = run.follow(0)
    expect(await reader.take(3)).toEqual([0, 1, 2])
    await reader.idle()
    expect([run.reads, run.questions]).toEqual([1, 0])
    run.append(1)
    run.end()
    expect(await reader.rest()).toEqual([3, 4])
    expect([run.reads, run.questions]).toEqual([1, 0])
  })

  it('[RUNS-F1] followEvents starts at the given number, even if it is in the future', async () => {
    const run = new FakeRun()
    run.append(2)
    const reader = run.follow(2)
    const first = reader.take(1)
    run.append(1)
    expect(await first).toEqual([2])
  })

  it('[RUNS-F8] followEvents throws the newest number when the log has lost events that it yielded', async () => {
    const run = new FakeRun()
    run.append(3)
    const reader = run.follow(0)
    expect(await reader.take(3)).toEqual([0, 1, 2])
    await reader.idle()
    run.truncate(2)
    await expect(reader.take(1)).rejects.toMatchObject({
      code: 'CURSOR_PAST_END',
      details: { lastSeq: 1 },
    })
    expect(run.listeners).toBe(0)
  })

  it('[RUNS-F8] followEvents continues after a check that finds all events', async () => {
    const run = new FakeRun()
    run.append(3)
    const reader = run.follow(0)
    expect(await reader.take(3)).toEqual([0, 1, 2])
    await reader.idle()
    run.nudge()
    await turns()
    run.append(1)
    expect(await reader.take(1)).toEqual([3])
  })

  it('[RUNS-F2] followEvents ends after the terminal event', async () => {
    const run = new FakeRun()
    run.append(1)
    const reader = run.follow(0)
    expect(await reader.take(1)).toEqual([0])
    run.end()
    expect(await reader.rest()).toEqual([1])
    expect(run.listeners).toBe(0)
  })

  it('Readers of short logs do not wait for each other', async () => {
    const run = new FakeRun()
    run.append(3)
    const readers = Array.from({ length: 50 }, () => run.follow(0))
    const read = readers.map((reader) => reader.take(3))
    await turns(4)
    expect(run.reads).toBe(50)
    run.end()
    expect(await Promise.all(read)).toEqual(readers.map(() => [0, 1, 2]))
    await Promise.all(readers.map((reader) => reader.rest()))
  })

  it('Readers of long logs take turns after their first pages', async () => {
    const run = new FakeRun()
    run.append(1_000)
    run.end()
    const readers = Array.from({ length: 20 }, () => run.follow(0))
    const read = readers.map((reader) => reader.rest())
    await turns(20)
    // One page each, then a turn at the start and every eight passes of the event loop.
    expect(run.reads).toBeLessThan(30)
    const seqs = Array.from({ length: 1_001 }, (_, index) => index)
    expect(await Promise.all(read)).toEqual(readers.map(() => seqs))
  })

  it('[RUNS-F9] Readers who start at different events read the same pages from the next multiple of 5,000 on', async () => {
    const run = new FakeRun()
    run.append(5_700)
    run.end()
    const cursors: (readonly number[])[] = []
    for (const from of [4_000, 4_037, 4_960]) {
      const before = run.cursors.length
      expect(await run.follow(from).rest()).toHaveLength(5_701 - from)
      cursors.push(run.cursors.slice(before))
    }
    expect(cursors).toEqual([
      [4_000, 4_050, 4_550, 5_000, 5_500],
      [4_037, 4_087, 4_587, 5_000, 5_500],
      [4_960, 5_000, 5_500],
    ])
  })

  it('[RUNS-F3] A slow reader misses no events that did not fit into memory', async () => {
    const run = new FakeRun()
    run.append(1)
    const reader = run.follow(0)
    expect(await reader.take(1)).toEqual([0])
    for (let burst = 0; burst < 50; burst += 1) run.append(100)
    run.end()
    expect(await reader.rest()).toEqual(Array.from({ length: 5001 }, (_, index) => index + 1))
    expect(run.reads).toBeGreaterThan(10)
  })

  it('[RUNS-F3] A reader that keeps up is served from memory', async () => {
    const run = new FakeRun()
    const reader = run.follow(0)
    const all = reader.rest()
    for (let index = 0; index < 100; index += 1) {
      await turns(1)
      run.append(1)
    }
    run.end()
    expect(await all).toHaveLength(101)
    expect(run.reads).toBe(1)
  })

  it('[RUNS-F3] followEvents reads large events from the log again when their reader is slow', async () => {
    const run = new FakeRun()
    const reader = run.follow(0)
    const first = reader.take(1)
    run.append(1)
    await first
    for (let count = 0; count < 3; count += 1) run.append(1, 'x'.repeat(200_000))
    expect(await reader.take(3)).toEqual([1, 2, 3])
    expect(run.reads).toBe(2)
  })

  it('[RUNS-F3] followEvents does not retain a batch that was yielded', async () => {
    setFlagsFromString('--expose-gc')
    const collectGarbage: unknown = runInNewContext('gc')
    const run = new FakeRun()
    run.append(1)
    const batches = run.events(0)
    const takeOne = async () => new WeakRef((await batches.next()).value ?? [])
    const batch = await takeOne()
    await turns(1)
    if (typeof collectGarbage === 'function') collectGarbage()
    expect(batch.deref()).toBeUndefined()
  })

  it('[RUNS-F1] followEvents reads the log again after a gap in the live events', async () => {
    const run = new FakeRun()
    run.append(1)
    const reader = run.follow(0)
    expect(await reader.take(1)).toEqual([0])
    await reader.idle()
    run.appendUnpublished(2)
    run.append(1)
    expect(await reader.take(3)).toEqual([1, 2, 3])
    run.end()
    expect(await reader.rest()).toEqual([4])
  })

  it('[RUNS-F1] followEvents reads the log again after an empty list of events', async () => {
    const run = new FakeRun()
    run.append(1)
    const reader = run.follow(0)
    expect(await reader.take(1)).toEqual([0])
    await reader.idle()
    run.appendUnpublished(2)
    run.nudge()
    expect(await reader.take(2)).toEqual([1, 2])
    run.append(1)
    expect(await reader.take(1)).toEqual([3])
  })

  it.for([0, 1])(
    '[RUNS-F1] followEvents reads once more after an empty list during a read from event %i',
    async (from) => {
      const run = new FakeRun()
      run.append(1)
      run.duringRead(() => {
        run.appendUnpublished(1)
        run.nudge()
      })
      expect(await run.follow(from).take(2 - from)).toEqual([0, 1].slice(from))
      expect(run.reads).toBe(2)
    },
  )

  it('[RUNS-F1] followEvents reads the log again if the events during a read did not fit into memory', async () => {
    const run = new FakeRun()
    run.append(1)
    run.duringRead(() => {
      run.append(1_001)
    })
    const reader = run.follow(0)
    expect(await reader.take(1_002)).toEqual(Array.from({ length: 1_002 }, (_, index) => index))
    run.end()
    expect(await reader.rest()).toEqual([1_002])
  })

  it('[RUNS-F1] followEvents continues to wait when the log has no new events', async () => {
    const run = new FakeRun()
    run.append(1)
    const reader = run.follow(0)
    expect(await reader.take(1)).toEqual([0])
    await reader.idle()
    const { reads } = run
    run.nudge()
    await turns(32)
    expect(run.reads).toBe(reads + 1)
    run.append(1)
    expect(await reader.take(1)).toEqual([1])
  })

  it('[RUNS-F2] followEvents ends when it reads again and the run has ended', async () => {
    const run = new FakeRun()
    run.append(1)
    const reader = run.follow(0)
    expect(await reader.take(1)).toEqual([0])
    await reader.idle()
    run.endUnpublished()
    run.nudge()
    expect(await reader.rest()).toEqual([1])
  })

  it('[RUNS-F2] followEvents ends when it reads again and the run was deleted', async () => {
    const run = new FakeRun()
    run.append(2)
    const reader = run.follow(0)
    expect(await reader.take(2)).toEqual([0, 1])
    await reader.idle()
    run.delete()
    expect(await reader.rest()).toEqual([])
    expect(run.listeners).toBe(0)
  })

  it('[RUNS-F2] followEvents ends at once when the run is unknown', async () => {
    const run = new FakeRun()
    run.delete()
    expect(await run.follow(0).rest()).toEqual([])
  })

  it('[RUNS-F2] followEvents reads the run only when its log has no further events', async () => {
    const run = new FakeRun()
    run.append(2)
    const reader = run.follow(0)
    expect(await reader.take(2)).toEqual([0, 1])
    run.append(1)
    expect(await reader.take(1)).toEqual([2])
    run.end()
    expect(await reader.rest()).toEqual([3])
    expect(run.questions).toBe(0)
    await run.follow(9).idle()
    expect(run.questions).toBe(1)
  })

  it('[RUNS-F2] followEvents ends with the run even if it starts after the last event', async () => {
    const run = new FakeRun()
    run.append(1)
    const reader = run.follow(9)
    await reader.idle()
    run.append(1)
    run.end()
    expect(await reader.rest()).toEqual([])
    expect(await run.follow(9).rest()).toEqual([])
    expect(run.listeners).toBe(0)
  })

  it('[RUNS-F2] followEvents yields the end of a run that ends during a read of the log', async () => {
    const run = new FakeRun()
    run.append(1)
    run.duringRead(() => {
      run.end()
    })
    expect(await run.follow(1).rest()).toEqual([1])
  })

  it('[RUNS-F2] followEvents yields the end from the log to a reader that starts later', async () => {
    const run = new FakeRun()
    run.append(2)
    run.end()
    expect(await run.follow(1).rest()).toEqual([1, 2])
    expect(run.listeners).toBe(0)
  })

  it('followEvents throws the error of a failed read, and stops listening', async () => {
    const run = new FakeRun()
    run.duringRead(() => Promise.reject(new Error('no connection')))
    await expect(run.follow(0).take(1)).rejects.toThrow('no connection')
    expect(run.listeners).toBe(0)
  })

  it('followEvents yields nothing when its signal has already aborted', async () => {
    const run = new FakeRun()
    run.append(1)
    expect(await run.follow(0, AbortSignal.abort()).rest()).toEqual([])
    expect([run.reads, run.listeners]).toEqual([0, 0])
  })

  it('followEvents stops when its signal aborts during a read without new events', async () => {
    const run = new FakeRun()
    const controller = new AbortController()
    run.duringRead(() => {
      controller.abort()
    })
    let isOver = false
    const reading = run
      .follow(0, controller.signal)
      .rest()
      .then(() => (isOver = true))
    await turns(32)
    expect([isOver, run.listeners]).toEqual([true, 0])
    await reading
  })

  it('followEvents stops, and stops listening, when its signal aborts', async () => {
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

  it('followEvents stops listening when its consumer stops', async () => {
    const run = new FakeRun()
    run.append(1)
    for await (const _batch of run.events(0)) break
    expect(run.listeners).toBe(0)
  })

  it('followEvents yields the same events to every reader, whenever it starts', async () => {
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

describe('followNewRun', () => {
  it('[RUNS-F1] followNewRun yields every event from the first without reading the log or the run', async () => {
    const run = new FakeRun()
    const reader = run.followNew()
    run.append(2)
    expect(await reader.take(2)).toEqual([0, 1])
    run.append(1)
    run.end()
    expect(await reader.rest()).toEqual([2, 3])
    expect([run.reads, run.questions, run.listeners]).toEqual([0, 0, 0])
  })

  it('[RUNS-F1] followNewRun reads events from the log that were not published', async () => {
    const run = new FakeRun()
    const reader = run.followNew()
    run.appendUnpublished(2)
    run.append(1)
    run.end()
    expect(await reader.rest()).toEqual([0, 1, 2, 3])
    expect(run.reads).toBeGreaterThan(0)
  })

  it('[RUNS-F3] followNewRun misses no event of a run that is faster than its reader', async () => {
    const run = new FakeRun()
    const reader = run.followNew()
    for (let burst = 0; burst < 50; burst += 1) run.append(100)
    run.end()
    expect(await reader.rest()).toEqual(Array.from({ length: 5001 }, (_, index) => index))
  })

  it('followNewRun stops listening when its reader leaves before the first event', async () => {
    const run = new FakeRun()
    const reader = run.followNew()
    expect(run.listeners).toBe(1)
    await reader.leave()
    expect(run.listeners).toBe(0)
  })
})

/** A run with a log and a bus in memory. */
class FakeRun {
  readonly #log = new FakeLog()
  readonly #bus = new EventBus((error) => {
    throw error
  })
  listeners = 0
  /** Number of reads of the run. */
  questions = 0
  #record: { status: RunStatus } | undefined = { status: 'RUNNING' }

  constructor() {
    this.#log.append(RUN, [])
  }

  get reads(): number {
    return this.#log.reads.length
  }

  /** First events of the pages that were read. */
  get cursors(): readonly number[] {
    return this.#log.reads.map(({ from }) => from)
  }

  append(count: number, text?: string): void {
    this.#bus.publish(RUN, this.appendUnpublished(count, text))
  }

  end(): void {
    this.#bus.publish(RUN, this.endUnpublished())
  }

  /** Writes events without publishing them. */
  appendUnpublished(count: number, text = 'x'): readonly LoggedRunEvent[] {
    return this.#log.append(
      RUN,
      Array.from({ length: count }, (): RunEvent => token(text)),
    )
  }

  endUnpublished(): readonly LoggedRunEvent[] {
    const events = this.#log.append(RUN, [resultEvent(RUN)])
    this.#record = { status: 'COMPLETED' }
    return events
  }

  nudge(): void {
    this.#bus.nudge(RUN)
  }

  /** Loses the events from `length` on, as a failover does. */
  truncate(length: number): void {
    this.#log.truncate(RUN, length)
    this.nudge()
  }

  /** Deletes the run with its events. */
  delete(): void {
    this.#record = undefined
    this.#log.delete(RUN)
    this.nudge()
  }

  /** Runs a callback once, after the next read of the log and before that read resolves. */
  duringRead(action: () => unknown): void {
    this.#log.beforeAnswer = () => {
      this.#log.beforeAnswer = undefined
      return action()
    }
  }

  events(from: number, signal?: AbortSignal): EventBatches {
    return followEvents(this.#source(), { runId: RUN, from, ...(signal && { signal }) })
  }

  followNew(): FakeReader {
    return new FakeReader(followNewRun(this.#source(), RUN))
  }

  #source(): FollowSource {
    const bus = {
      listen: (runId: string, listener: EventListener) => {
        this.listeners += 1
        const stop = this.#bus.listen(runId, listener)
        return () => {
          this.listeners -= 1
          stop()
        }
      },
    }
    const find = () => {
      this.questions += 1
      const record = this.#record
      return Promise.resolve(record && { ...record, lastSeq: this.#log.lastSeq(RUN) })
    }
    return { events: this.#log, bus, find }
  }

  follow(from: number, signal?: AbortSignal): FakeReader {
    return new FakeReader(this.events(from, signal))
  }
}

class FakeReader {
  readonly #batches: EventBatches
  #next: Promise<IteratorResult<readonly LoggedRunEvent[]>> | undefined

  constructor(batches: EventBatches) {
    this.#batches = batches
  }

  /** Returns the numbers of the next `count` events. */
  async take(count: number): Promise<readonly number[]> {
    const taken: number[] = []
    while (taken.length < count) {
      const { value, done } = await (this.#next ?? this.#batches.next())
      this.#next = undefined
      if (done === true) break
      taken.push(...value.map(({ seq }) => seq))
    }
    return taken
  }

  /** Requests the next batch and lets it wait for future events. */
  async idle(): Promise<void> {
    this.#next = this.#batches.next()
    await turns(32)
  }

  async rest(): Promise<readonly number[]> {
    return this.take(Number.POSITIVE_INFINITY)
  }

  async leave(): Promise<void> {
    await this.#batches.return?.()
  }
}
