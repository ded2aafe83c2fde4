import { setImmediate } from 'node:timers/promises'

import { fakeClock } from '@tutti/testing'
import { expect, it } from 'vitest'

import {
  RunExternalEvents,
  SWEEP_EVENTS_MS,
  type RunExternalEventsOptions,
} from './external-events.ts'

import type { AssignedEvent, ExternalEventStore } from '../ports/external-events.ts'

/** Returns external events whose decisions wait until the test answers them. */
function openEvents(assigned: readonly AssignedEvent[]) {
  const clock = fakeClock()
  const loaded: string[] = []
  const answers: (() => void)[] = []
  let sweeps = 0
  const store: Pick<ExternalEventStore, 'add' | 'assign' | 'data' | 'state'> = {
    add: async () => ({ kind: 'added', state: { kind: 'free' } }),
    assign: async (_, only) => {
      if (only === undefined) sweeps += 1
      return only === undefined ? assigned : [{ ...ASSIGNED, id: 'live' }]
    },
    data: async (id) => {
      loaded.push(id)
      return '1'
    },
    state: async () => ({ kind: 'delivered' }),
  }
  const send = () => new Promise<object>((resolve) => answers.push(() => resolve({})))
  const events = new RunExternalEvents({
    // NOTE: the tests call only these parts.
    storage: { externalEvents: store } as unknown as RunExternalEventsOptions['storage'],
    settings: { clock } as unknown as RunExternalEventsOptions['settings'],
    commands: { send: send as unknown as RunExternalEventsOptions['commands']['send'] },
  })
  return { events, clock, loaded, answers, countSweeps: () => sweeps }
}

const ASSIGNED = { name: 'paid', runId: 'run-1', reviewId: 'review-1' }
const MANY = Array.from({ length: 200 }, (_, index) => ({ ...ASSIGNED, id: `e-${index}` }))

it('A sweep of many assigned events has the data of 32 of them in memory at most', async () => {
  const { events, loaded, answers } = openEvents(MANY)
  const sweep = events.sweep()
  await setImmediate()
  expect(loaded).toHaveLength(32)
  answers.splice(0, 10).forEach((answer) => answer())
  await setImmediate()
  expect(loaded).toHaveLength(42)
  while (answers.length > 0) {
    answers.splice(0).forEach((answer) => answer())
    await setImmediate()
  }
  await sweep
  expect(new Set(loaded).size).toBe(200)
})

it('[RUNS-EV9] Decisions that no run confirms hold up neither the next sweep nor a received event', async () => {
  const { events, clock, loaded, answers, countSweeps } = openEvents(MANY)
  const first = events.sweep()
  await setImmediate()
  await clock.advance(SWEEP_EVENTS_MS)
  await first
  const second = events.sweep()
  const received = events.receive({ name: 'paid' })
  await setImmediate()
  expect(countSweeps()).toBe(2)
  // The second sweep sends no event again.
  expect(loaded).toHaveLength(33)
  expect(loaded.at(-1)).toBe('live')
  answers.at(-1)?.()
  expect(await received).toMatchObject({ state: { kind: 'delivered' } })
  while (answers.length > 0) {
    answers.splice(0).forEach((answer) => answer())
    await setImmediate()
  }
  await second
  expect(new Set(loaded).size).toBe(201)
})
