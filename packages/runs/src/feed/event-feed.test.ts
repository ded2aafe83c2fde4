import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { FakeLog, resultEvent } from '../../test/fake-log.ts'
import { turns } from '../../test/turns.ts'
import { EventBus } from './event-bus.ts'
import { PageCache } from './page-cache.ts'
import { RunEventFeed } from './event-feed.ts'
import { token } from '../testing/index.ts'

import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'

const RUN = 'run-a'

describe('RunEventFeed, with events of this process', () => {
  it('[RUNS-F4] RunEventFeed publishes events of this process at once without reading the log', () => {
    const { feed, log, published } = setUp()
    feed.offer(RUN, log.append(RUN, tokens(2)))
    feed.offer(RUN, log.append(RUN, tokens(1)))
    expect(published).toEqual(ids(0, 2))
    expect(log.reads).toEqual([])
  })

  it('[RUNS-F4] RunEventFeed publishes events in order, each once, if they are offered out of order', async () => {
    const { feed, log, published } = setUp()
    const first = log.append(RUN, tokens(2))
    const second = log.append(RUN, tokens(2))
    const third = log.append(RUN, tokens(1))
    feed.offer(RUN, first.slice(0, 1))
    feed.offer(RUN, second)
    feed.offer(RUN, first.slice(1))
    feed.offer(RUN, third)
    await turns()
    expect(published).toEqual(ids(0, 4))
  })

  it('[RUNS-F4] RunEventFeed does not publish repeated events again', async () => {
    const { feed, log, published } = setUp()
    const events = log.append(RUN, tokens(3))
    feed.offer(RUN, events)
    feed.offer(RUN, events)
    feed.offer(RUN, events.slice(1))
    await turns()
    expect(published).toEqual(ids(0, 2))
  })

  it('[RUNS-F4] RunEventFeed publishes only the new events of a batch', async () => {
    const { feed, log, published } = setUp()
    const events = log.append(RUN, tokens(3))
    feed.offer(RUN, events.slice(0, 2))
    feed.offer(RUN, events)
    await turns()
    expect(published).toEqual(ids(0, 2))
  })

  it('[RUNS-F4] RunEventFeed publishes events of this process after the earlier events that it reads', async () => {
    const { feed, log, published } = setUp()
    feed.offer(RUN, log.append(RUN, tokens(1)))
    log.append(RUN, tokens(2))
    feed.onWritten(RUN, { from: 1, to: 2 })
    feed.offer(RUN, log.append(RUN, tokens(1)))
    expect(published).toEqual(ids(0, 0))
    await turns()
    expect(published).toEqual(ids(0, 3))
  })

  it('RunEventFeed ignores an empty list of events', () => {
    const { feed, log, published } = setUp()
    feed.offer(RUN, [])
    expect([log.reads, published]).toEqual([[], []])
  })

  it('[RUNS-F4] RunEventFeed starts a resumed run at its first offered event', () => {
    const { feed, log, published } = setUp()
    log.append(RUN, tokens(5))
    feed.offer(RUN, log.append(RUN, tokens(1)))
    expect(published).toEqual(ids(5, 5))
  })
})

