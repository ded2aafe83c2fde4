import { describe, expect, it } from 'vitest'

import { FakeLog, resultOf } from '../../test/fake-log.ts'
import { turns } from '../../test/turns.ts'
import { EventBus } from './event-bus.ts'
import { RunEventFeed } from './event-feed.ts'
import { token } from '../testing/index.ts'

import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'

const RUN = 'run-a'

describe('EventFeed, told of what this process wrote', () => {
  it('[RUNS-F4] publishes it at once, and reads nothing', () => {
    const { feed, log, heard } = setUp()
    feed.offer(RUN, log.append(RUN, tokens(2)))
    feed.offer(RUN, log.append(RUN, tokens(1)))
    expect(heard).toEqual(ids(0, 2))
    expect(log.reads).toEqual([])
  })

  it('[RUNS-F4] publishes in order what it is told out of order, each event once', async () => {
    const { feed, log, heard } = setUp()
    const first = log.append(RUN, tokens(2))
    const second = log.append(RUN, tokens(2))
    const third = log.append(RUN, tokens(1))
    feed.offer(RUN, first.slice(0, 1))
    feed.offer(RUN, second)
    feed.offer(RUN, first.slice(1))
    feed.offer(RUN, third)
    await turns()
    expect(heard).toEqual(ids(0, 4))
  })

  it('[RUNS-F4] publishes nothing again that it is told again', async () => {
    const { feed, log, heard } = setUp()
    const events = log.append(RUN, tokens(3))
    feed.offer(RUN, events)
    feed.offer(RUN, events)
    feed.offer(RUN, events.slice(1))
    await turns()
    expect(heard).toEqual(ids(0, 2))
  })

  it('[RUNS-F4] publishes of a batch only what was not published yet', async () => {
    const { feed, log, heard } = setUp()
    const events = log.append(RUN, tokens(3))
    feed.offer(RUN, events.slice(0, 2))
    feed.offer(RUN, events)
    await turns()
    expect(heard).toEqual(ids(0, 2))
  })

  it('[RUNS-F4] waits with it while it reads what came before', async () => {
    const { feed, log, heard } = setUp()
    feed.offer(RUN, log.append(RUN, tokens(1)))
    log.append(RUN, tokens(2))
    feed.onWritten(RUN, { from: 1, to: 2 })
    feed.offer(RUN, log.append(RUN, tokens(1)))
    expect(heard).toEqual(ids(0, 0))
    await turns()
    expect(heard).toEqual(ids(0, 3))
  })

  it('takes no notification of no events', () => {
    const { feed, log, heard } = setUp()
    feed.offer(RUN, [])
    expect([log.reads, heard]).toEqual([[], []])
  })

  it('[RUNS-F4] a run that goes on here begins where it is told', () => {
    const { feed, log, heard } = setUp()
    log.append(RUN, tokens(5))
    feed.offer(RUN, log.append(RUN, tokens(1)))
    expect(heard).toEqual(ids(5, 5))
  })
})

