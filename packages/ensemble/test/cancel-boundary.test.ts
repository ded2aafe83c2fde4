/** Tests of a cancel in mode `boundary` while handlers wait, and between the rounds of a loop. */
import { describe, expect, it } from 'vitest'

import { ensemble, task, type Task } from '../src/index.ts'
import { interruptEverywhere } from './interrupt-everywhere.ts'
import { startRecorded } from './recorded-run.ts'
import { fakeClock, scriptedModel } from './testing.ts'
import { eventsOf, listFailures, nextTurn } from './watch-run.ts'

import type { HandlerContext } from '../src/index.ts'

const BOUNDARY = { mode: 'boundary' } as const

function team(...tasks: readonly Task[]) {
  return ensemble({ name: 'team', model: scriptedModel(['-']), tasks })
}

function waitTask(handler: (context: HandlerContext) => unknown) {
  return task({ name: 'work', description: 'Work', handler })
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 6; turn += 1) await nextTurn()
}

describe('[ENS-S1] a cancel in mode boundary', () => {
  it.each<[string, (context: HandlerContext) => Promise<unknown>]>([
    ['a wait without a limit', ({ waitFor }) => waitFor('paid')],
    ['a wait that people may decide', ({ waitFor }) => waitFor('paid', { review: true })],
    ['a sleep', ({ sleep }) => sleep({ until: '2090-01-01T00:00:00Z' })],
  ])('A cancel in mode boundary ends %s, and starts no other task', async (_, handler) => {
    const clock = fakeClock()
    const last = task({ name: 'last', description: 'Last', context: ['work'] })
    const run = startRecorded(team(waitTask(handler), last), { clock })
    await turns()
    expect(run.handle.cancel(BOUNDARY)).toBe(true)
    expect((await run.handle.result).status).toBe('CANCELLED')
    expect(listFailures(run.events)).toMatchObject([{ taskName: 'work', code: 'CANCELLED' }])
    expect(eventsOf(run.events, 'review_withdrawn')).toMatchObject([
      { reason: 'The run was cancelled' },
    ])
    expect(eventsOf(run.events, 'task_started')).toHaveLength(1)
    expect(clock.pending).toBe(0)
  })

  it('A cancel in mode boundary ends a wait that opens later, and its handler can still finish', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const handler = async ({ step, waitFor }: HandlerContext) => {
      await step('first', () => promise)
      const end = await waitFor('paid').catch((error: unknown) => String(error))
      return step('last', () => end)
    }
    const run = startRecorded(team(waitTask(handler)))
    await turns()
    run.handle.cancel(BOUNDARY)
    resolve()
    const { status, output } = await run.handle.result
    expect([status, output]).toEqual(['COMPLETED', expect.stringContaining('was cancelled')])
  })

  it('A cancel in mode boundary lets the round of a loop finish and begins no other', async () => {
    const rounds: string[] = []
    const { promise, resolve } = Promise.withResolvers<void>()
    const refine = task({
      name: 'refine',
      description: 'Round {round}',
      loop: { max: 50 },
      handler: async ({ inputs }) => {
        rounds.push(inputs['round'] ?? '')
        if (rounds.length === 2) await promise
        return 'done'
      },
    })
    const run = startRecorded(team(refine))
    await turns()
    run.handle.cancel(BOUNDARY)
    resolve()
    const { status, tasks } = await run.handle.result
    expect([status, rounds]).toEqual(['CANCELLED', ['1', '2']])
    expect(tasks.map(({ taskName }) => taskName)).toEqual(['refine/1', 'refine/2'])
    expect(listFailures(run.events)).toMatchObject([{ taskName: 'refine', code: 'CANCELLED' }])
  })

  it('A cancel in mode boundary undoes the steps of a handler whose wait it ends', async () => {
    const undone: string[] = []
    const handler = async ({ step, compensate, waitFor }: HandlerContext) => {
      await step('book', () => 'booked')
      compensate('cancel booking', () => void undone.push('booking'))
      await waitFor('paid')
    }
    const run = startRecorded(team(waitTask(handler)))
    await turns()
    run.handle.cancel(BOUNDARY)
    expect((await run.handle.result).status).toBe('CANCELLED')
    expect(undone).toEqual(['booking'])
  })

  it.each<[string, Task, string]>([
    [
      'a wait',
      waitTask(async ({ step, waitFor }) => {
        await step('first', () => 1)
        const end = await waitFor('never').catch((error: unknown) => String(error))
        return step('last', () => end)
      }),
      'COMPLETED',
    ],
    [
      'a loop',
      task({ name: 'work', description: 'Round {round}', loop: { max: 4 }, handler: () => 'done' }),
      'CANCELLED',
    ],
  ])('A resumed run ends %s as a cancel in mode boundary did', async (_, work, status) => {
    const { result } = await interruptEverywhere({
      open: () => ({ team: team(work) }),
      commands: [
        {
          when: ({ type }) => type === 'review_requested' || type === 'task_completed',
          send: (handle) => handle.cancel(BOUNDARY),
          isRecorded: (step) => step.kind === 'cancel_asked',
        },
      ],
    })
    expect(result.status).toBe(status)
  })
})
