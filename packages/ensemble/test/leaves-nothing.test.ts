/** Tests that many runs, completed or cancelled at any moment, leave nothing behind. */
import { getEventListeners } from 'node:events'

import { defineTextTool } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { expect, it } from 'vitest'

import { ensemble, task, type Ensemble } from '../src/index.ts'
import { createRandom } from './task-graphs.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { timedModel } from './timed-model.ts'
import { watchRun } from './watch-run.ts'

const RUNS = 200

/**
 * Returns a team with all kinds of work in flight: streams, and tools that obey, ignore their signal or
 * throw.
 */
function busyTeam(clock: FakeClock): Ensemble {
  const tools = [
    defineTextTool({
      name: 'obeys',
      description: 'Throws when its signal aborts',
      async execute(_, { signal }) {
        await sleep(clock, 40, signal)
        signal.throwIfAborted()
        return 'ok'
      },
    }),
    defineTextTool({
      name: 'deaf',
      description: 'Throws late and ignores its signal',
      timeoutMs: 30,
      async execute() {
        await sleep(clock, 9_000)
        throw new Error('Late')
      },
    }),
  ]
  const asking = {
    text: 'I ask',
    toolCalls: ['obeys', 'deaf', 'obeys', 'unknown'].map((name) => ({
      name,
      arguments: { input: '' },
    })),
  }
  const tasks = [
    task({
      name: 'talk',
      description: 'Talk',
      model: scriptedModel(['one two three four five'], { clock, delayMs: 9 }),
    }),
    task({ name: 'ask', description: 'Ask', model: scriptedModel([asking, 'thanks']), tools }),
    task({
      name: 'break',
      description: 'Break',
      context: ['talk'],
      model: timedModel(clock, 20, new Error('Broken')),
    }),
    task({
      name: 'sum',
      description: 'Sum up',
      context: ['ask', 'talk'],
      model: timedModel(clock, 20),
    }),
  ]
  return ensemble({ name: 'busy', tasks, errorStrategy: 'CONTINUE_ON_ERROR' })
}

it('[ENS-C9] Many aborts leave no unhandled rejection, no run without an end and no timer', async () => {
  const unhandled: unknown[] = []
  const onUnhandled = (reason: unknown): void => {
    unhandled.push(reason)
  }
  process.on('unhandledRejection', onUnhandled)
  try {
    const clock = fakeClock()
    const random = createRandom(7)
    const runs = Array.from({ length: RUNS }, (_, index) => {
      const controller = new AbortController()
      const abort = (): void => {
        controller.abort(index % 3 === 0 ? undefined : new Error('Storm'))
      }
      // Half of them abort at a time, the others during an event.
      const nth = Math.floor(random() * 40)
      if (index % 2 === 0) clock.after(Math.floor(random() * 120), abort)
      let count = 0
      return watchRun(busyTeam(clock), {
        clock,
        signal: controller.signal,
        onEvent() {
          if (index % 2 === 1 && count === nth) abort()
          count += 1
        },
      })
    })
    await clock.advance(60_000)
    const results = await Promise.all(runs.map(({ ended }) => ended))
    const statuses = results.map(({ status }) => status)
    expect(statuses.filter((status) => status === 'CANCELLED').length).toBeGreaterThan(RUNS / 2)
    expect(statuses).toContain('FAILED')
    const shapes = new Set(runs.map(({ events }) => events.map(({ type }) => type).join(' ')))
    expect(shapes.size).toBeGreaterThan(10)
    expect(clock.pending).toBe(0)
    expect(unhandled).toEqual([])
  } finally {
    process.off('unhandledRejection', onUnhandled)
  }
})

it('[ENS-E13] Runs that share a signal leave no listener on it and no timer', async () => {
  const clock = fakeClock()
  const { signal } = new AbortController()
  const runs = Array.from({ length: RUNS / 4 }, () => watchRun(busyTeam(clock), { clock, signal }))
  await clock.advance(5)
  expect(getEventListeners(signal, 'abort').length).toBe(RUNS / 4)
  await clock.advance(60_000)
  await Promise.all(runs.map(({ ended }) => ended))
  expect(getEventListeners(signal, 'abort')).toEqual([])
  expect(clock.pending).toBe(0)
})