describe('RunEventFeed, with events of other processes', () => {
  it('[RUNS-F4] RunEventFeed reads and publishes events of other processes in order', async () => {
    const { feed, log, published } = setUp()
    log.append(RUN, tokens(3))
    feed.onWritten(RUN, { from: 0, to: 2 })
    await turns()
    expect(published).toEqual(ids(0, 2))
    expect(log.reads).toEqual([{ runId: RUN, from: 0, limit: 500 }])
  })

  it('[RUNS-F4] RunEventFeed continues to read for later notifications, one read at a time', async () => {
    const { feed, log, published } = setUp()
    log.append(RUN, tokens(2))
    feed.onWritten(RUN, { from: 0, to: 1 })
    await turns(0)
    log.append(RUN, tokens(2))
    feed.onWritten(RUN, { from: 2, to: 3 })
    expect(log.reads).toHaveLength(1)
    await turns()
    expect(published).toEqual(ids(0, 3))
    expect(log.reads.map(({ from }) => from)).toEqual([0, 2])
  })

  it('[RUNS-F4] RunEventFeed reads many events in pages', async () => {
    const { feed, log, published } = setUp()
    log.append(RUN, tokens(1_200))
    feed.onWritten(RUN, { from: 0, to: 1_199 })
    await turns(8)
    expect(published).toEqual(ids(0, 1_199))
    expect(log.reads.map(({ from }) => from)).toEqual([0, 500, 1_000])
  })

  it('[RUNS-F4] RunEventFeed fills the gap of a lost notification', async () => {
    const { feed, log, published } = setUp()
    feed.offer(RUN, log.append(RUN, tokens(1)))
    log.append(RUN, tokens(5))
    feed.onWritten(RUN, { from: 4, to: 5 })
    await turns()
    expect(published).toEqual(ids(0, 5))
  })

  it('[RUNS-F4] RunEventFeed ignores an outdated notification', async () => {
    const { feed, log, published } = setUp()
    feed.offer(RUN, log.append(RUN, tokens(5)))
    feed.onWritten(RUN, { from: 1, to: 3 })
    await turns()
    expect(published).toEqual(ids(0, 4))
    expect(log.reads).toEqual([])
  })

  it('[RUNS-F5] RunEventFeed reads nothing without listeners, and continues with later events', async () => {
    const { feed, log, bus } = setUp({ listens: false })
    log.append(RUN, tokens(3))
    feed.onWritten(RUN, { from: 0, to: 2 })
    await turns()
    expect(log.reads).toEqual([])
    const published = listenTo(bus)
    log.append(RUN, tokens(2))
    feed.onWritten(RUN, { from: 3, to: 4 })
    await turns()
    expect(published).toEqual(ids(3, 4))
  })

  it('[RUNS-F5] RunEventFeed reads only runs that have listeners', async () => {
    const { feed, log, bus } = setUp({ listens: false })
    const published: string[] = []
    bus.listen('run-b', (events) => published.push(...events.map(({ id }) => id)))
    for (const runId of ['run-b', 'run-c']) {
      log.append(runId, tokens(1))
      feed.onWritten(runId, { from: 0, to: 0 })
    }
    await turns()
    expect(published).toEqual(['run-b:0'])
    expect(log.reads.map(({ runId }) => runId)).toEqual(['run-b'])
  })

  it('[RUNS-F5] RunEventFeed stops reading when the last listener is removed', async () => {
    const { feed, log, bus } = setUp({ listens: false })
    const stop = bus.listenToAll(() => {
      stop()
    })
    log.append(RUN, tokens(900))
    feed.onWritten(RUN, { from: 0, to: 899 })
    await turns(8)
    expect(log.reads).toHaveLength(1)
  })

  it('RunEventFeed reports a failed read, and reads again at the next notification', async () => {
    const { feed, log, published, errors } = setUp()
    const broken = new Error('no connection')
    log.beforeAnswer = () => Promise.reject(broken)
    log.append(RUN, tokens(2))
    feed.onWritten(RUN, { from: 0, to: 1 })
    await turns()
    expect([published, errors]).toEqual([[], [broken]])
    log.beforeAnswer = undefined
    log.append(RUN, tokens(1))
    feed.onWritten(RUN, { from: 2, to: 2 })
    await turns()
    expect(published).toEqual(ids(0, 2))
  })

  it('RunEventFeed stops reading when the log has fewer events than announced', async () => {
    const { feed, log, published } = setUp()
    log.append(RUN, tokens(2))
    feed.onWritten(RUN, { from: 0, to: 9 })
    await turns(8)
    expect(published).toEqual(ids(0, 1))
    expect(log.reads).toHaveLength(2)
  })
})

