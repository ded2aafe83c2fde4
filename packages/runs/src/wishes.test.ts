import { TuttiError } from '@tutti/core'
import { ensemble, modelCatalog, task, type RunStep } from '@tutti/ensemble'
import { fakeClock, scriptedModel, type FakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { recordOf } from '../test/claimed.ts'
import { fakeStorage } from '../test/fake-storage.ts'
import { turns } from '../test/turns.ts'
import { resolveRunServiceOptions } from './options.ts'
import { Wishes, type WishEnd } from './wishes.ts'

import type { EventFeed } from './event-feed.ts'
import type { RunSignals, RunWish, SentSignal, Signal, SignalAnswer } from './ports/run-signals.ts'
import type { RestWrite, WriteResult } from './ports/run-store.ts'
import type { ReviewRecord, RunRecord } from './run-record.ts'
import type { RedactEvent } from './redacted-journal.ts'
import type { RunExecutor } from './run-executor.ts'

const RUN = 'run-a'

const AT = '2026-01-01T00:00:00.000Z'

const CANCEL: RunWish = { kind: 'cancel', mode: 'abort' }

const SWITCH: RunWish = { kind: 'switch_model', model: 'fast' }

const INJECT: RunWish = { kind: 'inject', directive: { content: 'Play softly' } }

const DECIDE: RunWish = { kind: 'decide', reviewId: 'review-1', decision: { action: 'CONTINUE' } }

const SENT: SentSignal = { kind: 'sent', signalId: 'signal-1' }

const DONE: SignalAnswer = { signalId: 'signal-1', ok: true, value: { model: 'fast' } }

const ANSWERED: WishEnd = { kind: 'answered', value: { model: 'fast' } }

/** How long a wish waits for its answer here. */
const PATIENCE = { answerTimeoutMs: 5_000 }

const REVIEW: ReviewRecord = {
  reviewId: 'review-1',
  runId: RUN,
  ensemble: 'band',
  inputs: {},
  tags: {},
  status: 'OPEN',
  openedAt: Date.parse(AT),
  request: {
    type: 'review_requested',
    reviewId: 'review-1',
    taskIndex: 1,
    taskName: 'tune',
    taskDescription: 'Tune',
    agentRole: 'Player',
    attempt: 1,
    taskOutput: 'tuned',
    timing: 'AFTER_EXECUTION',
    prompt: null,
    timeoutMs: 0,
    onTimeout: 'CONTINUE',
    requestedAt: AT,
  },
}

/** A run whose task waits for a review. */
const AT_GATE: readonly RunStep[] = [
  { kind: 'run_begun', startedAt: Date.parse(AT), runMs: 0 },
  { kind: 'task_begun', taskName: 'tune', attempt: 1, taskMs: 0, runMs: 0 },
  {
    kind: 'gate_opened',
    taskName: 'tune',
    attempt: 1,
    taskMs: 0,
    runMs: 0,
    reviewId: 'review-1',
    timing: 'AFTER_EXECUTION',
    slot: 'after:0',
    openedAt: Date.parse(AT),
  },
]

describe('a wish for a run', () => {
  it('is refused when nobody knows the run', async () => {
    const { wishes } = setUp({ sent: [undefined] })
    await expect(wishes.send(RUN, CANCEL, PATIENCE)).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
      message: 'No run with ID run-a',
    })
  })

  it('is refused when the run has ended', async () => {
    const run = recordOf(RUN, { status: 'FAILED' })
    const { wishes } = setUp({ sent: [{ kind: 'ended', run }] })
    await expect(wishes.send(RUN, CANCEL, PATIENCE)).rejects.toMatchObject({
      code: 'RUN_COMPLETED',
      message: 'Run run-a already completed with status FAILED',
    })
  })

  it('[W5] is refused when it cannot be kept', async () => {
    const broken = new TuttiError('STORE_UNAVAILABLE', 'no connection')
    const { wishes, delivered } = setUp({ send: () => Promise.reject(broken) })
    await expect(wishes.send(RUN, CANCEL, PATIENCE)).rejects.toBe(broken)
    expect(delivered).toEqual([])
  })
})

