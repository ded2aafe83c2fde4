import { TuttiError } from '@tutti/core'
import { ensemble, modelCatalog, task, type RunStep } from '@tutti/ensemble'
import { fakeClock, scriptedModel, type FakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { recordOf } from '../../test/claimed.ts'
import { fakeStorage } from '../../test/fake-storage.ts'
import { turns } from '../../test/turns.ts'
import { resolveRunServiceOptions } from '../options.ts'
import { RunEnsembles } from '../execution/run-ensembles.ts'
import { RunCommands } from './run-commands.ts'

import type { RunEventFeed } from '../feed/event-feed.ts'
import type { RunCommand } from '@tutti/protocol'
import type {
  CommandAnswer,
  CommandQueue,
  PendingCommand,
  SentCommand,
} from '../ports/command-queue.ts'
import type { UnownedWrite, WriteResult } from '../ports/run-store.ts'
import type { ReviewRecord, RunRecord } from '../run-record.ts'
import type { RedactEvent } from '../commit/redacted-journal.ts'
import type { RunExecutor } from '../execution/run-executor.ts'

const RUN = 'run-a'

const AT = '2026-01-01T00:00:00.000Z'

const CANCEL: RunCommand = { kind: 'cancel', mode: 'abort' }

const SWITCH: RunCommand = { kind: 'switch_model', model: 'fast' }

const INJECT: RunCommand = { kind: 'inject', directive: { content: 'Play softly' } }

const DECIDE: RunCommand = {
  kind: 'decide',
  reviewId: 'review-1',
  decision: { action: 'CONTINUE' },
}

const SENT: SentCommand = { kind: 'sent', commandId: 'command-1' }

const DONE: CommandAnswer = { commandId: 'command-1', ok: true, value: { model: 'fast' } }

const REPLY = { model: 'fast' }

const NOT_CONFIRMED = { code: 'NOT_CONFIRMED', retryable: true }

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

describe('a command for a run', () => {
  it('is refused when nobody knows the run', async () => {
    const { commands } = setUp({ sent: [undefined] })
    await expect(commands.send(RUN, CANCEL)).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
      message: 'No run with ID run-a',
    })
  })

  it('is refused when the run has ended', async () => {
    const run = recordOf(RUN, { status: 'FAILED' })
    const { commands } = setUp({ sent: [{ kind: 'ended', run }] })
    await expect(commands.send(RUN, CANCEL)).rejects.toMatchObject({
      code: 'RUN_COMPLETED',
      message: 'Run run-a already completed with status FAILED',
    })
  })

  it('[RUNS-W5] is refused when it cannot be kept', async () => {
    const broken = new TuttiError('STORE_UNAVAILABLE', 'no connection')
    const { commands, delivered } = setUp({ send: () => Promise.reject(broken) })
    await expect(commands.send(RUN, CANCEL)).rejects.toBe(broken)
    expect(delivered).toEqual([])
  })
})

