/** Tests of compensations: what a handler undoes when it fails or is stopped. */
import { TuttiError, Type } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { ensemble, task, type HandlerContext, type StepContext, type Task } from '../src/index.ts'
import { runToEnd, startRecorded, type RecordedRun } from './recorded-run.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { eventsOf, listFailures } from './watch-run.ts'

import type { EnsembleDefinition, TaskDefinition } from '../src/index.ts'
import type { RunStep } from '../src/internal.ts'

type Work = (context: HandlerContext) => unknown

/** The booking service: its calls in order, which act once for each key. */
interface Service {
  readonly calls: string[]
  readonly keys: Set<string>
  readonly send: (what: string) => (context: StepContext) => Promise<string>
}

function createService(clock: FakeClock, { soldOut = [] as readonly string[] } = {}): Service {
  const calls: string[] = []
  const keys = new Set<string>()
  return {
    calls,
    keys,
    send:
      (what) =>
      async ({ idempotencyKey, signal }) => {
        await sleep(clock, 100, signal)
        signal.throwIfAborted()
        if (!keys.has(idempotencyKey)) calls.push(what)
        keys.add(idempotencyKey)
        if (soldOut.includes(what)) throw new Error(`${what}: sold out`)
        return `${what} done`
      },
  }
}

const ITEMS = ['flight', 'hotel', 'car']

/** Books the items one after another; the compensation of each is added when it is booked. */
function book({ send }: Service): Work {
  return async ({ step, compensate }) => {
    for (const item of ITEMS) {
      await step(`book ${item}`, send(`book ${item}`))
      compensate(`cancel ${item}`, send(`cancel ${item}`), { retries: 0 })
    }
    return 'Booked'
  }
}

function team(
  work: Work,
  {
    with: settings = {},
    ...of
  }: Partial<TaskDefinition> & { with?: Partial<EnsembleDefinition> } = {},
) {
  const trip = task({ name: 'trip', description: 'Book a trip', handler: work, ...of })
  return ensemble({ name: 'team', ...settings, tasks: [trip] })
}

const cut = ({ events, steps }: RecordedRun, count: number): RecordedRun => ({
  events: [...events],
  steps: steps.slice(0, count),
})

const kindsOf = (steps: readonly RunStep[]) => steps.map(({ kind }) => kind)

/** Starts a run, cancels it after this time, and runs it to its end. */
async function cancelAt(
  at: number,
  work: (service: Service) => Work,
  {
    from,
    soldOut = [],
    service,
    ...of
  }: Parameters<typeof team>[1] & {
    from?: RecordedRun
    soldOut?: readonly string[]
    service?: Service
  } = {},
) {
  const clock = fakeClock()
  const own = service ?? createService(clock, { soldOut })
  const started = startRecorded(team(work(own), of), { clock, ...(from ? { from } : {}) })
  await clock.advance(at)
  started.handle.cancel({ actor: 'ann' })
  const result = await runToEnd(started)
  expect(clock.pending).toBe(0)
  return { ...started, result, calls: own.calls }
}

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(1)
})

afterEach(() => {
  vi.restoreAllMocks()
})