describe('a wish for a run that executes here', () => {
  it('[W6] is answered by it, and nothing is looked for', async () => {
    const { wishes, delivered, clock, looks } = setUp({ deliver: async () => DONE })
    expect(await wishes.send(RUN, SWITCH, PATIENCE)).toEqual(ANSWERED)
    expect(delivered).toEqual([{ id: 'signal-1', runId: RUN, wish: SWITCH }])
    expect([looks(), clock.pending]).toEqual([0, 0])
  })

  it('[W6] is refused by it, with its words', async () => {
    const error = { code: 'INVALID_MODEL', message: 'No model "fast"', retryable: true } as const
    const deliver = async () => ({ signalId: 'signal-1', ok: false, error }) as const
    const { wishes } = setUp({ deliver })
    await expect(wishes.send(RUN, SWITCH, PATIENCE)).rejects.toMatchObject(error)
  })

  it('[W7] waits for the next owner when this one has nothing more to do with it', async () => {
    const { wishes, answer } = setUp()
    const end = wishes.send(RUN, SWITCH, PATIENCE)
    await turns()
    answer(DONE)
    wishes.hear('signal-1')
    expect(await end).toEqual(ANSWERED)
  })

  it('[W8] is kept when the run does not answer in time', async () => {
    const { wishes, clock } = setUp({ deliver: () => new Promise(() => undefined) })
    let end: WishEnd | undefined
    void wishes.send(RUN, DECIDE, PATIENCE).then((how) => (end = how))
    await clock.advance(PATIENCE.answerTimeoutMs)
    await turns()
    expect(end).toEqual({ kind: 'kept' })
  })
})

describe('a wish for a run that executes elsewhere', () => {
  it('[W6] is answered at once when the answer is there', async () => {
    const { wishes, answer, looks, clock } = setUp()
    answer(DONE)
    expect(await wishes.send(RUN, SWITCH, PATIENCE)).toEqual(ANSWERED)
    expect([looks(), clock.pending]).toEqual([1, 0])
  })

  it.each([
    ['a notice of the answer', (wishes: Wishes) => wishes.hear('signal-1')],
    ['notices may have been missed', (wishes: Wishes) => wishes.hearAll()],
  ])('[W6] is answered on %s', async (_, tell) => {
    const { wishes, answer, looks, clock } = setUp()
    const end = wishes.send(RUN, SWITCH, PATIENCE)
    await turns()
    answer(DONE)
    await turns()
    expect(looks()).toBe(1)
    tell(wishes)
    expect(await end).toEqual(ANSWERED)
    expect([looks(), clock.pending]).toEqual([2, 0])
  })

  it('[W6] is answered without a notice, by looking every second', async () => {
    const { wishes, answer, looks, clock } = setUp()
    const end = wishes.send(RUN, SWITCH, PATIENCE)
    await clock.advance(2_999)
    expect(looks()).toBe(3)
    answer(DONE)
    await clock.advance(1)
    expect(await end).toEqual(ANSWERED)
    expect([looks(), clock.pending]).toEqual([4, 0])
  })

  it('[W6] misses no notice that comes while it looks', async () => {
    const gate = Promise.withResolvers<SignalAnswer | undefined>()
    const answers = [gate.promise, Promise.resolve(DONE)]
    const { wishes } = setUp({ look: async () => answers.shift() })
    const end = wishes.send(RUN, SWITCH, PATIENCE)
    await turns()
    wishes.hear('signal-1')
    gate.resolve(undefined)
    expect(await end).toEqual(ANSWERED)
  })

  it('[W6] looks only for its own answer', async () => {
    const { wishes, looks, answer } = setUp()
    const end = wishes.send(RUN, SWITCH, PATIENCE)
    await turns()
    wishes.hear('signal-2')
    await turns()
    expect(looks()).toBe(1)
    answer(DONE)
    wishes.hear('signal-1')
    await end
  })

  it('[W8] is kept when nobody answers in time', async () => {
    const { wishes, looks, clock } = setUp()
    let end: WishEnd | undefined
    void wishes.send(RUN, SWITCH, { answerTimeoutMs: 2_500 }).then((how) => (end = how))
    await clock.advance(2_499)
    await turns()
    expect(end).toBeUndefined()
    await clock.advance(1)
    await turns()
    expect([end, looks(), clock.pending]).toEqual([{ kind: 'kept' }, 4, 0])
  })

  it('[W8] is answered in the last moment', async () => {
    const { wishes, answer, clock } = setUp()
    const end = wishes.send(RUN, SWITCH, { answerTimeoutMs: 2_500 })
    await clock.advance(2_499)
    answer(DONE)
    await clock.advance(1)
    expect(await end).toEqual(ANSWERED)
  })

  it('looks for nothing any more when it is over', async () => {
    const { wishes, looks, clock } = setUp()
    await Promise.all([
      wishes.send(RUN, SWITCH, { answerTimeoutMs: 100 }),
      turns().then(() => clock.advance(100)),
    ])
    const looked = looks()
    wishes.hear('signal-1')
    wishes.hearAll()
    await clock.advance(100_000)
    expect(looks()).toBe(looked)
  })

  it('passes on that the answer could not be looked for', async () => {
    const { wishes, clock } = setUp({ look: () => Promise.reject(new Error('no connection')) })
    await expect(wishes.send(RUN, SWITCH, PATIENCE)).rejects.toThrow('no connection')
    wishes.hear('signal-1')
    expect(clock.pending).toBe(0)
  })

  it('says how the run ended when it ended before', async () => {
    const error = { code: 'RUN_COMPLETED', message: 'over', retryable: false } as const
    const { wishes, answer } = setUp({ run: recordOf(RUN, { status: 'CANCELLED' }) })
    answer({ signalId: 'signal-1', ok: false, error })
    await expect(wishes.send(RUN, SWITCH, PATIENCE)).rejects.toMatchObject({
      code: 'RUN_COMPLETED',
      message: 'Run run-a already completed with status CANCELLED',
    })
  })

  it('says so too when the run is deleted by then', async () => {
    const error = { code: 'RUN_COMPLETED', message: 'over', retryable: false } as const
    const { wishes, answer } = setUp()
    answer({ signalId: 'signal-1', ok: false, error })
    await expect(wishes.send(RUN, SWITCH, PATIENCE)).rejects.toMatchObject(error)
  })
})

