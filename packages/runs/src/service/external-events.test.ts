import { setImmediate } from 'node:timers/promises'

import { fakeClock } from '@tutti/testing'
import { expect, it } from 'vitest'

import { RunExternalEvents, type RunExternalEventsOptions } from './external-events.ts'

import type { AssignedEvent, ExternalEventStore } from '../ports/external-events.ts'

it('A sweep of many assigned events has the data of 64 of them in memory at most', async () => {
  const assigned: AssignedEvent[] = Array.from({ length: 200 }, (_, index) => ({
    id: `e-${index}`,
    name: 'paid',
    runId: 'run-1',
    reviewId: `review-${index}`,
  }))
  const loaded: string[] = []
  const answers: (() => void)[] = []
  const store: Pick<ExternalEventStore, 'assign' | 'data'> = {
    assign: async () => assigned,
    data: async (id) => {
      loaded.push(id)
      return '1'
    },
  }
  const send = () => new Promise<object>((resolve) => answers.push(() => resolve({})))
  const events = new RunExternalEvents({
    // NOTE: a sweep calls only these parts.
    storage: { externalEvents: store } as unknown as RunExternalEventsOptions['storage'],
    settings: { clock: fakeClock() } as unknown as RunExternalEventsOptions['settings'],
    commands: { send: send as unknown as RunExternalEventsOptions['commands']['send'] },
  })
  const sweep = events.sweep()
  await setImmediate()
  expect(loaded).toHaveLength(64)
  answers.splice(0, 10).forEach((answer) => answer())
  await setImmediate()
  expect(loaded).toHaveLength(74)
  while (answers.length > 0) {
    answers.splice(0).forEach((answer) => answer())
    await setImmediate()
  }
  await sweep
  expect(new Set(loaded).size).toBe(200)
})