describe('RunEventFeed, when runs end', () => {
  it('[RUNS-F4] RunEventFeed publishes the end of a run that another process wrote', async () => {
    const { feed, log, published } = setUp()
    log.append(RUN, [...tokens(1), resultEvent(RUN)])
    feed.onWritten(RUN, { from: 0, to: 1 })
    await turns()
    expect(published).toEqual(ids(0, 1))
  })

  it('[RUNS-F4] RunEventFeed does not publish the events of an ended run again after a late notification', async () => {
    const { feed, log, published } = setUp()
    log.append(RUN, [...tokens(2), resultEvent(RUN)])
    feed.onWritten(RUN, { from: 0, to: 1 })
    await turns()
    expect(published).toEqual(ids(0, 2))
    feed.onWritten(RUN, { from: 2, to: 2 })
    await turns()
    expect(published).toEqual(ids(0, 2))
  })

  it('[RUNS-F4] RunEventFeed does not publish the events of a run again that ends during a check of all runs', async () => {
    const { feed, log, published } = setUp()
    feed.offer(RUN, log.append(RUN, tokens(2)))
    log.beforeAnswer = () => {
      log.beforeAnswer = undefined
      feed.offer(RUN, log.append(RUN, [resultEvent(RUN)]))
    }
    await feed.poll()
    await turns()
    expect(published).toEqual(ids(0, 2))
  })
})

describe('RunEventFeed, when notifications may have been missed', () => {
  it('[RUNS-F6] RunEventFeed publishes missed events of a known run', async () => {
    const { feed, log, published } = setUp()
    feed.offer(RUN, log.append(RUN, tokens(2)))
    log.append(RUN, tokens(2))
    await feed.poll()
    await turns()
    expect(published).toEqual(ids(0, 3))
  })

  it('[RUNS-F6] RunEventFeed publishes events that were missed while a poll was under way', async () => {
    const { feed, log, published } = setUp()
    feed.offer(RUN, log.append(RUN, tokens(2)))
    let again: Promise<void> | undefined
    log.beforeAnswer = () => {
      log.beforeAnswer = undefined
      log.append(RUN, tokens(2))
      again = feed.pollAgain()
    }
    await feed.poll()
    expect(published).toEqual(ids(0, 1))
    await again
    await turns()
    expect(published).toEqual(ids(0, 3))
    expect(log.follows).toHaveLength(2)
  })

  it('[RUNS-F6] RunEventFeed publishes missed events of a run that has ended in the meantime', async () => {
    const { feed, log, published } = setUp()
    feed.offer(RUN, log.append(RUN, tokens(2)))
    log.append(RUN, [...tokens(1), resultEvent(RUN)])
    await feed.poll()
    await turns()
    expect(published).toEqual(ids(0, 3))
  })

  it('[RUNS-F6] RunEventFeed sends each event once to listeners of all runs, even after repeated polls', async () => {
    const { feed, log, published } = setUp()
    feed.offer(RUN, log.append(RUN, tokens(2)))
    log.append(RUN, tokens(1))
    feed.onWritten(RUN, { from: 2, to: 2 })
    await Promise.all([feed.poll(), feed.poll()])
    feed.offer(RUN, log.append(RUN, [resultEvent(RUN)]))
    await feed.poll()
    await turns()
    expect(published).toEqual(ids(0, 3))
  })

  it('[RUNS-F6] RunEventFeed makes the readers of a run read the log when it first polls the run', async () => {
    const { feed, log, bus } = setUp({ listens: false })
    const sizes: number[] = []
    bus.listen(RUN, (events) => sizes.push(events.length))
    log.append(RUN, tokens(2))
    await feed.poll()
    await feed.poll()
    expect(sizes).toEqual([0])
    log.append(RUN, tokens(3))
    await feed.poll()
    await turns()
    expect(sizes).toEqual([0, 3])
  })

  it('[RUNS-F6] RunEventFeed makes the readers of a deleted run read the log, and forgets the run', async () => {
    const { feed, log, bus, published } = setUp()
    const sizes: number[] = []
    bus.listen(RUN, (events) => sizes.push(events.length))
    feed.offer(RUN, log.append(RUN, tokens(2)))
    log.delete(RUN)
    await feed.poll()
    expect(sizes).toEqual([2, 0])
    feed.offer(RUN, log.append(RUN, tokens(1)))
    await turns()
    expect(published).toEqual([...ids(0, 1), `${RUN}:0`])
  })

  it('[RUNS-F8] RunEventFeed makes the readers of a run read the log when it is shorter, and starts over', async () => {
    const { feed, log, bus } = setUp({ listens: false })
    const received: (readonly number[])[] = []
    bus.listen(RUN, (events) => received.push(events.map(({ seq }) => seq)))
    feed.offer(RUN, log.append(RUN, tokens(3)))
    log.truncate(RUN, 1)
    await feed.poll()
    expect(received).toEqual([[0, 1, 2], []])
    log.append(RUN, tokens(1))
    await feed.poll()
    await turns()
    expect(received).toEqual([[0, 1, 2], [], [1]])
  })

  it('[RUNS-F6] RunEventFeed forgets runs without events between two sweeps', async () => {
    const { feed, log } = setUp()
    feed.offer(RUN, log.append(RUN, tokens(2)))
    await feed.sweep()
    await feed.sweep()
    expect(log.follows.map(({ runIds }) => runIds)).toEqual([[RUN], []])
  })

  it('RunEventFeed throws the error of a failed read', async () => {
    const { feed, log } = setUp()
    log.beforeAnswer = () => Promise.reject(new Error('no connection'))
    await expect(feed.poll()).rejects.toThrow('no connection')
    await expect(feed.sweep()).rejects.toThrow('no connection')
  })
})