describe('a wish for a run at rest', () => {
  it('[W5] is written to it, told to readers, and the run goes on', async () => {
    const run = recordOf(RUN, { epoch: 3, lastSeq: 7 })
    const { wishes, written, told, woken } = setUp({ sent: [atRest([], run)] })
    const end = await wishes.send(RUN, CANCEL, PATIENCE)
    expect(end).toEqual({ kind: 'at_rest', value: undefined })
    expect(written).toEqual([
      {
        runId: RUN,
        epoch: 3,
        lastSeq: 7,
        events: [{ type: 'run_cancelling', requestedAt: AT, mode: 'abort' }],
        steps: [{ kind: 'cancel_asked', mode: 'abort', runMs: 0 }],
        afterwards: 'ready',
      },
    ])
    expect(told).toEqual([[RUN, ['run_cancelling']]])
    expect(woken()).toBe(1)
  })

  it('is written without what nobody is to read; what the agents are told stays', async () => {
    const redact: RedactEvent = (event) =>
      event.type === 'directive_active' ? { ...event, content: '[redacted]' } : event
    const { wishes, written } = setUp({ sent: [atRest([])], redact })
    await wishes.send(RUN, INJECT, PATIENCE)
    expect(JSON.stringify(written[0]?.events)).not.toContain('Play softly')
    expect(JSON.stringify(written[0]?.steps)).toContain('Play softly')
  })

  it.each([
    [SWITCH, { model: 'fast' }, 'model_switched'],
    [INJECT, { content: 'Play softly' }, 'directive_taken'],
  ])('[W5] %j leaves it waiting', async (wish, value, kind) => {
    const { wishes, written, woken } = setUp({ sent: [atRest()] })
    expect(await wishes.send(RUN, wish, PATIENCE)).toMatchObject({ kind: 'at_rest', value })
    expect(written).toMatchObject([{ afterwards: 'stay', steps: [{ kind }] }])
    expect(written[0]?.events).toHaveLength(1)
    expect(woken()).toBe(0)
  })

  it('[W6] a decision is checked, written, and the run goes on', async () => {
    const { wishes, written, woken } = setUp({ sent: [atRest(AT_GATE)] })
    const end = await wishes.send(RUN, DECIDE, { ...PATIENCE, review: REVIEW })
    expect(end).toEqual({ kind: 'at_rest', value: undefined })
    expect(written).toMatchObject([
      {
        events: [{ type: 'review_decided', reviewId: 'review-1', decision: 'CONTINUE' }],
        steps: [{ kind: 'gate_closed', reviewId: 'review-1' }],
        afterwards: 'ready',
      },
    ])
    expect(woken()).toBe(1)
  })

  it('[W6] is refused by the rules of the engine, and nothing is written', async () => {
    const { wishes, written } = setUp({ send: async () => atRest() })
    const refused: readonly (readonly [RunWish, string])[] = [
      [{ ...SWITCH, model: 'slow' }, 'INVALID_MODEL'],
      [{ ...SWITCH, taskName: 'rest' }, 'BAD_REQUEST'],
      [{ kind: 'inject', directive: { content: '' } }, 'BAD_REQUEST'],
      [DECIDE, 'REVIEW_NOT_FOUND'],
    ]
    for (const [wish, code] of refused) {
      await expect(wishes.send(RUN, wish, PATIENCE)).rejects.toMatchObject({ code })
    }
    const decided = wishes.send(RUN, DECIDE, { ...PATIENCE, review: REVIEW })
    await expect(decided).rejects.toMatchObject({ code: 'REVIEW_NOT_FOUND' })
    expect(written).toEqual([])
  })

  it('[W7] is sent again when somebody took the run meanwhile', async () => {
    const { wishes, written, delivered, told } = setUp({
      sent: [atRest(), SENT],
      results: [{ kind: 'fenced' }],
      deliver: async () => DONE,
    })
    expect(await wishes.send(RUN, SWITCH, PATIENCE)).toEqual(ANSWERED)
    expect([written.length, delivered.length, told]).toEqual([1, 1, []])
  })

  it('[W7] is written to what the run is by then when something else was written first', async () => {
    const first = atRest([], recordOf(RUN, { lastSeq: 1 }))
    const earlier: RunStep = { kind: 'model_switched', model: 'other', runMs: 0 }
    const second = atRest([earlier], recordOf(RUN, { lastSeq: 2 }))
    const { wishes, written } = setUp({ sent: [first, second], results: [{ kind: 'fenced' }] })
    const end = await wishes.send(RUN, SWITCH, PATIENCE)
    expect(end).toMatchObject({ kind: 'at_rest', value: { previousModel: 'other' } })
    expect(written.map(({ lastSeq }) => lastSeq)).toEqual([1, 2])
  })

  it('[W7] is refused when the run has ended meanwhile', async () => {
    const ended: SentSignal = { kind: 'ended', run: recordOf(RUN, { status: 'COMPLETED' }) }
    const { wishes } = setUp({ sent: [atRest(), ended], results: [{ kind: 'fenced' }] })
    await expect(wishes.send(RUN, SWITCH, PATIENCE)).rejects.toMatchObject({
      code: 'RUN_COMPLETED',
    })
  })

  it.each([
    ['unavailable', new TuttiError('STORE_UNAVAILABLE', 'no connection')],
    ['failed', new Error('disk full')],
  ] as const)('[W5] is refused when its write is %s', async (kind, error) => {
    const { wishes, told, woken } = setUp({ sent: [atRest()], results: [{ kind, error }] })
    const { message } = error
    const refusal = { code: 'STORE_UNAVAILABLE', message }
    await expect(wishes.send(RUN, CANCEL, PATIENCE)).rejects.toMatchObject(refusal)
    expect([told, woken()]).toEqual([[], 0])
  })

  it('a second cancel changes nothing, writes nothing, and is heard', async () => {
    const asked: RunStep = { kind: 'cancel_asked', mode: 'abort', runMs: 0 }
    const { wishes, written } = setUp({ sent: [atRest([asked])] })
    const end = await wishes.send(RUN, CANCEL, PATIENCE)
    expect(end).toEqual({ kind: 'at_rest', value: undefined })
    expect(written).toEqual([])
  })

  it('[W6] can be cancelled when its ensemble is gone, and nothing else', async () => {
    const gone = atRest([], recordOf(RUN, { ensemble: 'choir' }))
    const { wishes, written } = setUp({ send: async () => gone })
    await wishes.send(RUN, { kind: 'cancel', mode: 'boundary' }, PATIENCE)
    expect(written).toMatchObject([
      {
        events: [{ type: 'run_cancelling', requestedAt: AT, mode: 'boundary' }],
        steps: [{ kind: 'cancel_asked', mode: 'boundary' }],
        afterwards: 'ready',
      },
    ])
    for (const wish of [SWITCH, INJECT, DECIDE]) {
      const refused = wishes.send(RUN, wish, { ...PATIENCE, review: REVIEW })
      await expect(refused).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: 'Ensemble "choir" is not registered any more',
      })
    }
    expect(written).toHaveLength(1)
  })
})

