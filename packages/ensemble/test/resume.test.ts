/** Tests of the events and the usage of a resumed run; `resume-everywhere` interrupts it at any write. */
import { expect, it } from 'vitest'

import { ensemble, task, type Ensemble, type RunResult } from '../src/index.ts'
import type { RunStep } from '../src/internal.ts'
import { readPhasesAfter } from './task-phases.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { eventsOf, expectWholeLog } from './watch-run.ts'

import type { RunEvent } from '@tutti/protocol'

/** Returns two tasks of 100 ms; the second has the first as context. */
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

/** Runs for `forMs`, from these steps. */
async function runStory({ steps, forMs = 10_000, startMs, signal }: StorySettings): Promise<Story> {
  const clock = fakeClock(startMs)
  const recorded: Story = { events: [], steps: [], asked: [], result: undefined }
  let result: RunResult | undefined
  void team(clock, recorded.asked)
    .run(
      {},
      {
        clock,
        runId: 'run-1',
        ...(signal === undefined ? {} : { signal }),
        ...(steps === undefined ? {} : { resume: { steps, epoch: 2 } }),
        journal: {
          emit(event, step) {
            recorded.events.push(event)
            if (step !== undefined) recorded.steps.push(step)
          },
          async commit(step, event) {
            recorded.steps.push(step)
            if (event !== undefined) recorded.events.push(event)
          },
        },
      },
    )
    .then((ended) => {
      result = ended
    })
  await clock.advance(forMs)
  return { ...recorded, result }
}

const START = Date.UTC(2026, 0, 1)

it('[ENS-E6] A resumed run emits run_resumed with its epoch and the completed tasks', async () => {
  const first = await runStory({ forMs: 150 })
  const second = await runStory({ steps: first.steps, startMs: START + 5_000 })
  expect(second.asked).toEqual(['b'])
  expect(second.events[0]).toEqual({
    type: 'run_resumed',
    resumedAt: '2026-01-01T00:00:05.000Z',
    epoch: 2,
    completedTasks: ['a'],
    outputTask: 'b',
  })
  expect(eventsOf(second.events, 'task_started')).toEqual([])
  if (second.result === undefined) throw new Error('It did not end')
  expectWholeLog([...first.events, ...second.events], second.result)
})

it('[ENS-E6] A run lasts from its first start, and a task only for its working time', async () => {
  const first = await runStory({ forMs: 150 })
  const { result } = await runStory({ steps: first.steps, startMs: START + 5_000 })
  expect(result?.durationMs).toBe(5_100)
  expect(result?.tasks.map(({ durationMs }) => durationMs)).toEqual([100, 100])
})

it('[ENS-E6] A resumed run counts the usage before', async () => {
  const whole = await runStory({})
  const { result } = await runStory({ steps: (await runStory({ forMs: 150 })).steps })
  expect(result?.metrics).toEqual(whole.result?.metrics)
  expect(result?.metrics.totalTokens).toBeGreaterThan(0)
})

it('[ENS-E5] [ENS-E6] A run in which only the end was missing emits only the end', async () => {
  const whole = await runStory({})
  const { asked, events, result } = await runStory({ steps: whole.steps })
  expect(asked).toEqual([])
  expect(result?.status).toBe('COMPLETED')
  expect(events.map(({ type }) => type)).toEqual([
    'run_resumed',
    'ensemble_completed',
    'run_result',
  ])
})

it('[ENS-E4] [ENS-E6] [ENS-C6] A run that resumes with an aborted signal retains completed tasks and fails the begun one', async () => {
  const first = await runStory({ forMs: 150 })
  const { asked, events, result } = await runStory({
    steps: first.steps,
    signal: AbortSignal.abort(),
  })
  expect(asked).toEqual([])
  expect(result).toMatchObject({ status: 'CANCELLED', output: 'a' })
  expect([...readPhasesAfter([...first.events, ...events]).values()]).toEqual([
    'completed',
    'failed',
  ])
})

it('[ENS-E6] A run without steps starts', async () => {
  const { events, result } = await runStory({ steps: [] })
  expect(events[0]?.type).toBe('ensemble_started')
  expect(result?.status).toBe('COMPLETED')
})