describe('EventFeed, told of what others wrote', () => {
  it('[RUNS-F4] reads it and publishes it in order', async () => {
    const { feed, log, heard } = setUp()
    log.append(RUN, tokens(3))
    feed.onWritten(RUN, { from: 0, to: 2 })
    await turns()
    expect(heard).toEqual(ids(0, 2))
    expect(log.reads).toEqual([{ runId: RUN, from: 0, limit: 500 }])
  })

  it('[RUNS-F4] goes on reading for what it hears of meanwhile, and never reads twice at a time', async () => {
    const { feed, log, heard } = setUp()
    log.append(RUN, tokens(2))
    feed.onWritten(RUN, { from: 0, to: 1 })
    await turns(0)
    log.append(RUN, tokens(2))
    feed.onWritten(RUN, { from: 2, to: 3 })
    expect(log.reads).toHaveLength(1)
    await turns()
    expect(heard).toEqual(ids(0, 3))
    expect(log.reads.map(({ from }) => from)).toEqual([0, 2])
  })

  it('[RUNS-F4] reads long stretches by pages', async () => {
    const { feed, log, heard } = setUp()
    log.append(RUN, tokens(1_200))
    feed.onWritten(RUN, { from: 0, to: 1_199 })
    await turns(8)
    expect(heard).toEqual(ids(0, 1_199))
    expect(log.reads.map(({ from }) => from)).toEqual([0, 500, 1_000])
  })

  it('[RUNS-F4] fills the gap when a notification was lost', async () => {
    const { feed, log, heard } = setUp()
    feed.offer(RUN, log.append(RUN, tokens(1)))
    log.append(RUN, tokens(5))
    feed.onWritten(RUN, { from: 4, to: 5 })
    await turns()
    expect(heard).toEqual(ids(0, 5))
  })

  it('[RUNS-F4] an old notification does nothing', async () => {
    const { feed, log, heard } = setUp()
    feed.offer(RUN, log.append(RUN, tokens(5)))
    feed.onWritten(RUN, { from: 1, to: 3 })
    await turns()
    expect(heard).toEqual(ids(0, 4))
    expect(log.reads).toEqual([])
  })

  it('[RUNS-F5] reads nothing while nobody listens, and begins with what comes afterwards', async () => {
    const { feed, log, bus } = setUp({ listens: false })
    log.append(RUN, tokens(3))
    feed.onWritten(RUN, { from: 0, to: 2 })
    await turns()
    expect(log.reads).toEqual([])
    const heard = listenTo(bus)
    log.append(RUN, tokens(2))
    feed.onWritten(RUN, { from: 3, to: 4 })
    await turns()
    expect(heard).toEqual(ids(3, 4))
  })

  it('[RUNS-F5] reads the runs that somebody listens to by name, and no others', async () => {
    const { feed, log, bus } = setUp({ listens: false })
    const heard: string[] = []
    bus.listen('run-b', (events) => heard.push(...events.map(({ id }) => id)))
    for (const runId of ['run-b', 'run-c']) {
      log.append(runId, tokens(1))
      feed.onWritten(runId, { from: 0, to: 0 })
    }
    await turns()
    expect(heard).toEqual(['run-b:0'])
    expect(log.reads.map(({ runId }) => runId)).toEqual(['run-b'])
  })

  it('[RUNS-F5] reads no more pages when the last listener has gone', async () => {
    const { feed, log, bus } = setUp({ listens: false })
    const stop = bus.listenToAll(() => {
      stop()
    })
    log.append(RUN, tokens(900))
    feed.onWritten(RUN, { from: 0, to: 899 })
    await turns(8)
    expect(log.reads).toHaveLength(1)
  })

  it('says that the log could not be read, and reads it when it hears more', async () => {
    const { feed, log, heard, errors } = setUp()
    const broken = new Error('no connection')
    log.beforeAnswer = () => Promise.reject(broken)
    log.append(RUN, tokens(2))
    feed.onWritten(RUN, { from: 0, to: 1 })
    await turns()
    expect([heard, errors]).toEqual([[], [broken]])
    log.beforeAnswer = undefined
    log.append(RUN, tokens(1))
    feed.onWritten(RUN, { from: 2, to: 2 })
    await turns()
    expect(heard).toEqual(ids(0, 2))
  })

  it('reads no further when the log has less than it was told', async () => {
    const { feed, log, heard } = setUp()
    log.append(RUN, tokens(2))
    feed.onWritten(RUN, { from: 0, to: 9 })
    await turns(8)
    expect(heard).toEqual(ids(0, 1))
    expect(log.reads).toHaveLength(2)
  })
})

describe('EventFeed, about runs that end', () => {
  it('[RUNS-F4] publishes the end of a run that another process wrote', async () => {
    const { feed, log, heard } = setUp()
    log.append(RUN, [...tokens(1), resultOf(RUN)])
    feed.onWritten(RUN, { from: 0, to: 1 })
    await turns()
    expect(heard).toEqual(ids(0, 1))
  })

  it('[RUNS-F4] publishes nothing again of an ended run when its last notification comes late', async () => {
    const { feed, log, heard } = setUp()
    log.append(RUN, [...tokens(2), resultOf(RUN)])
    feed.onWritten(RUN, { from: 0, to: 1 })
    await turns()
    expect(heard).toEqual(ids(0, 2))
    feed.onWritten(RUN, { from: 2, to: 2 })
    await turns()
    expect(heard).toEqual(ids(0, 2))
  })

  it('[RUNS-F4] publishes nothing again of a run that ends while it looks at all runs', async () => {
    const { feed, log, heard } = setUp()
    feed.offer(RUN, log.append(RUN, tokens(2)))
    log.beforeAnswer = () => {
      log.beforeAnswer = undefined
      feed.offer(RUN, log.append(RUN, [resultOf(RUN)]))
    }
    await feed.catchUp()
    await turns()
    expect(heard).toEqual(ids(0, 2))
  })
})

