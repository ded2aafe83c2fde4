import { TuttiError } from '@tutti/core'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { FakeCommits, UNAVAILABLE } from '../../test/fake-commits.ts'
import { turns } from '../../test/turns.ts'
import { GroupCommit, type DurableJournal } from './group-commit.ts'
import { MAX_PENDING_EVENTS } from './pending-writes.ts'
import { token } from '../testing/index.ts'

import type { CommandAnswer } from '../ports/command-queue.ts'
import type { RunStep } from '@tutti/ensemble/internal'
import type { RunEvent } from '@tutti/protocol'

const CANCELLING: RunEvent = {
  type: 'run_cancelling',
  requestedAt: '2026-01-01T00:00:00.000Z',
  mode: 'abort',
  cause: 'SERVER',
}

const CANCEL: RunStep = { kind: 'cancel_asked', mode: 'abort', cause: 'SERVER', runMs: 0 }

const BEGUN: RunStep = { kind: 'run_begun', startedAt: 0, runMs: 0, tasks: [] }

const ANSWER: CommandAnswer = { commandId: 'signal-1', ok: true }

const STOP = new TuttiError('INTERRUPTED', 'stop')

/** Delay before an unavailable store is tried again, in milliseconds. */
const RETRY_MS = 250

describe('GroupCommit', () => {
  it('[RUNS-G1] GroupCommit writes the events of a run in the order they were emitted', async () => {
    const { journal, written } = setUp()
    journal.emit(token('a', 1))
    journal.emit(CANCELLING)
    journal.emit(token('b', 1))
    await journal.flush()
    expect(written('run-a')).toEqual(['a', 'run_cancelling', 'b'])
  })

  it('[RUNS-G2] GroupCommit publishes events only after the store has confirmed them', async () => {
    const { journal, store, published } = setUp()
    const gate = Promise.withResolvers<void>()
    store.before = () => gate.promise
    journal.emit(CANCELLING)
    await turns()
    expect(store.batches).toHaveLength(1)
    expect(published).toEqual([])
    gate.resolve()
    await journal.flush()
    expect(published).toEqual(['run-a:0'])
  })

  it('[RUNS-G2] GroupCommit resolves flushes after readers received the events', async () => {
    const { journal, published } = setUp()
    await journal.commit(CANCEL, CANCELLING)
    expect(published).toEqual(['run-a:0'])
  })

  it('[RUNS-G3] GroupCommit joins the tokens of a model call, for each task separately, and loses no text', async () => {
    const { journal, written, clock } = setUp()
    for (const text of ['one ', 'two ', 'three']) {
      journal.emit(token(text, 1))
      journal.emit(token(text.toUpperCase(), 2))
    }
    await turns()
    await clock.advance(24)
    await turns()
    expect(written('run-a')).toEqual([])
    await clock.advance(1)
    await turns()
    expect(written('run-a')).toEqual(['one two three', 'ONE TWO THREE'])
  })

  it('[RUNS-G3] GroupCommit does not join tokens across other events, attempts or turns', async () => {
    const { journal, written } = setUp()
    journal.emit(token('a'))
    journal.emit({ ...token('b'), iterationIndex: 1 })
    journal.emit({ ...token('c'), attempt: 2 })
    journal.emit(CANCELLING)
    journal.emit({ ...token('d'), attempt: 2 })
    await journal.flush()
    expect(written('run-a')).toEqual(['a', 'b', 'c', 'run_cancelling', 'd'])
  })

  it('[RUNS-G3] GroupCommit does not join tokens to those of a write that was sent', async () => {
    const { journal, store, written } = setUp()
    store.before = async (batch) => {
      if (batch === 1) journal.emit(token('b'))
    }
    journal.emit(token('a'))
    await journal.flush()
    await journal.flush()
    expect(written('run-a')).toEqual(['a', 'b'])
  })

  it('GroupCommit waits tickMs for tokens to be joined', async () => {
    const { journal, written, clock } = setUp({ tickMs: 100 })
    journal.emit(token('a'))
    await clock.advance(99)
    await turns()
    expect(written('run-a')).toEqual([])
    await clock.advance(1)
    await turns()
    expect(written('run-a')).toEqual(['a'])
    expect(clock.pending).toBe(0)
  })

  it('GroupCommit writes other events at once, with the tokens before them', async () => {
    const { journal, written, clock } = setUp()
    journal.emit(token('a'))
    journal.emit(CANCELLING)
    await turns()
    expect(written('run-a')).toEqual(['a', 'run_cancelling'])
    expect(clock.pending).toBe(0)
  })

  it('GroupCommit writes the events of several runs of one turn in one batch', async () => {
    const { commits, store } = setUp()
    const journals = ['run-1', 'run-2', 'run-3'].map((runId) => openJournal(commits, runId))
    for (const journal of journals) journal.emit(CANCELLING)
    await Promise.all(journals.map((journal) => journal.flush()))
    expect(store.batches.map((batch) => batch.map(({ runId }) => runId))).toEqual([
      ['run-1', 'run-2', 'run-3'],
    ])
  })

  it('GroupCommit writes events that arrive during a write in the next batch, one batch at a time', async () => {
    const { journal, store } = setUp()
    let isWriting = false
    store.before = async (batch) => {
      expect(isWriting).toBe(false)
      isWriting = true
      if (batch === 1) journal.emit(CANCELLING)
      await turns()
      isWriting = false
    }
    journal.emit(CANCELLING)
    await turns()
    journal.emit(token('late'))
    await journal.flush()
    expect(store.writes.map(toTexts)).toEqual([['run_cancelling'], ['run_cancelling', 'late']])
  })

  it('[RUNS-G3] GroupCommit joins tokens that arrive during a write until the next tick', async () => {
    const { journal, store, clock } = setUp()
    store.before = async (batch) => {
      if (batch === 1) journal.emit(token('a '))
    }
    journal.emit(CANCELLING)
    await turns()
    journal.emit(token('b'))
    await turns()
    expect(store.batches).toHaveLength(1)
    await clock.advance(25)
    await turns()
    expect(store.writes.map(toTexts)).toEqual([['run_cancelling'], ['a b']])
    expect(clock.pending).toBe(0)
  })

  it('GroupCommit writes an event that arrives during a write at once, while another run has only tokens', async () => {
    const { commits, journal, store, written } = setUp()
    const other = openJournal(commits, 'run-b')
    store.before = async (batch) => {
      if (batch !== 1) return
      journal.emit(token('a'))
      other.emit(CANCELLING)
    }
    journal.emit(CANCELLING)
    await turns()
    expect(written('run-b')).toEqual(['run_cancelling'])
  })

  it('[RUNS-G1] GroupCommit numbers the writes of a claim from 1, with the run and the token', async () => {
    const { commits, store } = setUp()
    const journal = commits.journal({
      runId: 'run-b',
      token: 'token-7',
      onLost: () => undefined,
      onRefused: () => undefined,
    })
    await journal.commit(BEGUN)
    await journal.commit(CANCEL)
    expect(store.writes.map(({ runId, token, writeNo }) => [runId, token, writeNo])).toEqual([
      ['run-b', 'token-7', 1],
      ['run-b', 'token-7', 2],
    ])
  })

  it('[RUNS-G1] GroupCommit writes a step with its event, and steps in order', async () => {
    const { journal, store } = setUp()
    journal.emit(token('a'))
    journal.emit(CANCELLING, BEGUN)
    journal.emit(token('b'), CANCEL)
    await journal.flush()
    await journal.commit(CANCEL, CANCELLING)
    expect(store.writes.map((write) => [toTexts(write), write.steps])).toEqual([
      [
        ['a', 'run_cancelling', 'b'],
        [BEGUN, CANCEL],
      ],
      [['run_cancelling'], [CANCEL]],
    ])
  })

  it('GroupCommit commits a step without an event, and publishes nothing', async () => {
    const { journal, store, batchSizes } = setUp()
    await journal.commit(BEGUN)
    expect(store.writes).toMatchObject([
      { runId: 'run-a', token: 'token-1', writeNo: 1, events: [], steps: [BEGUN] },
    ])
    expect(batchSizes).toEqual([])
  })

  it('GroupCommit writes a step at once, even if its event is a token', async () => {
    const { journal, written } = setUp()
    journal.emit(token('a'), BEGUN)
    await turns()
    expect(written('run-a')).toEqual(['a'])
  })

  it('GroupCommit resolves a commit with the write of its step, not with an earlier one', async () => {
    const { journal, store } = setUp()
    const answers: (() => void)[] = []
    store.before = () => new Promise((go) => answers.push(go))
    journal.emit(CANCELLING, CANCEL)
    await turns()
    let isDurable = false
    const committed = journal.commit(BEGUN).then(() => (isDurable = true))
    answers[0]?.()
    await turns()
    expect([store.batches.length, isDurable]).toEqual([2, false])
    answers[1]?.()
    await committed
  })

  it('[RUNS-G1] GroupCommit writes an answer with the events of the same turn', async () => {
    const { journal, store } = setUp()
    journal.emit(CANCELLING, CANCEL)
    await Promise.resolve()
    journal.answer(ANSWER)
    await journal.flush()
    expect(store.writes.map((write) => [toTexts(write), write.answers])).toEqual([
      [['run_cancelling'], [ANSWER]],
    ])
  })

  it('GroupCommit writes an answer at once, even alone, and omits an empty list of answers', async () => {
    const { journal, store } = setUp()
    journal.answer(ANSWER)
    await turns()
    journal.emit(CANCELLING)
    await turns()
    const write = {
      runId: 'run-a',
      token: 'token-1',
      steps: [],
      stepEvents: [],
      stored: expect.anything(),
    }
    expect(store.writes).toEqual([
      { ...write, writeNo: 1, events: [], answers: [ANSWER] },
      { ...write, writeNo: 2, events: [CANCELLING] },
    ])
  })

  it('GroupCommit reports whether everything is written, also during a write', async () => {
    const { journal, store } = setUp()
    const gate = Promise.withResolvers<void>()
    store.before = () => gate.promise
    expect(journal.isFlushed).toBe(true)
    journal.emit(token('a'))
    expect(journal.isFlushed).toBe(false)
    const flushed = journal.flush()
    await turns()
    expect([store.batches.length, journal.isFlushed]).toEqual([1, false])
    gate.resolve()
    await flushed
    expect(journal.isFlushed).toBe(true)
  })

  it('[RUNS-G4] GroupCommit stops a run whose write was fenced, and notifies it once', async () => {
    const { journal, store, lost, batchSizes } = setUp()
    store.reply = () => ({ kind: 'fenced' })
    await expect(journal.commit(CANCEL, CANCELLING)).rejects.toMatchObject({ code: 'FENCED' })
    journal.emit(CANCELLING)
    journal.answer(ANSWER)
    await expect(journal.flush()).rejects.toMatchObject({ code: 'FENCED' })
    await turns()
    expect(lost.map((error) => error.code)).toEqual(['FENCED'])
    expect(store.batches).toHaveLength(1)
    expect(batchSizes).toEqual([])
  })

  it('[RUNS-G6] GroupCommit notifies a run whose write was refused, and writes its end', async () => {
    const { journal, store, lost, refused, written } = setUp()
    store.reply = () => ({ kind: 'failed', error: new Error('out of range') })
    await expect(journal.commit(CANCEL, CANCELLING)).rejects.toMatchObject({
      code: 'STORE_REFUSED',
    })
    expect([refused.map(({ code }) => code), lost]).toEqual([['STORE_REFUSED'], []])
    store.reply = (_, keep) => keep()
    journal.emit(token('end'))
    await journal.flush()
    expect(store.stored.map(({ id }) => id)).toEqual(['run-a:0'])
    expect(written('run-a').at(-1)).toBe('end')
  })

  it('[RUNS-G4] A lost run does not affect the others of its batch', async () => {
    const { commits, journal, store, lost } = setUp()
    const other = openJournal(commits, 'run-b')
    store.reply = ({ runId }, keep) => (runId === 'run-a' ? { kind: 'fenced' } : keep())
    journal.emit(CANCELLING)
    await other.commit(CANCEL, CANCELLING)
    expect(lost.map(({ code }) => code)).toEqual(['FENCED'])
    await other.commit(BEGUN)
    expect(store.stored.map(({ id }) => id)).toEqual(['run-b:0'])
  })

  it('[RUNS-G6] An error of the store is that of the write which causes it alone', async () => {
    const { commits, journal, store, refused } = setUp()
    const other = openJournal(commits, 'run-b')
    store.before = async (batch) => {
      const isMine = store.batches[batch - 1]?.some(({ runId }) => runId === 'run-a') === true
      if (isMine) throw new Error('gone')
    }
    journal.emit(CANCELLING)
    const [mine, theirs] = await Promise.allSettled([
      journal.flush(),
      other.commit(CANCEL, CANCELLING),
    ])
    expect(mine).toMatchObject({ status: 'rejected', reason: { code: 'STORE_REFUSED' } })
    expect(theirs.status).toBe('fulfilled')
    expect(refused).toHaveLength(1)
    expect(store.stored.map(({ id }) => id)).toEqual(['run-b:0'])
  })

  it('[RUNS-G4] A write without a result is lost', async () => {
    const clock = fakeClock()
    const store = { commit: () => Promise.resolve([]) }
    const commits = new GroupCommit({ store, clock, onWritten: () => undefined })
    await expect(openJournal(commits, 'run-a').commit(BEGUN)).rejects.toMatchObject({
      code: 'FENCED',
    })
  })
})