describe('a command for a run that executes here', () => {
  it('[RUNS-W6] is answered by it, and nothing is looked for', async () => {
    const { commands, delivered, clock, looks } = setUp({ deliver: async () => DONE })
    expect(await commands.send(RUN, SWITCH)).toEqual(REPLY)
    expect(delivered).toEqual([{ id: 'command-1', runId: RUN, command: SWITCH }])
    expect([looks(), clock.pending]).toEqual([0, 0])
  })

  it('[RUNS-W6] is refused by it, with its words', async () => {
    const error = { code: 'INVALID_MODEL', message: 'No model "fast"', retryable: true } as const
    const deliver = async () => ({ commandId: 'command-1', ok: false, error }) as const
    const { commands } = setUp({ deliver })
    await expect(commands.send(RUN, SWITCH)).rejects.toMatchObject(error)
  })

  it('[RUNS-W7] waits for the next owner when this one has nothing more to do with it', async () => {
    const { commands, answer } = setUp()
    const end = commands.send(RUN, SWITCH)
    await turns()
    answer(DONE)
    commands.onAnswer('command-1')
    expect(await end).toEqual(REPLY)
  })

  it('[RUNS-W8] stays queued when the run does not answer in time', async () => {
    const { commands, clock } = setUp({ deliver: () => new Promise(() => undefined) })
    const sending = expect(commands.send(RUN, DECIDE)).rejects.toMatchObject(NOT_CONFIRMED)
    await clock.advance(30_000)
    await sending
  })

  it('[RUNS-W8] is reported as under way when it is a cancel', async () => {
    const { commands, clock } = setUp({ deliver: () => new Promise(() => undefined) })
    const sending = commands.send(RUN, CANCEL)
    await clock.advance(1_000)
    expect(await sending).toEqual({ status: 'CANCELLING' })
  })

  it('[RUNS-W6] gets an empty reply from an owner of an earlier version', async () => {
    const deliver = async () => ({ commandId: 'command-1', ok: true }) as const
    const { commands } = setUp({ deliver })
    expect(await commands.send(RUN, DECIDE)).toEqual({})
  })

  it('[RUNS-W6] is refused when the reply is not one to this command', async () => {
    const deliver = async () => ({ commandId: 'command-1', ok: true, value: { model: 1 } }) as const
    const { commands } = setUp({ deliver })
    await expect(commands.send(RUN, SWITCH)).rejects.toMatchObject({ code: 'ENGINE_FAILED' })
  })
})

describe('a command for a run that executes elsewhere', () => {
  it('[RUNS-W6] is answered at once when the answer is there', async () => {
    const { commands, answer, looks, clock } = setUp()
    answer(DONE)
    expect(await commands.send(RUN, SWITCH)).toEqual(REPLY)
    expect([looks(), clock.pending]).toEqual([1, 0])
  })

  it.each([
    ['a notification of the answer', (commands: RunCommands) => commands.onAnswer('command-1')],
    ['notifications may have been missed', (commands: RunCommands) => commands.onMissed()],
  ])('[RUNS-W6] is answered on %s', async (_, tell) => {
    const { commands, answer, looks, clock } = setUp()
    const end = commands.send(RUN, SWITCH)
    await turns()
    answer(DONE)
    await turns()
    expect(looks()).toBe(1)
    tell(commands)
    expect(await end).toEqual(REPLY)
    expect([looks(), clock.pending]).toEqual([2, 0])
  })

  it('[RUNS-W6] is answered without a notification, by looking every second', async () => {
    const { commands, answer, looks, clock } = setUp()
    const end = commands.send(RUN, SWITCH)
    await clock.advance(2_999)
    expect(looks()).toBe(3)
    answer(DONE)
    await clock.advance(1)
    expect(await end).toEqual(REPLY)
    expect([looks(), clock.pending]).toEqual([4, 0])
  })

  it('[RUNS-W6] misses no notification that comes while it looks', async () => {
    const gate = Promise.withResolvers<CommandAnswer | undefined>()
    const answers = [gate.promise, Promise.resolve(DONE)]
    const { commands } = setUp({ look: async () => answers.shift() })
    const end = commands.send(RUN, SWITCH)
    await turns()
    commands.onAnswer('command-1')
    gate.resolve(undefined)
    expect(await end).toEqual(REPLY)
  })

  it('[RUNS-W6] looks only for its own answer', async () => {
    const { commands, looks, answer } = setUp()
    const end = commands.send(RUN, SWITCH)
    await turns()
    commands.onAnswer('command-2')
    await turns()
    expect(looks()).toBe(1)
    answer(DONE)
    commands.onAnswer('command-1')
    await end
  })

  it('[RUNS-W8] stays queued when no owner answers in time', async () => {
    const { commands, looks, clock } = setUp()
    let refusal: unknown
    commands.send(RUN, SWITCH).catch((error: unknown) => (refusal = error))
    await clock.advance(29_999)
    await turns()
    expect(refusal).toBeUndefined()
    await clock.advance(1)
    await turns()
    expect(refusal).toMatchObject(NOT_CONFIRMED)
    expect([looks(), clock.pending]).toEqual([31, 0])
  })

  it('[RUNS-W8] is answered in the last moment', async () => {
    const { commands, answer, clock } = setUp()
    const end = commands.send(RUN, SWITCH)
    await clock.advance(29_999)
    answer(DONE)
    await clock.advance(1)
    expect(await end).toEqual(REPLY)
  })

  it('looks for nothing any more when it is over', async () => {
    const { commands, looks, clock } = setUp()
    await Promise.all([commands.send(RUN, CANCEL), turns().then(() => clock.advance(1_000))])
    const looked = looks()
    commands.onAnswer('command-1')
    commands.onMissed()
    await clock.advance(100_000)
    expect(looks()).toBe(looked)
  })

  it('passes on that the answer could not be looked for', async () => {
    const { commands, clock } = setUp({ look: () => Promise.reject(new Error('no connection')) })
    await expect(commands.send(RUN, SWITCH)).rejects.toThrow('no connection')
    commands.onAnswer('command-1')
    expect(clock.pending).toBe(0)
  })

  it('says how the run ended when it ended before', async () => {
    const error = { code: 'RUN_COMPLETED', message: 'over', retryable: false } as const
    const { commands, answer } = setUp({ run: recordOf(RUN, { status: 'CANCELLED' }) })
    answer({ commandId: 'command-1', ok: false, error })
    await expect(commands.send(RUN, SWITCH)).rejects.toMatchObject({
      code: 'RUN_COMPLETED',
      message: 'Run run-a already completed with status CANCELLED',
    })
  })

  it('says so too when the run is deleted by then', async () => {
    const error = { code: 'RUN_COMPLETED', message: 'over', retryable: false } as const
    const { commands, answer } = setUp()
    answer({ commandId: 'command-1', ok: false, error })
    await expect(commands.send(RUN, SWITCH)).rejects.toMatchObject(error)
  })
})