describe('the compensations of a handler', () => {
  it('[ENS-P25] A failed handler runs its compensations in reverse order, each as a step, before its task fails', async () => {
    const clock = fakeClock()
    const service = createService(clock, { soldOut: ['book car'] })
    const started = startRecorded(team(book(service)), { clock })
    const result = await runToEnd(started)
    expect(service.calls).toEqual([
      'book flight',
      'book hotel',
      'book car',
      'cancel hotel',
      'cancel flight',
    ])
    expect(result).toMatchObject({
      status: 'FAILED',
      error: { code: 'TASK_FAILED', message: 'book car: sold out' },
    })
    const ends = started.events.flatMap((event) => {
      if (event.type === 'handler_step_ended') {
        return [[event.step, event.isCompensation === true, event.reason ?? 'ok']]
      }
      return event.type === 'task_failed' ? [[event.type, event.code, event.reason]] : []
    })
    expect(ends).toEqual([
      ['book flight', false, 'ok'],
      ['book hotel', false, 'ok'],
      ['book car', false, 'book car: sold out'],
      ['cancel hotel', true, 'ok'],
      ['cancel flight', true, 'ok'],
      ['task_failed', 'TASK_FAILED', 'book car: sold out'],
    ])
    expect([...service.keys].slice(3)).toEqual([
      'run-1/trip/1/compensation/1',
      'run-1/trip/1/compensation/0',
    ])
  })

  it('A handler that succeeds runs no compensation', async () => {
    const clock = fakeClock()
    const service = createService(clock)
    const started = startRecorded(team(book(service)), { clock })
    expect(await runToEnd(started)).toMatchObject({ status: 'COMPLETED', output: 'Booked' })
    expect(service.calls).toEqual(ITEMS.map((item) => `book ${item}`))
    expect(kindsOf(started.steps)).not.toContain('compensation_begun')
  })

  it('[ENS-P25] A handler whose output does not match its schema is compensated', async () => {
    const clock = fakeClock()
    const service = createService(clock)
    const started = startRecorded(team(book(service), { output: Type.Integer() }), { clock })
    expect((await runToEnd(started)).error).toMatchObject({ code: 'OUTPUT_INVALID' })
    expect(service.calls.slice(3)).toEqual(['cancel car', 'cancel hotel', 'cancel flight'])
  })

  it('[ENS-P25] Each attempt of a task undoes what it did before the next one begins', async () => {
    const clock = fakeClock()
    const service = createService(clock, { soldOut: ['book car'] })
    const started = startRecorded(team(book(service), { retries: 1 }), { clock })
    expect((await runToEnd(started)).status).toBe('FAILED')
    const once = ['book flight', 'book hotel', 'book car', 'cancel hotel', 'cancel flight']
    expect(service.calls).toEqual([...once, ...once])
  })

  it('[ENS-P25] [ENS-P28] A cancelled run ends only after its compensations, and a step in flight that obeys its signal is not undone', async () => {
    const { result, calls, events } = await cancelAt(250, book)
    expect(calls).toEqual(['book flight', 'book hotel', 'cancel hotel', 'cancel flight'])
    expect(result.status).toBe('CANCELLED')
    expect(result.error).toBeUndefined()
    expect(listFailures(events)).toMatchObject([{ taskName: 'trip', code: 'CANCELLED' }])
    expect(events.map(({ type }) => type).slice(-6)).toEqual([
      'run_cancelling',
      'handler_step_ended',
      'handler_step_ended',
      'task_failed',
      'ensemble_completed',
      'run_result',
    ])
  })

  it('[ENS-P25] A step that ends in spite of a cancel is recorded and undone', async () => {
    const deaf =
      (service: Service): Work =>
      async ({ step, compensate }) => {
        const id = await step('book', () => service.send('book')(DEAF))
        compensate('cancel', service.send(`cancel ${id}`))
        await step('more', service.send('more'))
      }
    const { result, calls, steps } = await cancelAt(50, deaf)
    expect(result.status).toBe('CANCELLED')
    expect(calls).toEqual(['book', 'cancel book done'])
    expect(kindsOf(steps).filter((kind) => kind === 'handler_step')).toHaveLength(2)
  })

  it('[ENS-P25] A compensation that is added before its step undoes a step that was stopped', async () => {
    const before =
      ({ send }: Service): Work =>
      async ({ step, compensate }) => {
        compensate('cancel', send('cancel'))
        await step('book', send('book'))
      }
    expect((await cancelAt(50, before)).calls).toEqual(['cancel'])
  })

  it('[ENS-P25] A time limit of the task and a budget run the compensations', async () => {
    for (const [of, status] of [
      [{ timeoutMs: 250 }, 'TASK_TIMEOUT'],
      [{ budget: { maxDurationMs: 250 } }, 'BUDGET_EXCEEDED'],
      [{ with: { budget: { maxDurationMs: 250 } } }, 'BUDGET_EXCEEDED'],
    ] as const) {
      const clock = fakeClock()
      const service = createService(clock)
      const { result, events } = await (async () => {
        const started = startRecorded(team(book(service), of), { clock })
        return { result: await runToEnd(started), events: started.events }
      })()
      expect(service.calls.slice(2)).toEqual(['cancel hotel', 'cancel flight'])
      expect(result.status).toBe('FAILED')
      expect(listFailures(events)).toMatchObject([{ code: status }])
    }
  })

  it('[ENS-P25] A cancel in mode boundary lets the handler finish and undoes no step', async () => {
    const clock = fakeClock()
    const service = createService(clock)
    const started = startRecorded(team(book(service)), { clock })
    await clock.advance(150)
    started.handle.cancel({ mode: 'boundary' })
    expect((await runToEnd(started)).status).toBe('COMPLETED')
    expect(service.calls).toHaveLength(3)
  })

  it('[ENS-P25] A cancel compensates tasks of a handler and of an ensemble before those that added them', async () => {
    const outer =
      (service: Service): Work =>
      async ({ task: add, step, compensate, taskName }) => {
        compensate(`undo ${taskName}`, service.send(`undo ${taskName}`))
        await step('book', service.send(`book ${taskName}`))
        await add(nested(service))
      }
    const nested = (service: Service): Task =>
      task({
        name: 'nested',
        ensemble: ensemble({
          name: 'inner',
          tasks: [
            task({
              name: 'leaf',
              description: 'Leaf',
              handler: async ({ step, compensate }) => {
                compensate('undo leaf', service.send('undo leaf'))
                await step('book', service.send('book leaf'))
                await step('more', service.send('more'))
              },
            }),
          ],
        }),
      })
    const whole = await cancelAt(250, outer)
    expect(whole.calls).toEqual(['book trip', 'book leaf', 'undo leaf', 'undo trip'])
    expect(whole.result.status).toBe('CANCELLED')
    const asked = kindsOf(whole.steps).indexOf('cancel_asked')
    for (let count = asked + 1; count <= whole.steps.length - 2; count += 1) {
      const clock = fakeClock()
      const service = createService(clock)
      const again = startRecorded(team(outer(service)), { clock, from: cut(whole, count) })
      expect([count, (await runToEnd(again)).status]).toEqual([count, 'CANCELLED'])
      const undone = [
        ...whole.steps
          .slice(0, count)
          .flatMap((step) =>
            step.kind === 'handler_step' && step.isCompensation === true ? [step.name] : [],
          ),
        ...service.calls,
      ]
      expect([count, undone]).toEqual([count, ['undo leaf', 'undo trip']])
    }
  })
})

