import { TuttiError } from '@tutti/core'
import { ensemble, modelCatalog, task } from '@tutti/ensemble'
import type { RunStep } from '@tutti/ensemble/internal'
import { fakeClock, scriptedModel, type FakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { ownedRecord } from '../../test/claimed.ts'
import { fakeStorage } from '../../test/fake-storage.ts'
import { turns } from '../../test/turns.ts'
import { resolveRunServiceOptions } from '../settings/options.ts'
import { RunEnsembles } from '../request/run-ensembles.ts'
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
import type { ReviewRecord, RunRecord } from '../domain/run-record.ts'
import type { RedactEvent } from '../commit/redacted-journal.ts'
import type { BuildCheck } from '../lineage/build-check.ts'
import type { ExecutionEnd } from '../settings/activity.ts'
import type { RunExecutor } from '../lifecycle/run-executor.ts'

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
    kind: 'TASK_OUTPUT',
    timing: 'AFTER_EXECUTION',
    prompt: null,
    timeoutMs: 0,
    onTimeout: 'CONTINUE',
    requestedAt: AT,
  },
}

/** A run whose task waits for a review. */
const AT_GATE: readonly RunStep[] = [
  { kind: 'run_begun', startedAt: Date.parse(AT), runMs: 0, tasks: ['tune'] },
  {
    kind: 'task_begun',
    taskName: 'tune',
    attempt: 1,
    taskMs: 0,
    runMs: 0,
    outputDigest: null,
  },
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
    basis: '0',
  },
]

describe('a command for a run', () => {
  it('A command for a run is refused when the run is unknown', async () => {
    const { commands } = setUp({ sent: [undefined] })
    await expect(commands.send(RUN, CANCEL)).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
      message: 'No run with ID run-a',
    })
  })

  it('A command for a run is refused when the run has ended', async () => {
    const run = ownedRecord(RUN, { status: 'FAILED' })
    const { commands } = setUp({ sent: [{ kind: 'ended', run }] })
    await expect(commands.send(RUN, CANCEL)).rejects.toMatchObject({
      code: 'RUN_COMPLETED',
      message: 'Run run-a already completed with status FAILED',
    })
  })

  it('[RUNS-W5] A command for a run is refused when it cannot be stored', async () => {
    const broken = new TuttiError('STORE_UNAVAILABLE', 'no connection')
    const { commands, delivered } = setUp({ send: () => Promise.reject(broken) })
    await expect(commands.send(RUN, CANCEL)).rejects.toBe(broken)
    expect(delivered).toEqual([])
  })
})

describe('a command for a run that executes here', () => {
  it('[RUNS-W6] A command for a run that executes here is answered by the run without polling the store', async () => {
    const { commands, delivered, clock, looks } = setUp({ deliver: async () => DONE })
    expect(await commands.send(RUN, SWITCH)).toEqual(REPLY)
    expect(delivered).toEqual([{ id: 'command-1', runId: RUN, command: SWITCH }])
    expect([looks(), clock.pending]).toEqual([0, 0])
  })

  it('[RUNS-W6] A command for a run that executes here is refused with the error of the run', async () => {
    const error = { code: 'INVALID_MODEL', message: 'No model "fast"', retryable: true } as const
    const deliver = async () => ({ commandId: 'command-1', ok: false, error }) as const
    const { commands } = setUp({ deliver })
    await expect(commands.send(RUN, SWITCH)).rejects.toMatchObject(error)
  })

  it('[RUNS-W7] A command for a run that executes here waits for the next owner when this one gives no answer', async () => {
    const { commands, answer } = setUp()
    const end = commands.send(RUN, SWITCH)
    await turns()
    answer(DONE)
    commands.onAnswer('command-1')
    expect(await end).toEqual(REPLY)
  })

  it('[RUNS-W8] A command for a run that executes here stays queued when the run does not answer in time', async () => {
    const { commands, clock } = setUp({ deliver: () => new Promise(() => undefined) })
    const sending = expect(commands.send(RUN, DECIDE)).rejects.toMatchObject(NOT_CONFIRMED)
    await clock.advance(30_000)
    await sending
  })

  it('[RUNS-W8] A command for a run that executes here is reported as under way when it is a cancel', async () => {
    const { commands, clock } = setUp({ deliver: () => new Promise(() => undefined) })
    const sending = commands.send(RUN, CANCEL)
    await clock.advance(1_000)
    expect(await sending).toEqual({ status: 'CANCELLING' })
  })

  it('[RUNS-W6] A command for a run that executes here is refused when the reply is not one to this command', async () => {
    const deliver = async () => ({ commandId: 'command-1', ok: true, value: { model: 1 } }) as const
    const { commands } = setUp({ deliver })
    await expect(commands.send(RUN, SWITCH)).rejects.toMatchObject({ code: 'ENGINE_FAILED' })
  })
})