describe('EventFeed, when notifications may have been missed', () => {
  it('[RUNS-F6] knows from the start how far each run is', async () => {
    const { feed, log, heard } = setUp()
    log.append(RUN, tokens(4))
    await feed.start()
    log.append(RUN, tokens(2))
    feed.onWritten(RUN, { from: 5, to: 5 })
    await turns()
    expect(heard).toEqual(ids(4, 5))
  })

  it('[RUNS-F6] publishes what was missed, of known runs and of new ones', async () => {
    const { feed, log, heard } = setUp()
    feed.offer(RUN, log.append(RUN, tokens(2)))
    log.append(RUN, tokens(2))
    log.append('run-b', tokens(1))
    await feed.catchUp()
    await turns()
    expect(heard.toSorted()).toEqual([...ids(0, 3), 'run-b:0'])
  })

  it('[RUNS-F6] publishes what was missed of a run that has ended meanwhile', async () => {
    const { feed, log, heard } = setUp()
    feed.offer(RUN, log.append(RUN, tokens(2)))
    log.append(RUN, [...tokens(1), resultOf(RUN)])
    await feed.catchUp()
    await turns()
    expect(heard).toEqual(ids(0, 3))
  })

  it('[RUNS-F6] a listener for all runs gets no event twice, however often it is looked at', async () => {
    const { feed, log, heard } = setUp()
    feed.offer(RUN, log.append(RUN, tokens(2)))
    log.append(RUN, tokens(1))
    feed.onWritten(RUN, { from: 2, to: 2 })
    await Promise.all([feed.catchUp(), feed.catchUp()])
    feed.offer(RUN, log.append(RUN, [resultOf(RUN)]))
    await feed.catchUp()
    await turns()
    expect(heard).toEqual(ids(0, 3))
  })

  it('[RUNS-F6] has the readers of each run look at the log again', async () => {
    const { feed, log, bus, heard } = setUp()
    const looks: number[] = []
    bus.listen('ended', (events) => looks.push(events.length))
    log.append('ended', [resultOf('ended')])
    await feed.catchUp()
    await turns()
    expect(looks).toEqual([0])
    expect(heard).toEqual([])
  })

  it('[RUNS-F6] forgets runs that are deleted', async () => {
    const { feed, log, heard } = setUp()
    feed.offer(RUN, log.append(RUN, tokens(2)))
    log.delete(RUN)
    await feed.catchUp()
    feed.offer(RUN, log.append(RUN, tokens(1)))
    await turns()
    expect(heard).toEqual([...ids(0, 1), `${RUN}:0`])
  })

  it('passes on that the log could not be read', async () => {
    const { feed, log } = setUp()
    log.beforeAnswer = () => Promise.reject(new Error('no connection'))
    await expect(feed.start()).rejects.toThrow('no connection')
    await expect(feed.catchUp()).rejects.toThrow('no connection')
  })
})

interface SetUp {
  readonly feed: RunEventFeed
  readonly log: FakeLog
  readonly bus: EventBus
  /** Ids of the events that a listener for all runs was told of. */
  readonly heard: readonly string[]
  readonly errors: readonly unknown[]
}

function setUp({ listens = true } = {}): SetUp {
  const log = new FakeLog()
  const errors: unknown[] = []
  const bus = new EventBus((error) => {
    throw error
  })
  const feed = new RunEventFeed({ events: log, bus, onError: (error) => errors.push(error) })
  return { feed, log, bus, heard: listens ? listenTo(bus) : [], errors }
}

function listenTo(bus: EventBus): readonly string[] {
  const heard: string[] = []
  bus.listenToAll((events: readonly LoggedRunEvent[]) => {
    heard.push(...events.map(({ id }) => id))
  })
  return heard
}

function tokens(count: number): readonly RunEvent[] {
  return Array.from({ length: count }, () => token('x'))
}

/** Ids of the events of the run from `first` to `last`. */
function ids(first: number, last: number): readonly string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => `${RUN}:${first + index}`)
}