/** Context of a call that ignores its signal. */
const DEAF: StepContext = { signal: new AbortController().signal, idempotencyKey: 'deaf', tries: 1 }

describe('a compensation that fails', () => {
  const soldOut = ['book car', 'cancel hotel']

  it('[ENS-P26] After a failed compensation the others run, and the task fails with COMPENSATION_FAILED without a retry', async () => {
    const clock = fakeClock()
    const service = createService(clock, { soldOut })
    const started = startRecorded(team(book(service), { retries: 3 }), { clock })
    const { error, status } = await runToEnd(started)
    expect(service.calls.slice(3)).toEqual(['cancel hotel', 'cancel flight'])
    expect(status).toBe('FAILED')
    expect(error).toMatchObject({
      code: 'COMPENSATION_FAILED',
      message: 'book car: sold out; compensation "cancel hotel" failed: cancel hotel: sold out',
      details: {
        reason: { code: 'TASK_FAILED', message: 'book car: sold out' },
        compensations: [
          { name: 'cancel hotel', code: 'TASK_FAILED', message: 'cancel hotel: sold out' },
        ],
      },
    })
  })

  it('[ENS-P28] A cancelled run whose compensation failed is CANCELLED and has its error, in its result and its last event', async () => {
    const { result, events } = await cancelAt(250, book, { soldOut })
    expect(result).toMatchObject({ status: 'CANCELLED', error: { code: 'COMPENSATION_FAILED' } })
    const message =
      'Run run-1 was cancelled; compensation "cancel hotel" failed: cancel hotel: sold out'
    expect(eventsOf(events, 'run_result')).toMatchObject([
      { status: 'CANCELLED', code: 'COMPENSATION_FAILED', error: message },
    ])
  })

  it('[ENS-P26] A compensation has two retries and a limit of one minute for each try by default', async () => {
    const clock = fakeClock()
    const tried: unknown[] = []
    const started = startRecorded(
      team(({ compensate }) => {
        compensate('never', async ({ tries, signal }) => {
          tried.push([tries, clock.elapsed()])
          await sleep(clock, 1_000_000, signal)
          signal.throwIfAborted()
        })
        compensate('second time', ({ tries }) => {
          if (tries === 1) throw new Error('Down')
          return new Map()
        })
        throw new Error('Broke')
      }),
      { clock },
    )
    expect((await runToEnd(started)).error?.message).toBe(
      'Broke; compensation "never" failed: Compensation "never" took longer than 60000 ms',
    )
    expect(tried).toEqual([
      [1, 500],
      [2, 61_000],
      [3, 122_000],
    ])
  })

  it('[ENS-P26] The error names the first ten failed compensations and counts the others', async () => {
    const clock = fakeClock()
    const started = startRecorded(
      team(({ compensate }) => {
        for (let n = 1; n <= 12; n += 1) {
          compensate(`c${n}`, () => Promise.reject(new Error('Down')), { retries: 0 })
        }
        throw new Error('Broke')
      }),
      { clock },
    )
    const { message = '' } = (await runToEnd(started)).error ?? {}
    expect(message.split('; ')).toHaveLength(12)
    expect(message).toMatch(/"c3" failed: Down; 2 more compensations failed$/)
  })
})