/** What a run at rest was written, and how it waits from then on. */
type WrittenAtRest = Omit<RestWrite, 'next'> & { readonly afterwards: RestWrite['next'] }

interface SetUp {
  readonly wishes: Wishes
  readonly clock: FakeClock
  /** Signals that the executor was given. */
  readonly delivered: readonly Signal[]
  /** What was written at rest. */
  readonly written: readonly WrittenAtRest[]
  /** Run and types of the events that readers were told of. */
  readonly told: readonly (readonly [string, readonly string[]])[]
  /** How often the executor was woken. */
  woken(): number
  /** How often the answer was looked for. */
  looks(): number
  /** Lets an answer be there from now on. */
  answer(answer: SignalAnswer): void
}

interface Given {
  /** What the store says to a wish, each time. @default it was sent */
  readonly sent?: readonly (SentSignal | undefined)[]
  readonly send?: RunSignals['send']
  /** What the executor says. @default nothing, as the run executes elsewhere */
  readonly deliver?: (signal: Signal) => Promise<SignalAnswer | undefined>
  readonly look?: RunSignals['answer']
  /** What the store says to writes at rest, each time; afterwards they are written. */
  readonly results?: readonly WriteResult[]
  /** The run as it is looked at. */
  readonly run?: RunRecord
  readonly redact?: RedactEvent
}