describe('GroupCommit over a store that cannot be reached', () => {
  it('[RUNS-G5] GroupCommit over a store that cannot be reached waits, retries, and writes everything once, in order', async () => {
    const { journal, store, clock, published } = setUp()
    store.reply = () => UNAVAILABLE
    journal.emit(CANCELLING, CANCEL)
    await turns()
    journal.emit(token('a'))
    journal.emit(CANCELLING)
    await turns()
    expect([store.batches.length, published.length]).toEqual([1, 0])
    await clock.advance(RETRY_MS - 1)
    await turns()
    expect(store.batches).toHaveLength(1)
    await clock.advance(1)
    await turns()
    expect(store.batches).toHaveLength(2)
    store.reply = undefined
    await clock.advance(RETRY_MS)
    await turns()
    await journal.flush()
    expect(store.writes.map(({ writeNo }) => writeNo)).toEqual([1, 1, 1, 2])
    expect(store.stored.map(toText)).toEqual(['run_cancelling', 'a', 'run_cancelling'])
    expect(published).toEqual(['run-a:0', 'run-a:1', 'run-a:2'])
    expect(clock.pending).toBe(0)
  })

  it('[RUNS-G5] GroupCommit over a store that cannot be reached sends an unconfirmed write again unchanged, and it is stored once', async () => {
    const { journal, store, commits, published } = setUp()
    let answers = 0
    store.reply = (_, keep) => {
      const answer = keep()
      answers += 1
      return answers === 1 ? UNAVAILABLE : answer
    }
    journal.emit(CANCELLING, CANCEL)
    journal.answer(ANSWER)
    await turns()
    journal.emit(token('later'), BEGUN)
    journal.answer({ ...ANSWER, commandId: 'signal-2' })
    await turns()
    commits.retry()
    await journal.flush()
    const [first, again, next] = store.writes
    expect(again).toEqual(first)
    expect(first).toMatchObject({ writeNo: 1, events: [CANCELLING], answers: [ANSWER] })
    expect(next).toMatchObject({ writeNo: 2, steps: [BEGUN] })
    expect(store.writes).toHaveLength(3)
    expect(store.stored.map(toText)).toEqual(['run_cancelling', 'later'])
    expect(published).toEqual(['run-a:0', 'run-a:1'])
  })

  it('[RUNS-G5] GroupCommit over a store that cannot be reached treats STORE_UNAVAILABLE that is thrown like an unavailable result', async () => {
    const { journal, store, lost, commits } = setUp()
    store.before = () => Promise.reject(new TuttiError('STORE_UNAVAILABLE', 'no connection'))
    journal.emit(CANCELLING)
    await turns()
    expect(lost).toEqual([])
    store.before = undefined
    commits.retry()
    await journal.flush()
    expect(store.writes.map(({ writeNo }) => writeNo)).toEqual([1, 1])
  })

  it('[RUNS-G3] GroupCommit over a store that cannot be reached joins tokens while they wait for the store', async () => {
    const { journal, store, clock, commits } = setUp()
    store.reply = () => UNAVAILABLE
    journal.emit(token('a'))
    await clock.advance(25)
    await turns()
    for (let count = 0; count < 2 * MAX_PENDING_EVENTS; count += 1) journal.emit(token('b'))
    await clock.advance(25)
    await turns()
    expect(store.batches).toHaveLength(1)
    store.reply = undefined
    commits.retry()
    await journal.flush()
    expect(store.stored.map(toText)).toEqual(['a', 'b'.repeat(2 * MAX_PENDING_EVENTS)])
  })

  it('[RUNS-G5] GroupCommit over a store that cannot be reached loses a run with too many waiting events, and notifies it once', async () => {
    const { journal, store, lost, commits } = setUp()
    store.reply = () => UNAVAILABLE
    const committed = journal.commit(CANCEL, CANCELLING)
    await turns()
    for (let count = 0; count < MAX_PENDING_EVENTS; count += 1) journal.emit(CANCELLING)
    expect(lost).toEqual([])
    journal.emit(CANCELLING)
    journal.emit(CANCELLING)
    expect(lost.map(({ code, retryable }) => [code, retryable])).toEqual([
      ['STORE_UNAVAILABLE', true],
    ])
    expect(lost[0]?.message).toContain(`run-a has more than ${MAX_PENDING_EVENTS} unwritten events`)
    await expect(committed).rejects.toBe(lost[0])
    store.reply = undefined
    commits.retry()
    await turns()
    expect(store.stored).toEqual([])
    expect(journal.isFlushed).toBe(true)
  })

  it('[RUNS-G5] GroupCommit over a store that cannot be reached retries at once on request, and not again on the timer', async () => {
    const { commits, journal, store, clock } = setUp()
    store.reply = () => UNAVAILABLE
    journal.emit(CANCELLING)
    await turns()
    expect(clock.pending).toBe(1)
    store.reply = undefined
    commits.retry()
    await journal.flush()
    expect(clock.pending).toBe(0)
    await clock.advance(10 * RETRY_MS)
    await turns()
    expect(store.batches).toHaveLength(2)
  })

  it('[RUNS-G5] GroupCommit over a store that cannot be reached writes nothing when a retry is requested without a failure', async () => {
    const { commits, store } = setUp()
    commits.retry()
    await turns()
    expect(store.batches).toEqual([])
  })

  it('[RUNS-G5] GroupCommit over a store that cannot be reached makes a run that starts in the meantime wait as well', async () => {
    const { commits, journal, store, clock } = setUp()
    store.reply = ({ runId }, keep) => (runId === 'run-a' ? UNAVAILABLE : keep())
    journal.emit(CANCELLING)
    await turns()
    const other = openJournal(commits, 'run-b').commit(BEGUN)
    await turns()
    expect(store.batches).toHaveLength(1)
    await clock.advance(RETRY_MS)
    await turns()
    await other
    expect(store.batches.at(1)?.map(({ runId }) => runId)).toEqual(['run-a', 'run-b'])
  })

  it('[RUNS-G5] GroupCommit over a store that cannot be reached flushes only when the store is back', async () => {
    const { commits, journal, store } = setUp()
    store.reply = () => UNAVAILABLE
    let isFlushed = false
    journal.emit(CANCELLING)
    await turns()
    const flushed = journal.flush().then(() => (isFlushed = true))
    await turns()
    expect([isFlushed, journal.isFlushed]).toEqual([false, false])
    store.reply = undefined
    commits.retry()
    await flushed
  })

  it('[RUNS-G4] GroupCommit over a store that cannot be reached loses the run when a repeated write is fenced', async () => {
    const { commits, journal, store, lost } = setUp()
    store.reply = () => UNAVAILABLE
    const first = journal.commit(CANCEL, CANCELLING)
    await turns()
    const second = journal.commit(BEGUN)
    store.reply = () => ({ kind: 'fenced' })
    commits.retry()
    await expect(first).rejects.toMatchObject({ code: 'FENCED' })
    await expect(second).rejects.toMatchObject({ code: 'FENCED' })
    expect(lost).toHaveLength(1)
  })
})