describe('the compensations of a resumed run', () => {
  /** Cuts the run after every step, and checks that every booking is undone once, or none is left. */
  async function resumeEverywhere(
    whole: RecordedRun & { readonly calls: readonly string[] },
    {
      soldOut = [],
      error,
      status,
    }: { soldOut?: readonly string[]; error?: string; status: string },
  ): Promise<void> {
    const first = kindsOf(whole.steps).indexOf('task_begun')
    for (let count = first + 1; count < whole.steps.length; count += 1) {
      const clock = fakeClock()
      const service = createService(clock, { soldOut })
      const ended = whole.steps.slice(0, count).filter((step) => step.kind === 'handler_step')
      const started = startRecorded(team(book(service)), { clock, from: cut(whole, count) })
      // A cancel that was not recorded is sent again.
      if (status === 'CANCELLED') started.handle.cancel()
      const result = await runToEnd(started)
      expect([count, result.status, result.error?.message]).toEqual([count, status, error])
      const done = [...ended.map(({ name }) => name), ...service.calls]
      const booked = ITEMS.filter((item) => done.includes(`book ${item}`))
      const wasBooked = booked.filter((item) => !soldOut.includes(`book ${item}`))
      expect([count, done]).toEqual([
        count,
        [
          ...booked.map((item) => `book ${item}`),
          ...wasBooked.toReversed().map((item) => `cancel ${item}`),
        ],
      ])
    }
  }

  it('[ENS-P27] A failed run that is interrupted at any step undoes each booking once', async () => {
    const clock = fakeClock()
    const soldOut = ['book car']
    const service = createService(clock, { soldOut })
    const started = startRecorded(team(book(service)), { clock })
    await runToEnd(started)
    expect(kindsOf(started.steps)).toContain('compensation_begun')
    const error = 'book car: sold out'
    await resumeEverywhere(
      { ...started, calls: service.calls },
      { soldOut, error, status: 'FAILED' },
    )
  })

  it.each([50, 150, 250])(
    '[ENS-P27] A run that is cancelled after %d ms and interrupted at any step undoes each booking once',
    async (at) => {
      const whole = await cancelAt(at, book)
      expect(whole.result.status).toBe('CANCELLED')
      await resumeEverywhere(whole, { status: 'CANCELLED' })
    },
  )

  it('[ENS-P27] A handler whose time limit ended it does no more work when another process continues its compensations', async () => {
    const clock = fakeClock()
    const service = createService(clock)
    const whole = startRecorded(team(book(service), { timeoutMs: 250 }), { clock })
    await runToEnd(whole)
    const begun = kindsOf(whole.steps).indexOf('compensation_begun')
    for (const count of [begun + 1, begun + 2]) {
      const later = fakeClock()
      const rest = createService(later)
      const again = startRecorded(team(book(rest)), { clock: later, from: cut(whole, count) })
      expect((await runToEnd(again)).error).toMatchObject({
        code: 'TASK_TIMEOUT',
        message: 'Task "trip" took longer than 250 ms',
      })
      expect(rest.calls).toEqual(['cancel hotel', 'cancel flight'].slice(count - begun - 1))
    }
  })

  it('[ENS-P27] A run whose budget ends during its compensations has the same error when it is interrupted at any step', async () => {
    const settings = { with: { budget: { maxDurationMs: 350 } } }
    const soldOut = ['book car']
    const open = () => {
      const clock = fakeClock()
      return { clock, team: team(book(createService(clock, { soldOut })), settings) }
    }
    const { clock, team: first } = open()
    const whole = startRecorded(first, { clock })
    const { error } = await runToEnd(whole)
    expect(error).toMatchObject({ code: 'BUDGET_EXCEEDED', details: { max: 350 } })
    const begun = kindsOf(whole.steps).indexOf('compensation_begun')
    for (let count = begun + 1; count <= whole.steps.length; count += 1) {
      const { clock: later, team: again } = open()
      const resumed = startRecorded(again, { clock: later, from: cut(whole, count) })
      const ended = await runToEnd(resumed)
      expect([count, ended.error?.message]).toEqual([count, error?.message])
    }
  })

  it('[ENS-P27] A run whose budget ended before its process died undoes a step that was recorded after that', async () => {
    const open = () => {
      const clock = fakeClock()
      const service = createService(clock)
      const work: Work = async ({ step, compensate }) => {
        compensate('cancel flight', service.send('cancel flight'))
        await step('book flight', () => sleep(clock, 300))
        await step('book hotel', service.send('book hotel'))
      }
      return { clock, service, team: team(work, { with: { budget: { maxDurationMs: 250 } } }) }
    }
    const whole = open()
    const first = startRecorded(whole.team, { clock: whole.clock })
    expect((await runToEnd(first)).error?.code).toBe('BUDGET_EXCEEDED')
    expect(whole.service.calls).toEqual(['cancel flight'])
    const booked = kindsOf(first.steps).indexOf('handler_step')
    expect(kindsOf(first.steps)[booked + 1]).toBe('compensation_begun')
    const { clock, service, team: again } = open()
    const resumed = startRecorded(again, { clock, from: cut(first, booked + 1) })
    expect((await runToEnd(resumed)).error?.code).toBe('BUDGET_EXCEEDED')
    expect(service.calls).toEqual(['cancel flight'])
  })

  it('[ENS-P27] A resumed compensation continues its count of tries', async () => {
    const tried: number[] = []
    const work: Work = ({ compensate }) => {
      compensate('undo', ({ tries }) => {
        tried.push(tries)
        throw new Error(`Down ${tries}`)
      })
      throw new Error('Broke')
    }
    const clock = fakeClock()
    const whole = startRecorded(team(work), { clock })
    const { error } = await runToEnd(whole)
    expect(tried.splice(0)).toEqual([1, 2, 3])
    const at = kindsOf(whole.steps).indexOf('handler_step_failed')
    const again = startRecorded(team(work), { from: cut(whole, at + 1) })
    expect((await runToEnd(again)).error?.message).toBe(error?.message)
    expect(tried).toEqual([2, 3])
  })

  it.each([
    ['cancel hotels', 'compensation 1', 'compensation "cancel hotels"'],
    [undefined, 'compensation 1', 'the end of the handler'],
  ])(
    '[ENS-P27] Changed code that adds %s instead of a recorded compensation fails with REPLAY_MISMATCH and undoes nothing more',
    async (name, step, asked) => {
      const clock = fakeClock()
      const service = createService(clock, { soldOut: ['book car'] })
      const whole = startRecorded(team(book(service)), { clock })
      await runToEnd(whole)
      const at = whole.steps.findIndex((one) => one.kind === 'handler_step' && one.isCompensation)
      const later = createService(clock)
      const changed: Work = async ({ step: perform, compensate }) => {
        for (const [index, item] of ITEMS.entries()) {
          await perform(`book ${item}`, later.send(`book ${item}`))
          if (index === 0) compensate('cancel flight', later.send('cancel flight'))
          else if (name !== undefined) compensate(name, later.send(name))
        }
      }
      const again = startRecorded(team(changed), { clock, from: cut(whole, at + 1) })
      expect((await runToEnd(again)).error).toMatchObject({
        code: 'REPLAY_MISMATCH',
        details: { step, recorded: 'compensation "cancel hotel"', asked },
      })
      expect(later.calls).toEqual([])
    },
  )

  it.each<[string, (context: HandlerContext) => Promise<unknown>]>([
    ['a question', ({ ask }) => ask('Go on?')],
    ['a sleep', ({ sleep: pause }) => pause(3_600_000)],
  ])(
    '[ENS-P27] A cancel that a run without a process got after its handler had only opened %s runs the compensations',
    async (_, open) => {
      const work =
        ({ send }: Service): Work =>
        async (context) => {
          context.compensate('release', send('release'))
          await open(context)
        }
      const clock = fakeClock()
      const first = startRecorded(team(work(createService(clock))), { clock })
      await clock.advance(50)
      expect(kindsOf(first.steps)).toContain('gate_opened')
      const cancel: RunStep = { kind: 'cancel_asked', mode: 'abort', cause: 'CALLER', runMs: 50 }
      const from = { events: first.events, steps: [...first.steps, cancel] }
      first.release()
      const later = fakeClock()
      const service = createService(later)
      const again = startRecorded(team(work(service)), { clock: later, from })
      expect((await runToEnd(again)).status).toBe('CANCELLED')
      expect(service.calls).toEqual(['release'])
    },
  )

  it('[ENS-P28] A cancelled run whose changed code cannot run the compensations has the error REPLAY_MISMATCH', async () => {
    const whole = await cancelAt(250, book)
    const at = whole.steps.findIndex((step) => step.kind === 'handler_step' && step.isCompensation)
    const changed =
      ({ send }: Service): Work =>
      ({ step }) =>
        step('book train', send('book train'))
    const { result, calls, events } = await cancelAt(0, changed, { from: cut(whole, at + 1) })
    expect(result).toMatchObject({ status: 'CANCELLED', error: { code: 'REPLAY_MISMATCH' } })
    expect(eventsOf(events, 'run_result')).toMatchObject([{ code: 'REPLAY_MISMATCH' }])
    expect(calls).toEqual([])
  })

  it('[ENS-E17] A run drains between compensations, and the next process runs the others', async () => {
    const clock = fakeClock()
    const service = createService(clock)
    const first = startRecorded(team(book(service)), { clock })
    await clock.advance(250)
    first.handle.cancel()
    await clock.advance(50)
    const drained = first.handle.drain()
    await clock.advance(1_000)
    await drained
    expect(service.calls.slice(2)).toEqual(['cancel hotel'])
    const second = startRecorded(team(book(service)), {
      clock,
      from: cut(first, first.steps.length),
    })
    // A process that drains at once leaves the handler to the next one.
    const drainedAtOnce = second.handle.drain()
    await clock.advance(10)
    await drainedAtOnce
    expect(kindsOf(second.steps)).not.toContain('task_failed')
    second.release()
    const third = startRecorded(team(book(service)), { clock, from: first })
    expect((await runToEnd(third)).status).toBe('CANCELLED')
    expect(service.calls.slice(2)).toEqual(['cancel hotel', 'cancel flight'])
  })

  it.each(['FENCED', 'INTERRUPTED', 'STORE_UNAVAILABLE'] as const)(
    '[ENS-P27] A process that may no longer work on the run (%s) leaves the compensations to the next one, also after a cancel',
    async (code) => {
      for (const isCancelled of [false, true]) {
        const clock = fakeClock()
        const service = createService(clock)
        const controller = new AbortController()
        const { signal } = controller
        const first = startRecorded(team(book(service)), { clock, signal })
        await clock.advance(250)
        if (isCancelled) first.handle.cancel()
        await clock.advance(10)
        controller.abort(new TuttiError(code, 'Gone'))
        await clock.advance(10_000)
        await first.handle.result
        expect(service.calls.slice(2)).toEqual([])
      }
    },
  )
})

