import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { EventBus } from './event-bus.ts'
import { GroupCommit, type DurableJournal } from './group-commit.ts'
import { token } from './testing/run-storage-cases.ts'

import type { RunStore, RunWrite, WriteResult } from './ports/run-store.ts'
import type { RunStep } from '@tutti/ensemble'
import type { RunEvent } from '@tutti/protocol'
import type { TuttiError } from '@tutti/core'

const CANCELLING: RunEvent = {
  type: 'run_cancelling',
  requestedAt: '2026-01-01T00:00:00.000Z',
  mode: 'abort',
}

const CANCEL: RunStep = { kind: 'cancel_asked', mode: 'abort', runMs: 0 }

const BEGUN: RunStep = { kind: 'run_begun', startedAt: 0, runMs: 0 }

describe('GroupCommit', () => {
  it('[G1] writes the events of a run in the order they were emitted', async () => {
    const { journal, written } = setUp()
    journal.emit(token('a', 1))
    journal.emit(CANCELLING)
    journal.emit(token('b', 1))
    await journal.flush()
    expect(written('run-a').map(textOf)).toEqual(['a', 'run_cancelling', 'b'])
  })

  it('[G2] tells readers only after the store has answered', async () => {
    const answers: (() => void)[] = []
    const { journal, heard } = setUp({ beforeAnswer: () => new Promise((go) => answers.push(go)) })
    journal.emit(CANCELLING)
    await turnOfTheLoop()
    expect(answers).toHaveLength(1)
    expect(heard).toEqual([])
    answers[0]?.()
    await journal.flush()
    expect(heard).toEqual(['run-a:0'])
  })

  it('[G3] joins tokens of one model call, each task apart, and loses no text', async () => {
    const { journal, written, clock } = setUp()
    for (const text of ['one ', 'two ', 'three']) {
      journal.emit(token(text, 1))
      journal.emit(token(text.toUpperCase(), 2))
    }
    await turnOfTheLoop()
    expect(written('run-a')).toEqual([])
    await clock.advance(25)
    await journal.flush()
    expect(written('run-a').map(textOf)).toEqual(['one two three', 'ONE TWO THREE'])
  })

  it('[G3] does not join tokens over another event, another attempt or another turn', async () => {
    const { journal, written } = setUp()
    journal.emit(token('a'))
    journal.emit({ ...token('b'), iterationIndex: 1 })
    journal.emit({ ...token('c'), attempt: 2 })
    journal.emit(CANCELLING)
    journal.emit({ ...token('d'), attempt: 2 })
    await journal.flush()
    expect(written('run-a').map(textOf)).toEqual(['a', 'b', 'c', 'run_cancelling', 'd'])
  })

  it('writes at once what is not a token, and the tokens before it', async () => {
    const { journal, written } = setUp()
    journal.emit(token('a'))
    journal.emit(CANCELLING)
    await turnOfTheLoop()
    expect(written('run-a').map(textOf)).toEqual(['a', 'run_cancelling'])
  })

  it('writes what several runs emitted in one turn in one batch', async () => {
    const { commits, batches } = setUp()
    const journals = ['run-1', 'run-2', 'run-3'].map((runId) =>
      commits.journal({ runId, epoch: 1, onLost: () => undefined }),
    )
    for (const journal of journals) journal.emit(CANCELLING)
    await Promise.all(journals.map((journal) => journal.flush()))
    expect(batches.map((batch) => batch.map(({ runId }) => runId))).toEqual([
      ['run-1', 'run-2', 'run-3'],
    ])
  })

  it('takes events that come while it writes into the next batch', async () => {
    const { journal, batches } = setUp({
      beforeAnswer: async (batch) => {
        if (batch === 1) journal.emit(token('late'))
      },
    })
    journal.emit(CANCELLING)
    await turnOfTheLoop()
    await journal.flush()
    expect(batches.map(([write]) => write?.events.map(textOf))).toEqual([
      ['run_cancelling'],
      ['late'],
    ])
  })

  it('resolves a commit when its event is durable', async () => {
    const { journal, written } = setUp()
    await journal.commit(CANCEL, CANCELLING)
    expect(written('run-a')).toEqual([CANCELLING])
  })

  it('[G1] writes a step with the event that tells of it, and steps in their order', async () => {
    const { journal, batches } = setUp()
    journal.emit(token('a'))
    journal.emit(CANCELLING, BEGUN)
    journal.emit(token('b'), CANCEL)
    await journal.flush()
    await journal.commit(CANCEL, CANCELLING)
    expect(batches.flat().map(({ events, steps }) => [events.map(textOf), steps])).toEqual([
      [
        ['a', 'run_cancelling', 'b'],
        [BEGUN, CANCEL],
      ],
      [['run_cancelling'], [CANCEL]],
    ])
  })

  it('commits a step that no event tells of, and tells readers nothing', async () => {
    const { journal, batches, published } = setUp()
    await journal.commit(BEGUN)
    expect(batches).toEqual([[{ runId: 'run-a', epoch: 1, events: [], steps: [BEGUN] }]])
    expect(published).toEqual([])
  })

  it('writes a step at once, also when its event is a token', async () => {
    const { journal, written } = setUp()
    journal.emit(token('a'), BEGUN)
    await turnOfTheLoop()
    expect(written('run-a').map(textOf)).toEqual(['a'])
  })

  it('a commit waits for the write that has its step, not for the one under way', async () => {
    const answers: (() => void)[] = []
    const { journal, batches } = setUp({
      beforeAnswer: () => new Promise((go) => answers.push(go)),
    })
    journal.emit(CANCELLING, CANCEL)
    await turnOfTheLoop()
    let isDurable = false
    const committed = journal.commit(BEGUN).then(() => (isDurable = true))
    answers[0]?.()
    await turnOfTheLoop()
    expect([batches.length, isDurable]).toEqual([2, false])
    answers[1]?.()
    await committed
  })

  it.each<[string, WriteResult, string]>([
    ['fenced', { kind: 'fenced' }, 'FENCED'],
    ['failed', { kind: 'failed', error: new Error('disk full') }, 'STORE_UNAVAILABLE'],
  ])(
    '[G4] a run whose write was %s writes nothing more and is told once',
    async (_, answer, code) => {
      const { journal, batches, lost } = setUp({ answer })
      await expect(journal.commit(CANCEL, CANCELLING)).rejects.toMatchObject({ code })
      journal.emit(CANCELLING)
      await expect(journal.flush()).rejects.toMatchObject({ code })
      expect(lost.map((error) => error.code)).toEqual([code])
      expect(batches).toHaveLength(1)
    },
  )

  it('[G4] a store that throws loses the runs of its batch, not the process', async () => {
    const { journal, lost } = setUp({
      beforeAnswer: () => Promise.reject(new Error('gone')),
    })
    journal.emit(CANCELLING)
    await expect(journal.flush()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(lost).toHaveLength(1)
  })

  it('drops what is emitted after it was detached', async () => {
    const { journal, batches } = setUp()
    journal.detach(Object.assign(new Error('stop'), { code: 'INTERRUPTED' }) as TuttiError)
    journal.emit(CANCELLING, CANCEL)
    await expect(journal.commit(BEGUN)).rejects.toThrow('stop')
    await turnOfTheLoop()
    expect(batches).toEqual([])
    await expect(journal.flush()).rejects.toThrow('stop')
  })
})

interface SetUp {
  readonly commits: GroupCommit
  readonly journal: DurableJournal
  readonly clock: ReturnType<typeof fakeClock>
  readonly batches: (readonly RunWrite[])[]
  readonly heard: string[]
  /** How many events readers were told of, each time. */
  readonly published: number[]
  readonly lost: TuttiError[]
  written(runId: string): readonly RunEvent[]
}

interface StoreBehaviour {
  readonly answer?: WriteResult
  readonly beforeAnswer?: (batch: number) => Promise<void>
}

function setUp({ answer, beforeAnswer }: StoreBehaviour = {}): SetUp {
  const batches: (readonly RunWrite[])[] = []
  const heard: string[] = []
  const published: number[] = []
  const lost: TuttiError[] = []
  const clock = fakeClock()
  let seq = 0
  const commit: RunStore['commit'] = async (writes) => {
    batches.push(writes)
    await beforeAnswer?.(batches.length)
    return writes.map(({ runId, events }): WriteResult => {
      if (answer !== undefined) return answer
      const logged = events.map((event) => ({ ...event, runId, seq, id: `${runId}:${seq++}` }))
      return { kind: 'written', events: logged }
    })
  }
  const bus = new EventBus(() => undefined)
  bus.listenToAll((events) => {
    published.push(events.length)
    heard.push(...events.map(({ id }) => id))
  })
  // NOTE: a store of which only `commit` is called.
  const store = { commit } as Partial<RunStore> as RunStore
  const commits = new GroupCommit({ store, bus, clock })
  const journal = commits.journal({
    runId: 'run-a',
    epoch: 1,
    onLost: (reason) => lost.push(reason),
  })
  const written = (runId: string): readonly RunEvent[] =>
    batches.flat().flatMap((write) => (write.runId === runId ? write.events : []))
  return { commits, journal, clock, batches, heard, published, lost, written }
}

function textOf(event: RunEvent): string {
  return event.type === 'token' ? event.token : event.type
}

/** Lets `setImmediate` callbacks run. */
function turnOfTheLoop(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve))
  })
}