describe('a command for an unowned run', () => {
  it('[RUNS-W5] is written to it, told to readers, and the run goes on', async () => {
    const run = recordOf(RUN, { epoch: 3, lastSeq: 7 })
    const { commands, written, told, woken } = setUp({ sent: [unowned([], run)] })
    const end = await commands.send(RUN, CANCEL)
    expect(end).toEqual({ status: 'CANCELLED' })
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
    const { commands, written } = setUp({ sent: [unowned([])], redact })
    await commands.send(RUN, INJECT)
    expect(JSON.stringify(written[0]?.events)).not.toContain('Play softly')
    expect(JSON.stringify(written[0]?.steps)).toContain('Play softly')
  })

  it.each([
    [SWITCH, { model: 'fast' }, 'model_switched'],
    [INJECT, { id: expect.any(String) as string }, 'directive_taken'],
  ])('[RUNS-W5] %j leaves it waiting', async (command, reply, kind) => {
    const { commands, written, woken } = setUp({ sent: [unowned()] })
    expect(await commands.send(RUN, command)).toMatchObject(reply)
    expect(written).toMatchObject([{ afterwards: 'stay', steps: [{ kind }] }])
    expect(written[0]?.events).toHaveLength(1)
    expect(woken()).toBe(0)
  })

  it('[RUNS-W6] a decision is checked, written, and the run goes on', async () => {
    const { commands, written, woken } = setUp({ sent: [unowned(AT_GATE)], reviews: [REVIEW] })
    const end = await commands.send(RUN, DECIDE)
    expect(end).toEqual({})
    expect(written).toMatchObject([
      {
        events: [{ type: 'review_decided', reviewId: 'review-1', decision: 'CONTINUE' }],
        steps: [{ kind: 'gate_closed', reviewId: 'review-1' }],
        afterwards: 'ready',
      },
    ])
    expect(woken()).toBe(1)
  })

  it('[RUNS-W6] is refused by the rules of the engine, and nothing is written', async () => {
    const { commands, written } = setUp({ send: async () => unowned() })
    const refused: readonly (readonly [RunCommand, string])[] = [
      [{ ...SWITCH, model: 'slow' }, 'INVALID_MODEL'],
      [{ ...SWITCH, taskName: 'rest' }, 'BAD_REQUEST'],
      [{ kind: 'inject', directive: { content: '' } }, 'BAD_REQUEST'],
      [DECIDE, 'REVIEW_NOT_FOUND'],
    ]
    for (const [command, code] of refused) {
      await expect(commands.send(RUN, command)).rejects.toMatchObject({ code })
    }
    const decided = commands.send(RUN, DECIDE)
    await expect(decided).rejects.toMatchObject({ code: 'REVIEW_NOT_FOUND' })
    expect(written).toEqual([])
  })

  it('[RUNS-W7] is sent again when somebody took the run meanwhile', async () => {
    const { commands, written, delivered, told } = setUp({
      sent: [unowned(), SENT],
      results: [{ kind: 'fenced' }],
      deliver: async () => DONE,
    })
    expect(await commands.send(RUN, SWITCH)).toEqual(REPLY)
    expect([written.length, delivered.length, told]).toEqual([1, 1, []])
  })

  it('[RUNS-W7] is written to what the run is by then when something else was written first', async () => {
    const first = unowned([], recordOf(RUN, { lastSeq: 1 }))
    const earlier: RunStep = { kind: 'model_switched', model: 'other', runMs: 0 }
    const second = unowned([earlier], recordOf(RUN, { lastSeq: 2 }))
    const { commands, written } = setUp({ sent: [first, second], results: [{ kind: 'fenced' }] })
    const end = await commands.send(RUN, SWITCH)
    expect(end).toMatchObject({ previousModel: 'other' })
    expect(written.map(({ lastSeq }) => lastSeq)).toEqual([1, 2])
  })

  it('[RUNS-W7] is refused when the run has ended meanwhile', async () => {
    const ended: SentCommand = { kind: 'ended', run: recordOf(RUN, { status: 'COMPLETED' }) }
    const { commands } = setUp({ sent: [unowned(), ended], results: [{ kind: 'fenced' }] })
    await expect(commands.send(RUN, SWITCH)).rejects.toMatchObject({
      code: 'RUN_COMPLETED',
    })
  })

  it.each([
    ['unavailable', new TuttiError('STORE_UNAVAILABLE', 'no connection')],
    ['failed', new Error('disk full')],
  ] as const)('[RUNS-W5] is refused when its write is %s', async (kind, error) => {
    const { commands, told, woken } = setUp({ sent: [unowned()], results: [{ kind, error }] })
    const { message } = error
    const refusal = { code: 'STORE_UNAVAILABLE', message }
    await expect(commands.send(RUN, CANCEL)).rejects.toMatchObject(refusal)
    expect([told, woken()]).toEqual([[], 0])
  })

  it('a second cancel changes nothing, writes nothing, and is heard', async () => {
    const asked: RunStep = { kind: 'cancel_asked', mode: 'abort', runMs: 0 }
    const { commands, written } = setUp({ sent: [unowned([asked])] })
    const end = await commands.send(RUN, CANCEL)
    expect(end).toEqual({ status: 'CANCELLED' })
    expect(written).toEqual([])
  })

  it('[RUNS-W6] can be cancelled when its ensemble is gone, and nothing else', async () => {
    const gone = unowned([], recordOf(RUN, { ensemble: 'choir' }))
    const { commands, written } = setUp({ send: async () => gone })
    await commands.send(RUN, { kind: 'cancel', mode: 'boundary' })
    expect(written).toMatchObject([
      {
        events: [{ type: 'run_cancelling', requestedAt: AT, mode: 'boundary' }],
        steps: [{ kind: 'cancel_asked', mode: 'boundary' }],
        afterwards: 'ready',
      },
    ])
    for (const command of [SWITCH, INJECT, DECIDE]) {
      const refused = commands.send(RUN, command)
      await expect(refused).rejects.toMatchObject({
        code: 'CONFIG_INVALID',
        message: 'Ensemble "choir" is no longer registered',
      })
    }
    expect(written).toHaveLength(1)
  })
})