describe('a detached journal', () => {
  it('A detached journal drops what is emitted after it was detached', async () => {
    const { journal, store } = setUp()
    journal.detach(STOP)
    journal.emit(CANCELLING, CANCEL)
    journal.answer(ANSWER)
    await expect(journal.commit(BEGUN)).rejects.toBe(STOP)
    await turns()
    expect(store.batches).toEqual([])
    await expect(journal.flush()).rejects.toBe(STOP)
  })

  it('A detached journal drops unsent data and is notified once', async () => {
    const { journal, store, lost } = setUp()
    const committed = journal.commit(BEGUN)
    journal.detach(STOP)
    journal.detach(new TuttiError('INTERRUPTED', 'again'))
    await expect(committed).rejects.toBe(STOP)
    await turns()
    expect(store.batches).toEqual([])
    expect(lost).toEqual([STOP])
    expect(journal.isFlushed).toBe(true)
  })

  it('[RUNS-G2] A detached journal publishes a write in flight, if it is stored', async () => {
    const { journal, store, published } = setUp()
    const gate = Promise.withResolvers<void>()
    store.before = () => gate.promise
    const committed = journal.commit(CANCEL, CANCELLING)
    await turns()
    journal.emit(CANCELLING)
    journal.detach(STOP)
    await expect(committed).rejects.toBe(STOP)
    gate.resolve()
    await turns()
    expect(published).toEqual(['run-a:0'])
    expect(store.batches).toHaveLength(1)
  })

  it('[RUNS-G5] A detached journal does not repeat an unavailable write', async () => {
    const { commits, journal, store, clock } = setUp()
    store.reply = () => UNAVAILABLE
    journal.emit(CANCELLING)
    await turns()
    journal.detach(STOP)
    commits.retry()
    await clock.advance(10 * RETRY_MS)
    await turns()
    expect(store.batches).toHaveLength(1)
  })
})

