/** Tests of waits for external events and times. */
import { Type } from '@tutti/core'
import { describe, expect, it } from 'vitest'

import { ensemble, task } from '../src/index.ts'
import { interruptEverywhere } from './interrupt-everywhere.ts'
import { joinRuns, startRecorded } from './recorded-run.ts'
import { scriptedModel } from './testing.ts'
import { eventsOf, nextTurn } from './watch-run.ts'

import type { CreateCallbackUrl } from '../src/internal.ts'
import type { HandlerContext, TaskWait, WaitForOptions } from '../src/index.ts'

const Payment = Type.Object({ amount: Type.Integer() })

function team(handler: (context: HandlerContext) => unknown) {
  const wait = task({ name: 'wait', description: 'Wait', handler })
  return ensemble({ name: 'team', model: scriptedModel(['-']), tasks: [wait] })
}

function waitingTeam(waitFor: TaskWait) {
  const wait = task({ name: 'wait', description: 'Wait for {order}', waitFor })
  return ensemble({ name: 'team', model: scriptedModel(['-']), tasks: [wait] })
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 4; turn += 1) await nextTurn()
}

describe('a wait for an event', () => {
  it('[ENS-I1] A handler that waits for an event gets its data, its name and its id', async () => {
    const run = startRecorded(
      team(async ({ waitFor }) => waitFor('paid', { key: 'o-1', schema: Payment })),
    )
    await turns()
    expect(eventsOf(run.events, 'review_requested')).toMatchObject([
      { kind: 'EVENT', waitsFor: [{ name: 'paid', key: 'o-1' }], timeoutMs: 0 },
    ])
    expect(run.waits.count).toBe(1)
    expect(await run.handle.deliver({ name: 'paid', data: { amount: 1 } })).toBe(false)
    expect(
      await run.handle.deliver({ name: 'paid', key: 'o-1', id: 'e', data: { amount: 1 } }),
    ).toBe(true)
    const { output } = await run.handle.result
    expect(JSON.parse(output)).toEqual({
      arrived: true,
      data: { amount: 1 },
      name: 'paid',
      eventId: 'e',
    })
    expect(eventsOf(run.events, 'review_decided')).toMatchObject([
      { decision: 'EDIT', event: { id: 'e', name: 'paid' } },
    ])
  })

  it('[ENS-P9] [ENS-E26] A replay with live models ends a race of waits as recorded, also with a wait that never ended', async () => {
    const racing = team(async ({ waitFor }) => {
      const first = async (name: string): Promise<string> => {
        await waitFor(name)
        return name
      }
      return Promise.race([first('never'), first('go')])
    })
    const run = startRecorded(racing)
    await turns()
    await run.handle.deliver({ name: 'go' })
    expect((await run.handle.result).output).toBe('go')
    const forked = { kind: 'run_forked', runMs: 0, startedAt: 0 } as const
    const resume = { steps: [...run.steps, forked], replay: 'models' } as const
    const replay = startRecorded(racing, { resume })
    expect(await replay.handle.result).toMatchObject({ status: 'COMPLETED', output: 'go' })
  })

  it('[ENS-I3] Data that does not match the schema of a wait is refused, and the wait stays open', async () => {
    const run = startRecorded(team(async ({ waitFor }) => waitFor('paid', { schema: Payment })))
    await turns()
    await expect(run.handle.deliver({ name: 'paid', data: { amount: 'x' } })).rejects.toMatchObject(
      {
        code: 'BAD_REQUEST',
        message: expect.stringContaining('data/amount'),
      },
    )
    expect(await run.handle.deliver({ name: 'paid', data: { amount: 2 } })).toBe(true)
    expect((await run.handle.result).output).toContain('"amount":2')
  })

  it('[ENS-I1] A wait whose time passes has no event, and later events are not delivered to it', async () => {
    const run = startRecorded(team(({ waitFor }) => waitFor('paid', { timeoutMs: 60_000 })))
    await turns()
    await run.clock.advance(60_000)
    expect(JSON.parse((await run.handle.result).output)).toEqual({ arrived: false, timedOut: true })
    expect(await run.handle.deliver({ name: 'paid' })).toBe(false)
  })

  it('The snapshot of a run that waits is WAITING_REVIEW while a caller can decide a review, and otherwise WAITING', async () => {
    const run = startRecorded(
      team(async ({ waitFor, sleep }) => {
        await Promise.all([sleep(60_000), waitFor('paid'), waitFor('asked', { review: true })])
      }),
    )
    await turns()
    const { status, reviews } = run.handle.snapshot()
    expect([status, reviews.length]).toEqual(['WAITING_REVIEW', 3])
    await run.handle.deliver({ name: 'asked' })
    await turns()
    expect(run.handle.snapshot().status).toBe('WAITING')
    run.handle.cancel({ mode: 'boundary' })
    expect(run.handle.snapshot().status).toBe('CANCELLING')
    expect((await run.handle.result).status).toBe('CANCELLED')
  })

  it('A cancelled sleep is withdrawn as a wait, and a cancelled question as a review', async () => {
    const run = startRecorded(
      team(({ sleep, ask }) => Promise.all([sleep(60_000), ask('Which one?')]).then(() => 'done')),
    )
    await turns()
    run.handle.cancel()
    expect((await run.handle.result).status).toBe('CANCELLED')
    const reasons = run.events.flatMap((event) =>
      event.type === 'review_withdrawn' ? event.reason : [],
    )
    expect(reasons.toSorted()).toEqual(['Review was cancelled', 'Wait was cancelled'])
  })

  it('[ENS-I1] A wait for any of several events ends with the first', async () => {
    const run = startRecorded(
      team(({ waitFor }) => waitFor({ any: ['paid', { name: 'refused', key: 'k' }] })),
    )
    await turns()
    expect(await run.handle.deliver({ name: 'refused', key: 'k', id: 'e' })).toBe(true)
    expect(await run.handle.deliver({ name: 'paid' })).toBe(false)
    expect(JSON.parse((await run.handle.result).output)).toMatchObject({
      name: 'refused',
      data: null,
    })
  })

  it('[ENS-I2] A reviewer gets a wait only if people may answer it', async () => {
    const kinds: string[] = []
    const run = startRecorded(
      team(async ({ waitFor }) => {
        const [one, other] = await Promise.all([
          waitFor('a', { timeoutMs: 1_000 }),
          waitFor('b', { review: { prompt: 'Paid?', requiredRole: 'clerk' }, schema: Payment }),
        ])
        return [one.arrived, other]
      }),
      {
        reviewer: {
          decide({ kind, prompt, requiredRole }) {
            kinds.push(`${kind} ${prompt} ${requiredRole}`)
            return Promise.resolve({ action: 'EDIT', input: { amount: 3 } })
          },
        },
      },
    )
    await turns()
    await run.clock.advance(1_000)
    expect(JSON.parse((await run.handle.result).output)).toEqual([
      false,
      { arrived: true, data: { amount: 3 } },
    ])
    expect(kinds).toEqual(['QUESTION Paid? clerk'])
  })

  it('A run that nothing can deliver to refuses a wait for an event, and sleeps', async () => {
    const reviewer = { decide: () => Promise.resolve({ action: 'CONTINUE' } as const) }
    // A reviewer decides no event.
    const waiting = await team(({ waitFor }) => waitFor('paid')).run({}, { reviewer })
    expect(waiting).toMatchObject({ status: 'FAILED', error: { code: 'CONFIG_INVALID' } })
    expect(await team(({ sleep }) => sleep(1).then(() => 'slept')).run()).toMatchObject({
      status: 'COMPLETED',
      output: 'slept',
    })
  })

  it.each([
    ['a b', {}, 'name of an event'],
    [{ any: [] }, {}, '1 to 20 events'],
    ['paid', { key: 'line\nbreak' }, 'key of an event'],
    ['paid', { timeoutMs: 0 }, 'timeoutMs must be > 0'],
    ['paid', { timeoutMs: 1, until: 5 }, 'exclude each other'],
    ['paid', { until: 'soon' }, 'until must be a date'],
    ['paid', { until: '9000-01-01' }, 'at most 3153600000000 ms ahead'],
    ['paid', { timeout: 1 }, 'timeout'],
  ])('The wait %j with %j is refused', async (event, options, problem) => {
    const run = startRecorded(team(({ waitFor }) => waitFor(event, options as WaitForOptions)))
    expect(await run.handle.result).toMatchObject({
      status: 'FAILED',
      error: { code: 'CONFIG_INVALID', message: expect.stringContaining(problem) },
    })
  })
})