describe('RunEventFeed, when it follows runs', () => {
  it('[RUNS-F7] RunEventFeed does not ask the store without listeners', async () => {
    const { feed, log } = setUp({ listens: false })
    feed.offer(RUN, log.append(RUN, tokens(2)))
    await feed.poll()
    expect(log.follows).toEqual([])
  })

  it('[RUNS-F7] RunEventFeed follows the runs with listeners that other processes write, and stops with the last listener', async () => {
    const { feed, log, bus } = setUp({ listens: false, own: ['own'] })
    const stops = ['own', RUN, 'run-b'].map((runId) => bus.listen(runId, () => undefined))
    await feed.poll()
    for (const stop of stops) stop()
    await feed.poll()
    await feed.poll()
    expect(log.follows).toEqual([
      { runIds: [RUN, 'run-b'], all: false },
      { runIds: [], all: false },
    ])
  })

  it('[RUNS-F7] RunEventFeed follows all runs for a listener of all', async () => {
    const { feed, log } = setUp()
    await feed.poll()
    expect(log.follows).toEqual([{ runIds: [], all: true }])
  })

  it('[RUNS-F7] RunEventFeed polls once for the listeners that are added within a while', async () => {
    const { feed, log, bus, clock } = setUp({ listens: false })
    for (const runId of [RUN, 'run-b']) {
      bus.listen(runId, () => undefined)
      feed.followSoon()
    }
    await clock.advance(99)
    expect(log.follows).toEqual([])
    await clock.advance(1)
    expect(log.follows).toEqual([{ runIds: [RUN, 'run-b'], all: false }])
  })
})

interface SetUp {
  readonly feed: RunEventFeed
  readonly log: FakeLog
  readonly clock: ReturnType<typeof fakeClock>
  readonly bus: EventBus
  /** Ids of the events that a listener for all runs received. */
  readonly published: readonly string[]
  readonly errors: readonly unknown[]
}

function setUp({
  listens = true,
  own = [],
}: { readonly listens?: boolean; readonly own?: readonly string[] } = {}): SetUp {
  const log = new FakeLog()
  const clock = fakeClock()
  const errors: unknown[] = []
  const bus = new EventBus((error) => {
    throw error
  })
  const feed = new RunEventFeed({
    events: log,
    bus,
    pages: new PageCache(log, clock),
    isOwn: (runId) => own.includes(runId),
    clock,
    onError: (error) => errors.push(error),
  })
  return { feed, log, clock, bus, published: listens ? listenTo(bus) : [], errors }
}

function listenTo(bus: EventBus): readonly string[] {
  const published: string[] = []
  bus.listenToAll((events: readonly LoggedRunEvent[]) => {
    published.push(...events.map(({ id }) => id))
  })
  return published
}

function tokens(count: number): readonly RunEvent[] {
  return Array.from({ length: count }, () => token('x'))
}

/** Returns the run's event ids from `first` to `last`. */
function ids(first: number, last: number): readonly string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => `${RUN}:${first + index}`)
}
