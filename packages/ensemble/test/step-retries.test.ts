/** Tests of the retries and time limits of steps. */
import { TuttiError } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import { ensemble, task, type HandlerContext, type StepOptions } from '../src/index.ts'
import { joinRuns, runToEnd, startRecorded, type RecordedRun } from './recorded-run.ts'
import { fakeClock, type FakeClock } from './testing.ts'
import { eventsOf } from './watch-run.ts'

import type { RunStep } from '../src/internal.ts'

type Work = (context: HandlerContext) => unknown

const team = (work: Work) =>
  ensemble({ name: 'team', tasks: [task({ name: 'pay', description: 'Pay', handler: work })] })

/** Runs a handler from the start, or from a record, until the run ends. */
async function record(work: Work, from?: RecordedRun, clock: FakeClock = fakeClock()) {
  const started = startRecorded(team(work), { clock, ...(from === undefined ? {} : { from }) })
  const result = await runToEnd(started)
  return { result, events: started.events, steps: started.steps }
}

/** Returns the run as it was after the step with this index among those for which `is` holds. */
function cutAfter({ events, steps }: RecordedRun, kind: RunStep['kind'], index: number) {
  const found = steps.filter((step) => step.kind === kind)[index]
  expect(found).toBeDefined()
  return { events, steps: steps.slice(0, steps.findIndex((step) => step === found) + 1) }
}

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(1)
})

afterEach(() => {
  vi.restoreAllMocks()
})