function setUp(given: Given = {}): SetUp {
  const clock = fakeClock(Date.parse(AT))
  const delivered: Signal[] = []
  const written: WrittenAtRest[] = []
  const told: (readonly [string, readonly string[]])[] = []
  let [looks, wakes] = [0, 0]
  let known: SignalAnswer | undefined
  const { send = sendOneByOne(given.sent ?? [SENT]), look, deliver, run } = given
  const results = [...(given.results ?? [])]
  const storage = fakeStorage({
    signals: {
      send,
      answer: async (signalId) => {
        expect(signalId).toBe('signal-1')
        looks += 1
        return look === undefined ? known : look(signalId)
      },
    },
    runs: {
      get: async () => run,
      commitAtRest: async (write) => {
        const { next: afterwards, ...what } = write
        written.push({ ...what, afterwards })
        return results.shift() ?? keep(write)
      },
    },
  })
  const executor: Pick<RunExecutor, 'deliver' | 'wake'> = {
    deliver: async (signal) => {
      delivered.push(signal)
      return deliver?.(signal)
    },
    wake: () => {
      wakes += 1
    },
  }
  const feed: Pick<EventFeed, 'offer'> = {
    offer: (runId, events) => told.push([runId, events.map(({ type }) => type)]),
  }
  const wishes = new Wishes({
    storage,
    ensembles: new Map([['band', band()]]),
    // NOTE: no more of them is used.
    executor: executor as RunExecutor,
    feed: feed as EventFeed,
    settings: resolveRunServiceOptions({
      ...(given.redact === undefined ? {} : { redact: given.redact }),
      clock,
      models: modelCatalog({ fast: scriptedModel([]), other: scriptedModel([]) }),
    }),
  })
  return {
    wishes,
    clock,
    delivered,
    written,
    told,
    woken: () => wakes,
    looks: () => looks,
    answer: (answer) => {
      known = answer
    },
  }
}

function sendOneByOne(sent: readonly (SentSignal | undefined)[]): RunSignals['send'] {
  const left = [...sent]
  return async (runId) => {
    expect(runId).toBe(RUN)
    expect(left).not.toEqual([])
    return left.shift()
  }
}

function keep({ runId, lastSeq, events }: RestWrite): WriteResult {
  const logged = events.map((event, index) => {
    const seq = lastSeq + 1 + index
    return { ...event, runId, seq, id: `${runId}:${seq}` }
  })
  return { kind: 'written', events: logged }
}

function atRest(steps: readonly RunStep[] = [], run = recordOf(RUN)): SentSignal {
  return { kind: 'at_rest', run, steps }
}

function band() {
  const tune = task({ name: 'tune', description: 'Tune', review: true })
  return ensemble({ name: 'band', tasks: [tune], model: scriptedModel([]) })
}