describe('a callback URL', () => {
  it('[ENS-I6] A handler gets the URL of an event of its run, also in a step', async () => {
    const callbackUrl: CreateCallbackUrl = ({ runId, taskName, attempt, name, key }) =>
      [runId, taskName, attempt, name, key].join('/')
    const asking = team(async ({ callbackUrl: create, step }) => [
      await create('paid'),
      await step('send', () => create({ name: 'paid', key: 'k' })),
    ])
    const { output } = await asking.run({}, { runId: 'run-1', callbackUrl })
    expect(JSON.parse(output)).toEqual(['run-1/wait/1/paid/', 'run-1/wait/1/paid/k'])
  })

  it.each([
    ['a b', 'name of an event', { callbackUrl: () => '' }],
    ['paid', 'set "publicUrl"', {}],
  ])('The callback URL of %j is refused with %s', async (event, problem, options) => {
    const run = await team(({ callbackUrl }) => callbackUrl(event)).run({}, options)
    expect(run).toMatchObject({
      status: 'FAILED',
      error: { code: 'CONFIG_INVALID', message: expect.stringContaining(problem) },
    })
  })
})

describe('a sleep', () => {
  it('[ENS-I4] A resumed sleep ends at the time at which it would have ended', async () => {
    const sleeping = team(async ({ sleep }) => {
      await sleep({ until: new Date(Date.parse('2090-01-01T00:00:00Z')) })
      await sleep(3_000_000_000)
      return 'awake'
    })
    const first = startRecorded(sleeping)
    await turns()
    const until = Date.parse('2090-01-01T00:00:00Z') - first.clock.now()
    expect(eventsOf(first.events, 'review_requested')[0]?.timeoutMs).toBe(until)
    await first.clock.advance(until - 1_000)
    first.release()
    const second = startRecorded(sleeping, { from: first, clock: first.clock })
    await turns()
    await second.clock.advance(999)
    await turns()
    expect(eventsOf(second.events, 'review_timed_out')).toHaveLength(0)
    await second.clock.advance(1)
    await turns()
    expect(eventsOf(second.events, 'review_timed_out')).toHaveLength(1)
    await second.clock.advance(3_000_000_000)
    expect(await second.handle.result).toMatchObject({ status: 'COMPLETED', output: 'awake' })
    expect(eventsOf(joinRuns(first, second).events, 'review_requested')).toHaveLength(2)
  })
})