describe('the retries of a step', () => {
  it('[ENS-P24] A failed step is retried with the same idempotency key, after waits that double up to the maximum', async () => {
    const clock = fakeClock()
    const calls: unknown[] = []
    const { result, events } = await record(
      ({ step }) =>
        step(
          'charge',
          ({ idempotencyKey, tries }) => {
            calls.push([idempotencyKey, tries, clock.elapsed()])
            if (tries < 5) throw new Error(`No answer ${tries}`)
            return 'paid'
          },
          { retries: 4, backoff: { firstDelayMs: 100, maxDelayMs: 300 } },
        ),
      undefined,
      clock,
    )
    expect(result).toMatchObject({ status: 'COMPLETED', output: 'paid' })
    const key = 'run-1/pay/1/handler/0'
    expect(calls).toEqual([
      [key, 1, 0],
      [key, 2, 100],
      [key, 3, 300],
      [key, 4, 600],
      [key, 5, 900],
    ])
    const ends = eventsOf(events, 'handler_step_ended')
    expect(
      ends.map(({ step, tries, reason, willRetry }) => [step, tries, reason, willRetry]),
    ).toEqual([
      ['charge', 1, 'No answer 1', true],
      ['charge', 2, 'No answer 2', true],
      ['charge', 3, 'No answer 3', true],
      ['charge', 4, 'No answer 4', true],
      ['charge', 5, undefined, undefined],
    ])
  })

  it('[ENS-P24] A step without retries is tried once, and its waits are 500 ms and more by default', async () => {
    const clock = fakeClock()
    const at: number[] = []
    const { result } = await record(
      async ({ step }) => {
        const fail = (): never => {
          at.push(clock.elapsed())
          throw new Error('Down')
        }
        await step('once', fail).catch(() => undefined)
        await step('thrice', fail, { retries: 2 })
      },
      undefined,
      clock,
    )
    expect(result.error).toMatchObject({ code: 'TASK_FAILED', message: 'Down' })
    expect(at).toEqual([0, 0, 500, 1_500])
  })

  it('[ENS-P24] A resumed run continues the count of tries, wherever it was interrupted', async () => {
    const tried: number[] = []
    const work: Work = async ({ step }) => {
      const fail = ({ tries }: { tries: number }): never => {
        tried.push(tries)
        throw new Error(`Down ${tries}`)
      }
      const error = await step('charge', fail, { retries: 2 }).catch((thrown: unknown) => thrown)
      return String(error)
    }
    const whole = await record(work)
    expect(whole.result.output).toBe('TuttiError: Down 3')
    expect(tried.splice(0)).toEqual([1, 2, 3])
    for (const [index, expected] of [[2, 3], [3]].entries()) {
      const cut = cutAfter(whole, 'handler_step_failed', index)
      const rest = await record(work, cut)
      expect(rest.result.output).toBe(whole.result.output)
      expect(tried.splice(0)).toEqual(expected)
      const ends = eventsOf(joinRuns(cut, rest).events, 'handler_step_ended')
      expect(ends.at(-1)).toMatchObject({ tries: 3, reason: 'Down 3' })
    }
    const ended = await record(work, cutAfter(whole, 'handler_step', 0))
    expect(ended.result.output).toBe(whole.result.output)
    expect(tried).toEqual([])
  })

  it('[ENS-P2] A step of which only failed tries are recorded is compared by its name', async () => {
    const work =
      (name: string): Work =>
      ({ step }) =>
        step(name, ({ tries }) => (tries === 1 ? Promise.reject(new Error('Down')) : 'paid'), {
          retries: 1,
        })
    const cut = cutAfter(await record(work('charge')), 'handler_step_failed', 0)
    const { result } = await record(work('refund'), cut)
    expect(result.error?.message).toBe(
      'Cannot replay step operation 0 of task "pay": step "charge" was recorded, but the code asked for step "refund"',
    )
  })

  it('[ENS-P24] A step is not retried after an error that another try cannot fix, or after a result that is not JSON', async () => {
    const calls: string[] = []
    const { result } = await record(async ({ step }) => {
      const refuse = (): never => {
        calls.push('refuse')
        throw new TuttiError('CONSTRAINT_VIOLATION', 'Sold out')
      }
      const odd = (): unknown => {
        calls.push('odd')
        return new Map()
      }
      const codes: unknown[] = []
      for (const work of [refuse, odd]) {
        await step('s', work, { retries: 5 }).catch(({ code }: TuttiError) => codes.push(code))
      }
      return codes
    })
    expect(result.output).toBe('["CONSTRAINT_VIOLATION","TASK_FAILED"]')
    expect(calls).toEqual(['refuse', 'odd'])
  })

  it('[ENS-P24] A step waits as long as its error asks', async () => {
    const clock = fakeClock()
    const details = { retryAfterMs: 7_000 }
    const { result } = await record(
      ({ step }) =>
        step(
          's',
          ({ tries }) => {
            if (tries === 1) throw new TuttiError('TASK_FAILED', 'Busy', { details })
            return clock.elapsed()
          },
          { retries: 1 },
        ),
      undefined,
      clock,
    )
    expect(result.output).toBe('7000')
  })

  it('[ENS-P24] Each try has its own time limit, and a try that ignores its signal is abandoned', async () => {
    const clock = fakeClock()
    const reasons: unknown[] = []
    const { result, events } = await record(
      ({ step }) =>
        step(
          's',
          async ({ tries, signal }) => {
            await sleep(clock, 60_000, tries === 2 ? undefined : signal)
            if (signal.aborted) reasons.push(signal.reason)
            signal.throwIfAborted()
          },
          { retries: 1, timeoutMs: 1_000, backoff: { firstDelayMs: 0 } },
        ),
      undefined,
      clock,
    )
    const message = 'Step "s" took longer than 1000 ms'
    expect(reasons[0]).toMatchObject({ code: 'TASK_TIMEOUT', message })
    expect(result.error).toMatchObject({
      code: 'TASK_TIMEOUT',
      message: `${message}; Step "s" was abandoned: it ignored its signal`,
    })
    expect(eventsOf(events, 'handler_step_ended')).toMatchObject([
      { code: 'TASK_TIMEOUT', reason: message, willRetry: true },
      { code: 'TASK_TIMEOUT', tries: 2 },
    ])
  })

  it('[ENS-C9] A cancel ends the wait before a retry at once, and the step is not tried again', async () => {
    const clock = fakeClock()
    let calls = 0
    const started = startRecorded(
      team(({ step }) =>
        step(
          's',
          () => {
            calls += 1
            throw new Error('Down')
          },
          { retries: 9, backoff: { firstDelayMs: 50_000, maxDelayMs: 50_000 } },
        ),
      ),
      { clock },
    )
    await clock.advance(10)
    started.handle.cancel()
    await clock.advance(0)
    expect(await started.handle.result).toMatchObject({ status: 'CANCELLED' })
    expect(calls).toBe(1)
    expect(clock.pending).toBe(0)
  })

  it('[ENS-E17] A run drains while a step waits for its next try', async () => {
    const clock = fakeClock()
    const work: Work = ({ step }) =>
      step('s', ({ tries }) => (tries === 1 ? Promise.reject(new Error('Down')) : tries), {
        retries: 1,
        backoff: { firstDelayMs: 60_000, maxDelayMs: 60_000 },
      })
    const first = startRecorded(team(work), { clock })
    await clock.advance(10)
    await first.handle.drain()
    first.release()
    expect((await record(work, first)).result.output).toBe('2')
  })
})

const INVALID: readonly [StepOptions, string][] = [
  [{ retries: -1 }, 'retries must be an integer >= 0, got -1'],
  [{ retries: 0.5 }, 'retries must be an integer >= 0, got 0.5'],
  [{ timeoutMs: 0 }, 'timeoutMs must be > 0, got 0'],
  [{ backoff: { firstDelayMs: -1 } }, 'backoff.firstDelayMs must be >= 0, got -1'],
  [{ backoff: { maxDelayMs: Infinity } }, 'backoff.maxDelayMs must be >= 0, got Infinity'],
]

describe('the options of a step', () => {
  it.each(INVALID)('A step with the options %j is refused', async (options, problem) => {
    let calls = 0
    const { result } = await record(({ step }) => step('s', () => (calls += 1), options))
    expect(result.error).toMatchObject({
      code: 'CONFIG_INVALID',
      message: `Cannot perform step "s": ${problem}`,
    })
    expect(calls).toBe(0)
  })
})