describe('a command for a run that executes elsewhere', () => {
  it('[RUNS-W6] A command for a run that executes elsewhere is answered at once when the answer is already stored', async () => {
    const { commands, answer, looks, clock } = setUp()
    answer(DONE)
    expect(await commands.send(RUN, SWITCH)).toEqual(REPLY)
    expect([looks(), clock.pending]).toEqual([1, 0])
  })

  it.each([
    ['a notification of the answer', (commands: RunCommands) => commands.onAnswer('command-1')],
    ['notifications may have been missed', (commands: RunCommands) => commands.onMissed()],
  ])('[RUNS-W6] A command for a run that executes elsewhere is answered on %s', async (_, tell) => {
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

  it('[RUNS-W6] A command for a run that executes elsewhere is answered without a notification, by polling every second', async () => {
    const { commands, answer, looks, clock } = setUp()
    const end = commands.send(RUN, SWITCH)
    await clock.advance(2_999)
    expect(looks()).toBe(3)
    answer(DONE)
    await clock.advance(1)
    expect(await end).toEqual(REPLY)
    expect([looks(), clock.pending]).toEqual([4, 0])
  })

  it('[RUNS-W6] A command for a run that executes elsewhere misses no notification that arrives during a poll', async () => {
    const gate = Promise.withResolvers<CommandAnswer | undefined>()
    const answers = [gate.promise, Promise.resolve(DONE)]
    const { commands } = setUp({ look: async () => answers.shift() })
    const end = commands.send(RUN, SWITCH)
    await turns()
    commands.onAnswer('command-1')
    gate.resolve(undefined)
    expect(await end).toEqual(REPLY)
  })

  it('[RUNS-W6] A command for a run that executes elsewhere ignores notifications of other answers', async () => {
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

  it('[RUNS-W8] A command for a run that executes elsewhere stays queued when no owner answers in time', async () => {
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

  it('[RUNS-W8] A command for a run that executes elsewhere is answered at the last moment', async () => {
    const { commands, answer, clock } = setUp()
    const end = commands.send(RUN, SWITCH)
    await clock.advance(29_999)
    answer(DONE)
    await clock.advance(1)
    expect(await end).toEqual(REPLY)
  })

  it('A command for a run that executes elsewhere stops polling after its end', async () => {
    const { commands, looks, clock } = setUp()
    await Promise.all([commands.send(RUN, CANCEL), turns().then(() => clock.advance(1_000))])
    const looked = looks()
    commands.onAnswer('command-1')
    commands.onMissed()
    await clock.advance(100_000)
    expect(looks()).toBe(looked)
  })

  it('A command for a run that executes elsewhere throws the error when the answer cannot be read', async () => {
    const { commands, clock } = setUp({ look: () => Promise.reject(new Error('no connection')) })
    await expect(commands.send(RUN, SWITCH)).rejects.toThrow('no connection')
    commands.onAnswer('command-1')
    expect(clock.pending).toBe(0)
  })

  it('A command for a run that executes elsewhere reports how the run ended when it ended before the answer', async () => {
    const error = { code: 'RUN_COMPLETED', message: 'over', retryable: false } as const
    const { commands, answer } = setUp({ run: ownedRecord(RUN, { status: 'CANCELLED' }) })
    answer({ commandId: 'command-1', ok: false, error })
    await expect(commands.send(RUN, SWITCH)).rejects.toMatchObject({
      code: 'RUN_COMPLETED',
      message: 'Run run-a already completed with status CANCELLED',
    })
  })

  it('A command for a run that executes elsewhere reports the end even when the run has been deleted', async () => {
    const error = { code: 'RUN_COMPLETED', message: 'over', retryable: false } as const
    const { commands, answer } = setUp()
    answer({ commandId: 'command-1', ok: false, error })
    await expect(commands.send(RUN, SWITCH)).rejects.toMatchObject(error)
  })
})

describe('a command for an unowned run', () => {
  it.each([undefined, 'lost'] as const)(
    '[RUNS-W8] A command for an unowned run reports a cancel as under way when the execution here results in %s',
    async (end) => {
      const { commands } = setUp({ sent: [unowned()], end })
      expect(await commands.send(RUN, CANCEL)).toEqual({ status: 'CANCELLING' })
    },
  )

  it('[RUNS-W5] A command for an unowned run is written to the run and published to readers, and the run continues', async () => {
    const run = ownedRecord(RUN, { epoch: 3, lastSeq: 7 })
    const { commands, written, published, woken } = setUp({ sent: [unowned([], run)] })
    const end = await commands.send(RUN, CANCEL)
    expect(end).toEqual({ status: 'CANCELLED' })
    expect(written).toEqual([
      {
        runId: RUN,
        token: 'token-3',
        lastSeq: 7,
        events: [{ type: 'run_cancelling', requestedAt: AT, mode: 'abort', cause: 'SERVER' }],
        steps: [{ kind: 'cancel_asked', mode: 'abort', cause: 'SERVER', runMs: 0 }],
        afterwards: 'ready',
      },
    ])
    expect(published).toEqual([[RUN, ['run_cancelling']]])
    expect(woken()).toBe(1)
  })

  it('A command for an unowned run is stored redacted, but agents receive the full text', async () => {
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
  ])('[RUNS-W5] The command %j leaves an unowned run waiting', async (command, reply, kind) => {
    const { commands, written, woken } = setUp({ sent: [unowned()] })
    expect(await commands.send(RUN, command)).toMatchObject(reply)
    expect(written).toMatchObject([{ afterwards: 'stay', steps: [{ kind }] }])
    expect(written[0]?.events).toHaveLength(1)
    expect(woken()).toBe(0)
  })

  it('[RUNS-W6] A command for an unowned run validates and writes a decision, and the run continues', async () => {
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

  it.each<[string, () => Promise<string | undefined>, object]>([
    ['names the build that the run waits for', async () => 'v1', { waitsForBuild: 'v1' }],
    ['is not lost if the check fails', () => Promise.reject(new Error('No store')), {}],
  ])('[RUNS-Z19] The reply to a decision %s', async (_, checkBuild, reply) => {
    const { commands, written } = setUp({
      sent: [unowned(AT_GATE)],
      reviews: [REVIEW],
      checkBuild,
    })
    expect(await commands.send(RUN, DECIDE)).toEqual(reply)
    expect(written).toHaveLength(1)
  })

  it('[RUNS-W6] A command for an unowned run is refused by the rules of the engine and not written', async () => {
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

  it('[RUNS-W7] A command for an unowned run is sent again when another process has claimed the run', async () => {
    const { commands, written, delivered, published } = setUp({
      sent: [unowned(), SENT],
      results: [{ kind: 'fenced' }],
      deliver: async () => DONE,
    })
    expect(await commands.send(RUN, SWITCH)).toEqual(REPLY)
    expect([written.length, delivered.length, published]).toEqual([1, 1, []])
  })

  it('[RUNS-W7] A command for an unowned run is applied to the new state of the run after a concurrent write', async () => {
    const first = unowned([], ownedRecord(RUN, { lastSeq: 1 }))
    const earlier: RunStep = { kind: 'model_switched', model: 'other', runMs: 0 }
    const second = unowned([earlier], ownedRecord(RUN, { lastSeq: 2 }))
    const { commands, written } = setUp({ sent: [first, second], results: [{ kind: 'fenced' }] })
    const end = await commands.send(RUN, SWITCH)
    expect(end).toMatchObject({ previousModel: 'other' })
    expect(written.map(({ lastSeq }) => lastSeq)).toEqual([1, 2])
  })

  it('[RUNS-W7] A command for an unowned run is refused when the run has ended in the meantime', async () => {
    const ended: SentCommand = { kind: 'ended', run: ownedRecord(RUN, { status: 'COMPLETED' }) }
    const { commands } = setUp({ sent: [unowned(), ended], results: [{ kind: 'fenced' }] })
    await expect(commands.send(RUN, SWITCH)).rejects.toMatchObject({
      code: 'RUN_COMPLETED',
    })
  })

  it.each([
    ['unavailable', 'STORE_UNAVAILABLE', new TuttiError('STORE_UNAVAILABLE', 'no connection')],
    ['failed', 'STORE_REFUSED', new Error('value too long')],
  ] as const)(
    '[RUNS-W5] A command for an unowned run is refused when its write is %s',
    async (kind, code, error) => {
      const { commands, published, woken } = setUp({
        sent: [unowned()],
        results: [{ kind, error }],
      })
      const message: unknown = expect.stringContaining(error.message)
      await expect(commands.send(RUN, CANCEL)).rejects.toMatchObject({ code, message })
      expect([published, woken()]).toEqual([[], 0])
    },
  )

  it('A command for an unowned run accepts a second cancel, which changes and writes nothing', async () => {
    const asked: RunStep = { kind: 'cancel_asked', mode: 'abort', cause: 'SERVER', runMs: 0 }
    const { commands, written } = setUp({ sent: [unowned([asked])] })
    const end = await commands.send(RUN, CANCEL)
    expect(end).toEqual({ status: 'CANCELLED' })
    expect(written).toEqual([])
  })

  it('[RUNS-W6] A command for an unowned run accepts only a cancel when its ensemble is no longer registered', async () => {
    const gone = unowned([], ownedRecord(RUN, { ensemble: 'choir' }))
    const { commands, written } = setUp({ send: async () => gone })
    await commands.send(RUN, { kind: 'cancel', mode: 'boundary' })
    expect(written).toMatchObject([
      {
        events: [{ type: 'run_cancelling', requestedAt: AT, mode: 'boundary', cause: 'SERVER' }],
        steps: [{ kind: 'cancel_asked', mode: 'boundary', cause: 'SERVER' }],
        afterwards: 'ready',
      },
    ])
    for (const command of [SWITCH, INJECT, DECIDE]) {
      const refused = commands.send(RUN, command)
      await expect(refused).rejects.toMatchObject({
        code: 'ENSEMBLE_UNAVAILABLE',
        retryable: true,
        message: expect.stringContaining('Ensemble "choir" is no longer registered'),
      })
    }
    expect(written).toHaveLength(1)
  })
})

/** A write to an unowned run, and the state of the run after it. */
type UnownedWritten = Omit<UnownedWrite, 'next'> & { readonly afterwards: UnownedWrite['next'] }

interface SetUp {
  readonly commands: RunCommands
  readonly clock: FakeClock
  /** Commands that the executor received. */
  readonly delivered: readonly PendingCommand[]
  /** Writes to the unowned run. */
  readonly written: readonly UnownedWritten[]
  /** Run and types of the published events. */
  readonly published: readonly (readonly [string, readonly string[]])[]
  /** Number of wake-ups of the executor. */
  woken(): number
  /** Number of polls for the answer. */
  looks(): number
  /** Stores an answer. */
  answer(answer: CommandAnswer): void
}

interface Given {
  /** Results of sending a command to the store, one per call. @default it is queued */
  readonly sent?: readonly (SentCommand | undefined)[]
  readonly send?: CommandQueue['send']
  /** Answer of the executor. @default none, because the run executes elsewhere */
  readonly deliver?: (signal: PendingCommand) => Promise<CommandAnswer | undefined>
  readonly look?: CommandQueue['answer']
  /** Outcome of executing the run here. @default it ends */
  readonly end?: ExecutionEnd | undefined
  /** Results of the first writes; later ones are written. */
  readonly results?: readonly WriteResult[]
  /** The run in the store. */
  readonly run?: RunRecord
  readonly redact?: RedactEvent
  /** Checks the build of a decided run. @default it can continue */
  readonly checkBuild?: () => Promise<string | undefined>
  /** The reviews in the store. */
  readonly reviews?: readonly ReviewRecord[]
}

function setUp(given: Given = {}): SetUp {
  const clock = fakeClock(Date.parse(AT))
  const delivered: PendingCommand[] = []
  const written: UnownedWritten[] = []
  const published: (readonly [string, readonly string[]])[] = []
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
    executeNow: async () => ('end' in given ? given.end : 'ended'),
    deliver: async (signal) => {
      delivered.push(signal)
      return deliver?.(signal)
    },
    wake: () => {
      wakes += 1
    },
  }
  const buildCheck: Pick<BuildCheck, 'checkDue'> = {
    checkDue: async () => given.checkBuild?.(),
  }
  const feed: Pick<RunEventFeed, 'offer'> = {
    offer: (runId, events) => published.push([runId, events.map(({ type }) => type)]),
  }
  const commands = new RunCommands({
    storage,
    ensembles: new RunEnsembles([band()], { tools: undefined, models }),
    // NOTE: the subject uses no other members.
    executor: executor as RunExecutor,
    buildCheck: buildCheck as BuildCheck,
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
    published,
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

function unowned(steps: readonly RunStep[] = [], run = ownedRecord(RUN)): SentCommand {
  return { kind: 'unowned', run, token: `token-${run.epoch}`, steps }
}

function band() {
  const tune = task({ name: 'tune', description: 'Tune', review: true })
  return ensemble({ name: 'band', tasks: [tune], model: scriptedModel([]) })
}