describe('a stopped group commit', () => {
  it.each([
    ['tokens wait', (journal: DurableJournal) => journal.emit(token('a'))],
    ['the store could not be reached', (journal: DurableJournal) => journal.emit(CANCELLING)],
  ])('A stopped group commit leaves no timer when %s', async (_, emit) => {
    const { commits, journal, store, clock } = setUp()
    store.reply = () => UNAVAILABLE
    emit(journal)
    await turns()
    expect(clock.pending).toBe(1)
    commits.stop()
    expect(clock.pending).toBe(0)
    const { length } = store.batches
    await clock.advance(10 * RETRY_MS)
    await turns()
    expect(store.batches).toHaveLength(length)
  })

  it('A stopped group commit leaves no timer when a write in flight fails', async () => {
    const { commits, journal, store, clock } = setUp()
    const gate = Promise.withResolvers<void>()
    store.before = () => gate.promise
    store.reply = () => UNAVAILABLE
    journal.emit(CANCELLING)
    await turns()
    journal.detach(STOP)
    commits.stop()
    gate.resolve()
    await turns()
    expect(clock.pending).toBe(0)
  })
})

interface SetUp {
  readonly commits: GroupCommit
  readonly store: FakeCommits
  /** The journal of run-a, under its first claim. */
  readonly journal: DurableJournal
  readonly clock: ReturnType<typeof fakeClock>
  /** Ids of the published events. */
  readonly published: string[]
  /** Number of events of each publication. */
  readonly batchSizes: number[]
  readonly lost: TuttiError[]
  readonly refused: TuttiError[]
  /** Texts of the events that were sent to the store. */
  written(runId: string): readonly string[]
}

