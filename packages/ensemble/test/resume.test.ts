/** What a run says and counts when it goes on in another process; `resume-everywhere` cuts it anywhere. */
import { expect, it } from 'vitest'

import { ensemble, task, type Ensemble, type RunResult, type RunStep } from '../src/index.ts'
import { phasesAfter } from './task-phases.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { eventsOf, expectWholeLog } from './watch-run.ts'

import type { RunEvent } from '@tutti/protocol'

/** Two tasks of 100 ms, the second of which builds on the first. */
function team(clock: FakeClock, asked: string[] = []): Ensemble {
  const make = (name: string, context: readonly string[]) =>
    task({
      name,
      description: `Do ${name}`,
      context,
      model: scriptedModel(
        () => {
          asked.push(name)
          return name
        },
        { clock, delayMs: 100 },
      ),
    })
  return ensemble({ name: 'team', tasks: [make('a', []), make('b', ['a'])] })
}

interface Story {
  readonly events: RunEvent[]
  readonly steps: RunStep[]
  readonly asked: string[]
  readonly result: RunResult | undefined
}

interface StorySettings {
  readonly steps?: readonly RunStep[]
  readonly forMs?: number
  readonly startMs?: number
  readonly signal?: AbortSignal
}

/** Runs for so long, from these steps. */
async function story({ steps, forMs = 10_000, startMs, signal }: StorySettings): Promise<Story> {
  const clock = fakeClock(startMs)
  const told: Story = { events: [], steps: [], asked: [], result: undefined }
  let result: RunResult | undefined
  void team(clock, told.asked)
    .run(
      {},
      {
        clock,
        runId: 'run-1',
        ...(signal === undefined ? {} : { signal }),
        ...(steps === undefined ? {} : { resume: { steps, epoch: 2 } }),
        journal: {
          emit(event, step) {
            told.events.push(event)
            if (step !== undefined) told.steps.push(step)
          },
          async commit(step, event) {
            told.steps.push(step)
            if (event !== undefined) told.events.push(event)
          },
        },
      },
    )
    .then((ended) => {
      result = ended
    })
  await clock.advance(forMs)
  return { ...told, result }
}

const START = Date.UTC(2026, 0, 1)

it('[ENS-E6] says that it goes on, as which holder of the run, and what is completed', async () => {
  const first = await story({ forMs: 150 })
  const second = await story({ steps: first.steps, startMs: START + 5_000 })
  expect(second.asked).toEqual(['b'])
  expect(second.events[0]).toEqual({
    type: 'run_resumed',
    resumedAt: '2026-01-01T00:00:05.000Z',
    epoch: 2,
    completedTasks: ['a'],
  })
  expect(eventsOf(second.events, 'task_started')).toEqual([])
  if (second.result === undefined) throw new Error('It did not end')
  expectWholeLog([...first.events, ...second.events], second.result)
})

it('[ENS-E6] a run lasts from its first beginning; a task as long as it was worked on', async () => {
  const first = await story({ forMs: 150 })
  const { result } = await story({ steps: first.steps, startMs: START + 5_000 })
  expect(result?.durationMs).toBe(5_100)
  expect(result?.tasks.map(({ durationMs }) => durationMs)).toEqual([100, 100])
})

it('[ENS-E6] counts what was used before', async () => {
  const whole = await story({})
  const { result } = await story({ steps: (await story({ forMs: 150 })).steps })
  expect(result?.metrics).toEqual(whole.result?.metrics)
  expect(result?.metrics.totalTokens).toBeGreaterThan(0)
})

it('[ENS-E5] [ENS-E6] when it was all done but for its end, only the end is told', async () => {
  const whole = await story({})
  const { asked, events, result } = await story({ steps: whole.steps })
  expect(asked).toEqual([])
  expect(result?.status).toBe('COMPLETED')
  expect(events.map(({ type }) => type)).toEqual([
    'run_resumed',
    'ensemble_completed',
    'run_result',
  ])
})

it('[ENS-E4] [ENS-E6] [ENS-C6] a run that resumes into an abort keeps what was done; what had begun failed', async () => {
  const first = await story({ forMs: 150 })
  const { asked, events, result } = await story({
    steps: first.steps,
    signal: AbortSignal.abort(),
  })
  expect(asked).toEqual([])
  expect(result).toMatchObject({ status: 'CANCELLED', output: 'a' })
  expect([...phasesAfter([...first.events, ...events]).values()]).toEqual(['completed', 'failed'])
})

it('[ENS-E6] with no steps a run begins', async () => {
  const { events, result } = await story({ steps: [] })
  expect(events[0]?.type).toBe('ensemble_started')
  expect(result?.status).toBe('COMPLETED')
})