describe('a task that waits', () => {
  it('[ENS-I5] A task with waitFor has the outcome of the wait as its output, and its key can have inputs', async () => {
    const waiting = waitingTeam({ event: 'paid', key: 'order-{order}', schema: Payment })
    expect(() => waiting.start({})).toThrow(/order/)
    const run = startRecorded(waiting, { inputs: { order: '7' } })
    await turns()
    expect(await run.handle.deliver({ name: 'paid', key: 'order-7', data: { amount: 7 } })).toBe(
      true,
    )
    const { tasks } = await run.handle.result
    expect(tasks[0]?.structured).toMatchObject({ arrived: true, data: { amount: 7 } })
  })

  it('[ENS-I5] A task that waits for all of several events has the outcome of each', async () => {
    const run = startRecorded(waitingTeam({ event: { all: ['a', 'b'] }, timeoutMs: 1_000 }), {
      inputs: { order: '7' },
    })
    await turns()
    expect(await run.handle.deliver({ name: 'b', id: 'e' })).toBe(true)
    await run.clock.advance(1_000)
    expect(JSON.parse((await run.handle.result).output)).toEqual({
      arrived: false,
      events: [
        { arrived: false, timedOut: true },
        { arrived: true, data: null, name: 'b', eventId: 'e' },
      ],
    })
  })

  it('A copy of a task with another wait waits for that', async () => {
    const one = task({ name: 'wait', description: 'Wait', waitFor: { event: 'a' } })
    const other = task({ ...one, waitFor: { event: 'b' } })
    const run = startRecorded(ensemble({ name: 't', model: scriptedModel(['-']), tasks: [other] }))
    await turns()
    expect(await run.handle.deliver({ name: 'a' })).toBe(false)
    expect(await run.handle.deliver({ name: 'b' })).toBe(true)
    await run.handle.result
  })

  it.each([
    [{ waitFor: { event: 'a b' } }, /waitFor: the name of an event/],
    [{ waitFor: { event: 'a', timeout: 1 } }, /: waitFor: unknown option "timeout"[^;]*$/],
    [{ waitFor: { event: 'a' }, handler: () => 'x' }, /handler does not apply/],
    [{ waitFor: { event: 'a' }, output: Payment }, /output does not apply/],
    [{ waitFor: { event: 'a' }, maxOutputTokens: 5 }, /maxOutputTokens does not apply/],
  ])('The task %j is refused', (fields, problem) => {
    expect(() => task({ name: 'w', description: 'W', ...fields } as never)).toThrow(problem)
  })
})

it('[ENS-P1] A run that waits continues after an interruption at every write, with the same log', async () => {
  await interruptEverywhere({
    open: () => ({
      team: team(async ({ waitFor, sleep, step }) => {
        await sleep(50)
        const first = await waitFor('never', { timeoutMs: 70 })
        const count = await step('count', () => 2)
        const second = await waitFor('asked', { review: true, schema: Payment })
        return { first, second, count }
      }),
      options: {
        reviewer: { decide: () => Promise.resolve({ action: 'EDIT', input: { amount: 4 } }) },
      },
    }),
    check: ({ result }) => {
      expect(JSON.parse(result.output)).toEqual({
        first: { arrived: false, timedOut: true },
        second: { arrived: true, data: { amount: 4 } },
        count: 2,
      })
    },
  })
})