function setUp(options: { readonly tickMs?: number } = {}): SetUp {
  const store = new FakeCommits()
  const published: string[] = []
  const batchSizes: number[] = []
  const lost: TuttiError[] = []
  const refused: TuttiError[] = []
  const clock = fakeClock()
  const commits = new GroupCommit({
    store,
    clock,
    onWritten: (runId, events) => {
      expect(events.every((event) => event.runId === runId)).toBe(true)
      batchSizes.push(events.length)
      published.push(...events.map(({ id }) => id))
    },
    ...options,
  })
  const journal = commits.journal({
    runId: 'run-a',
    token: 'token-1',
    onLost: (reason) => lost.push(reason),
    onRefused: (reason) => refused.push(reason),
  })
  const written = (runId: string): readonly string[] =>
    store.writes.flatMap((write) => (write.runId === runId ? toTexts(write) : []))
  return { commits, store, journal, clock, published, batchSizes, lost, refused, written }
}

function openJournal(commits: GroupCommit, runId: string): DurableJournal {
  return commits.journal({
    runId,
    token: 'token-1',
    onLost: () => undefined,
    onRefused: () => undefined,
  })
}

function toText(event: RunEvent): string {
  return event.type === 'token' ? event.token : event.type
}

function toTexts({ events }: { readonly events: readonly RunEvent[] }): readonly string[] {
  return events.map(toText)
}