describe('what a handler can add as a compensation', () => {
  it.each<[string, object, string]>([
    ['an unknown option', { retry: 1 }, 'unknown option "retry"'],
    ['no time limit', { timeoutMs: Infinity }, 'timeoutMs must be finite, got Infinity'],
  ])('A compensation with %s is refused', async (_, options, problem) => {
    const started = startRecorded(team(({ compensate }) => compensate('c', () => 1, options)))
    expect((await runToEnd(started)).error).toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(`Cannot add compensation "c": ${problem}`),
    })
  })

  it('A compensation is refused in a step, after the end of its handler, and after 1,000 others', async () => {
    let late: HandlerContext | undefined
    const started = startRecorded(
      team(async (context) => {
        late = context
        const { step, compensate } = context
        await step('s', () => {
          compensate('c', () => 1)
        }).catch(({ message }: TuttiError) => {
          expect(message).toMatch(/^Step "s" cannot use operations of its handler/)
        })
        for (let n = 0; n < 1_001; n += 1) compensate(`c${n}`, () => 1)
      }),
    )
    expect((await runToEnd(started)).error?.message).toBe(
      'Cannot add compensation "c1000": an attempt has at most 1000 compensations',
    )
    expect(() => late?.compensate('late', () => 1)).toThrow('The handler of task "trip" has ended')
  })

  it('[ENS-P9] A replay with live models takes compensations from the record', async () => {
    let calls = 0
    const work: Work = async ({ task: add, compensate }) => {
      compensate('undo', () => {
        calls += 1
      })
      await add(task({ name: 'think', description: 'Think' }))
      throw new Error('Broke')
    }
    const last = task({ name: 'last', description: 'Last', handler: () => 'ok' })
    const open = () =>
      ensemble({
        name: 'team',
        model: scriptedModel(['a thought']),
        errorStrategy: 'CONTINUE_ON_ERROR',
        tasks: [task({ name: 'trip', description: 'Trip', handler: work }), last],
      })
    const whole = startRecorded(open())
    await runToEnd(whole)
    expect(calls).toBe(1)
    const forked: RunStep = { kind: 'run_forked', runMs: 0, startedAt: 0 }
    const steps = JSON.parse(JSON.stringify([...whole.steps, forked])) as RunStep[]
    const replay = startRecorded(open(), { resume: { steps, replay: 'models' } })
    expect((await runToEnd(replay)).error?.message).toBe('Broke')
    expect(calls).toBe(1)
    expect(kindsOf(replay.steps)).toContain('model_turn')
  })
})