/** What was written to an unowned run, and how it waits from then on. */
type UnownedWritten = Omit<UnownedWrite, 'next'> & { readonly afterwards: UnownedWrite['next'] }

interface SetUp {
  readonly commands: RunCommands
  readonly clock: FakeClock
  /** Signals that the executor was given. */
  readonly delivered: readonly PendingCommand[]
  /** What was written to the unowned run. */
  readonly written: readonly UnownedWritten[]
  /** Run and types of the events that readers were told of. */
  readonly told: readonly (readonly [string, readonly string[]])[]
  /** How often the executor was woken. */
  woken(): number
  /** How often the answer was looked for. */
  looks(): number
  /** Lets an answer be there from now on. */
  answer(answer: CommandAnswer): void
}

interface Given {
  /** What the store says to a command, each time. @default it was queued */
  readonly sent?: readonly (SentCommand | undefined)[]
  readonly send?: CommandQueue['send']
  /** What the executor says. @default nothing, as the run executes elsewhere */
  readonly deliver?: (signal: PendingCommand) => Promise<CommandAnswer | undefined>
  readonly look?: CommandQueue['answer']
  /** What the store says to these writes, each time; afterwards they are written. */
  readonly results?: readonly WriteResult[]
  /** The run as it is looked at. */
  readonly run?: RunRecord
  readonly redact?: RedactEvent
  /** The reviews in the store. */
  readonly reviews?: readonly ReviewRecord[]
}

