/** Cancels a run with every feature at every moment. */
import { defineTextTool, TuttiError } from '@tutti/core'
import { sleep } from '@tutti/core/internal'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { agent, ensemble, task, type Ensemble, type RunReviewer } from '../src/index.ts'
import {
  fakeClock,
  scriptedModel,
  type FakeClock,
  type ScriptedReply,
  type ScriptEntry,
} from './testing.ts'
import { eventsOf, watchRun, type WatchedRun } from './watch-run.ts'

import type { CancelMode } from '@tutti/protocol/internal'

const rejections: unknown[] = []
const note = (reason: unknown): void => {
  rejections.push(reason)
}

beforeAll(() => {
  process.on('unhandledRejection', note)
})

afterAll(() => {
  process.off('unhandledRejection', note)
})

/**
 * Returns an ensemble with tools, all kinds of reviews, retries, a handler, delegation and concurrent tasks.
 */
function everything(clock: FakeClock): Ensemble {
  const slow = defineTextTool({
    name: 'slow',
    description: 'Obeys its signal',
    async execute(_, { signal }) {
      await sleep(clock, 300, signal)
      signal.throwIfAborted()
      return 'slept'
    },
  })
  const pay = defineTextTool({
    name: 'pay',
    description: 'Asks',
    requireApproval: true,
    execute: () => 'paid',
  })
  const call = (...names: string[]): ScriptedReply => ({
    text: 'I call',
    toolCalls: names.map((name) => ({ name, arguments: { input: '' } })),
  })
  const overloaded = new TuttiError('MODEL_FAILED', 'Overloaded', { retryable: true })
  const model = (...script: ScriptEntry[]): ReturnType<typeof scriptedModel> =>
    scriptedModel(script, { clock, delayMs: 20 })
  const delegate = {
    toolCalls: [{ name: 'delegate_task', arguments: { agentRole: 'Clerk', taskDescription: 'D' } }],
  }
  let fails = 2
  const tasks = [
    task({
      name: 'tools',
      description: 'Tools',
      tools: [slow, pay],
      model: model(call('slow', 'pay', 'slow'), overloaded, 'tools done'),
    }),
    task({
      name: 'reviews',
      description: 'Reviews',
      beforeReview: true,
      review: true,
      agent: agent({ role: 'Clerk', goal: 'Work' }),
      model: scriptedModel(() => 'reviews done', { clock, delayMs: 20 }),
    }),
    task({
      name: 'boss',
      description: 'Boss',
      agent: agent({ role: 'Boss', goal: 'Lead', allowDelegation: true }),
      model: model(delegate, 'boss done'),
    }),
    task({
      name: 'by-hand',
      description: 'By hand',
      context: ['tools'],
      retries: 2,
      timeoutMs: 60_000,
      async handler({ signal }) {
        await sleep(clock, 50, signal)
        signal.throwIfAborted()
        if ((fails -= 1) >= 0) throw new Error('Not yet')
        return 'by hand'
      },
    }),
  ]
  return ensemble({ name: 'team', tasks, budget: { maxDurationMs: 3_600_000, maxTokens: 1e9 } })
}

/** Runs the team with a reviewer that takes 200 ms, and cancels it at the event with this number. */
async function cancelAt(count: number, mode: CancelMode): Promise<WatchedRun> {
  const clock = fakeClock()
  const reviewer: RunReviewer = {
    async decide(_, signal) {
      await sleep(clock, 200, signal)
      signal.throwIfAborted()
      return { action: 'CONTINUE' }
    },
  }
  let seen = 0
  const run: WatchedRun = watchRun(everything(clock), {
    clock,
    reviewer,
    onEvent() {
      seen += 1
      if (seen === count + 1) queueMicrotask(() => run.handle.cancel({ mode }))
    },
  })
  await clock.advance(120_000)
  await run.ended
  expect(clock.pending).toBe(0)
  return run
}

describe('[ENS-C9] a cancel at any moment', () => {
  it.each(['abort', 'boundary'] as const)(
    'A cancel at any moment leaves a complete log, no timer and no unhandled rejection (%s)',
    async (mode) => {
      const whole = await cancelAt(Infinity, mode)
      expect((await whole.ended).status).toBe('COMPLETED')
      const { length } = whole.events
      expect(length).toBeGreaterThan(40)
      for (let count = 0; count < length; count += 1) {
        const run = await cancelAt(count, mode)
        const asked = eventsOf(run.events, 'run_cancelling').length
        const { status } = await run.ended
        expect([count, asked === 0 ? 'COMPLETED' : status]).toEqual([count, status])
        const later = run.events.slice(
          run.events.findIndex(({ type }) => type === 'run_cancelling') + 1,
        )
        const started = eventsOf(later, 'task_started').filter(({ attempt }) => attempt === 1)
        // Work that an agent delegates is part of its task.
        const own = started.filter(({ taskName }) => !taskName?.includes('/'))
        if (asked > 0) expect([count, own]).toEqual([count, []])
      }
      expect(rejections).toEqual([])
    },
  )
})