function setUp(given: Given = {}): SetUp {
  const clock = fakeClock(Date.parse(AT))
  const delivered: PendingCommand[] = []
  const written: UnownedWritten[] = []
  const told: (readonly [string, readonly string[]])[] = []
  let [looks, wakes] = [0, 0]
  let known: CommandAnswer | undefined
  const { send = sendOneByOne(given.sent ?? [SENT]), look, deliver, run } = given
  const results = [...(given.results ?? [])]
  const models = modelCatalog({ fast: scriptedModel([]), other: scriptedModel([]) })
  const storage = fakeStorage({
    commands: {
      send,
      answer: async (commandId) => {
        expect(commandId).toBe('command-1')
        looks += 1
        return look === undefined ? known : look(commandId)
      },
    },
    runs: {
      get: async () => run,
      steps: async () => [],
      reviews: async () => given.reviews ?? [],
      commitUnowned: async (write) => {
        const { next: afterwards, ...what } = write
        written.push({ ...what, afterwards })
        return results.shift() ?? keep(write)
      },
    },
  })
  const executor: Pick<RunExecutor, 'deliver' | 'wake' | 'executeNow'> = {
    executeNow: async () => 'ended',
    deliver: async (signal) => {
      delivered.push(signal)
      return deliver?.(signal)
    },
    wake: () => {
      wakes += 1
    },
  }
  const feed: Pick<RunEventFeed, 'offer'> = {
    offer: (runId, events) => told.push([runId, events.map(({ type }) => type)]),
  }
  const commands = new RunCommands({
    storage,
    ensembles: new RunEnsembles([band()], { tools: undefined, models }),
    // NOTE: no more of them is used.
    executor: executor as RunExecutor,
    feed: feed as RunEventFeed,
    settings: resolveRunServiceOptions({
      ...(given.redact === undefined ? {} : { redact: given.redact }),
      clock,
      models,
    }),
  })
  return {
    commands,
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

function sendOneByOne(sent: readonly (SentCommand | undefined)[]): CommandQueue['send'] {
  const left = [...sent]
  return async (runId) => {
    expect(runId).toBe(RUN)
    expect(left).not.toEqual([])
    return left.shift()
  }
}

function keep({ runId, lastSeq, events }: UnownedWrite): WriteResult {
  const logged = events.map((event, index) => {
    const seq = lastSeq + 1 + index
    return { ...event, runId, seq, id: `${runId}:${seq}` }
  })
  return { kind: 'written', events: logged }
}

function unowned(steps: readonly RunStep[] = [], run = recordOf(RUN)): SentCommand {
  return { kind: 'unowned', run, steps }
}

function band() {
  const tune = task({ name: 'tune', description: 'Tune', review: true })
  return ensemble({ name: 'band', tasks: [tune], model: scriptedModel([]) })
}
