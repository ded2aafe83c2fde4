/** A run that is cut off goes on in another process from what was durable. */
import { describe, expect, it } from 'vitest'

import {
  ensemble,
  task,
  type Ensemble,
  type ResumePoint,
  type RunJournal,
  type TaskCheckpoint,
} from '../src/index.ts'
import { phasesAfter } from './task-phases.ts'
import { fakeClock, scriptedModel, type FakeClock } from './testing.ts'
import { eventsOf, expectWholeLog, expectWireEvents, watchRun } from './watch-run.ts'

import type { RunEvent } from '@tutti/protocol'

const NAMES = ['a', 'b', 'c', 'd']

/** Four tasks in a diamond; each answers with the words of its context, so that outputs tell. */
function diamond(clock: FakeClock): {
  readonly team: Ensemble
  readonly asked: () => readonly string[]
} {
  const asked: string[] = []
  const make = (name: string, context: readonly string[]): ReturnType<typeof task> =>
    task({
      name,
      description: `Do ${name}`,
      context,
      model: scriptedModel(
        ({ messages }) => {
          asked.push(name)
          const given = messages[1]?.content.match(/(?<=\n)\S+(?=\n---)/g) ?? []
          return `${name}(${given.join('+')})`
        },
        { clock, delayMs: 10 },
      ),
    })
  const tasks = [make('a', []), make('b', ['a']), make('c', ['a']), make('d', ['b', 'c'])]
  return { team: ensemble({ name: 'diamond', tasks }), asked: () => asked }
}

interface Durable {
  readonly events: RunEvent[]
  readonly checkpoints: TaskCheckpoint[]
}

/** A journal of a process that dies when it has written `size` events. */
function dyingJournal(size: number): RunJournal & { readonly kept: Durable } {
  const kept: Durable = { events: [], checkpoints: [] }
  const write = (event: RunEvent): boolean => {
    if (kept.events.length >= size) return false
    kept.events.push(event)
    return true
  }
  return {
    kept,
    emit: write,
    commit(event, checkpoint) {
      if (!write(event)) return new Promise(() => undefined)
      kept.checkpoints.push(checkpoint)
      return Promise.resolve()
    },
  }
}

/** What a store makes of what is durable. */
function resumePoint({ events, checkpoints }: Durable, elapsedMs = 0): ResumePoint {
  const attempts = new Map(
    eventsOf(events, 'task_started').map(({ taskName, attempt }) => [taskName, attempt]),
  )
  return { completed: checkpoints, attempts, elapsedMs }
}

/** The events that were written before the process died after `size` of them. */
async function runUntil(size: number): Promise<Durable> {
  const clock = fakeClock()
  const journal = dyingJournal(size)
  void diamond(clock).team.run({}, { clock, journal, runId: 'run-1' })
  await clock.advance(1_000)
  return journal.kept
}

/** Goes on from `kept` in another process. */
async function resume(kept: Durable): Promise<{
  readonly result: Awaited<ReturnType<Ensemble['run']>>
  readonly asked: readonly string[]
  readonly events: readonly RunEvent[]
}> {
  const clock = fakeClock()
  const { team, asked } = diamond(clock)
  const events: RunEvent[] = []
  const running = team.run(
    {},
    {
      clock,
      runId: 'run-1',
      resume: resumePoint(kept, 5_000),
      onEvent: (event) => events.push(event),
    },
  )
  await clock.advance(1_000)
  return { result: await running, asked: asked(), events }
}

const OUTPUT = 'd(b(a())+c(a()))'
const whole = await runUntil(Infinity)

describe('[E6] a run that was cut off', () => {
  it.each([0, 1, 2, 3, 4])(
    'after %i checkpoints repeats no completed task and gives the same output',
    async (count) => {
      const ends = whole.events.flatMap(({ type }, index) =>
        type === 'task_completed' ? [index + 1] : [],
      )
      // Without any checkpoint: cut off while the first task was streaming.
      const kept = await runUntil(count === 0 ? 5 : (ends[count - 1] ?? 0))
      expect(kept.checkpoints).toHaveLength(count)
      const { result, asked } = await resume(kept)
      const done = kept.checkpoints.map(({ taskName }) => taskName)
      expect(asked.toSorted()).toEqual(NAMES.filter((name) => !done.includes(name)))
      expect(result).toMatchObject({ runId: 'run-1', status: 'COMPLETED', output: OUTPUT })
      expect(result.tasks.map(({ taskName }) => taskName)).toEqual(NAMES)
    },
  )

  it('after any event: the two parts of its log are one story', async () => {
    expect(whole.events.at(-1)).toMatchObject({ type: 'run_result', status: 'COMPLETED' })
    for (let size = 1; size < whole.events.length; size += 1) {
      const kept = await runUntil(size)
      expect(kept.events).toEqual(whole.events.slice(0, size))
      // A process that dies between the two last events writes the first of them again.
      if (kept.events.at(-1)?.type === 'ensemble_completed') kept.events.pop()
      const { result, asked, events } = await resume(kept)
      const done = kept.checkpoints.map(({ taskName }) => taskName)
      expect(result.output).toBe(OUTPUT)
      expect(asked.filter((name) => done.includes(name))).toEqual([])
      expect(eventsOf(events, 'ensemble_started')).toEqual([])
      const resumed: RunEvent = {
        type: 'run_resumed',
        resumedAt: '2026-01-01T00:00:05.000Z',
        epoch: 2,
        completedTasks: done,
      }
      expectWholeLog([...kept.events, resumed, ...events], result)
    }
  })

  it('counts the attempts on: what is done again is told apart from what was streamed before', async () => {
    const kept = await runUntil(
      whole.events.findIndex((event) => event.type === 'token' && event.taskName === 'b') + 1,
    )
    const { events } = await resume(kept)
    expect(
      eventsOf(events, 'task_started').map(({ taskName, attempt }) => [taskName, attempt]),
    ).toEqual([
      ['b', 2],
      ['c', 2],
      ['d', 1],
    ])
    for (const event of events) {
      if ('attempt' in event && 'taskName' in event) {
        expect(event.attempt).toBe(event.taskName === 'd' ? 1 : 2)
      }
    }
  })

  it('counts its time on from before', async () => {
    const { result, events } = await resume(await runUntil(5))
    expect(result.durationMs).toBe(5_030)
    expect(eventsOf(events, 'run_result')[0]?.durationMs).toBe(5_030)
  })

  it('counts the tokens of what was done before', async () => {
    const { result: direct } = await resume({ events: [], checkpoints: [] })
    const { result } = await resume(whole)
    expect(result.metrics).toEqual(direct.metrics)
    expect(result.metrics.totalTokens).toBeGreaterThan(0)
  })

  it('can be cut off again', async () => {
    const clock = fakeClock()
    const first = await runUntil(5)
    const journal = dyingJournal(4)
    void diamond(clock).team.run({}, { clock, journal, resume: resumePoint(first) })
    await clock.advance(1_000)
    const second = {
      events: [...first.events, ...journal.kept.events],
      checkpoints: [...first.checkpoints, ...journal.kept.checkpoints],
    }
    const { result, events } = await resume(second)
    expectWireEvents(events)
    expect(result.output).toBe(OUTPUT)
    expect(eventsOf(events, 'task_started')[0]).toMatchObject({ taskName: 'a', attempt: 3 })
  })

  it('when it was all done but for its end: only the end is told', async () => {
    const { asked, events, result } = await resume(whole)
    expect(asked).toEqual([])
    expect(result.status).toBe('COMPLETED')
    expect(events.map(({ type }) => type)).toEqual(['ensemble_completed', 'run_result'])
  })
})

it('[E6] a run that resumes into an abort keeps what was done', async () => {
  const ends = whole.events.findIndex(({ type }) => type === 'task_completed') + 1
  const kept = await runUntil(ends)
  const clock = fakeClock()
  const { team, asked } = diamond(clock)
  const events: RunEvent[] = []
  const result = await team.run(
    {},
    {
      clock,
      signal: AbortSignal.abort(),
      resume: resumePoint(kept),
      onEvent: (event) => events.push(event),
    },
  )
  expect(asked()).toEqual([])
  expect(result).toMatchObject({ status: 'CANCELLED', output: 'a()' })
  expect([...phasesAfter([...kept.events, ...events]).values()]).toEqual([
    'completed',
    'skipped',
    'skipped',
    'skipped',
  ])
})

it('[E6] a run that nobody cut off has nothing to resume', async () => {
  const clock = fakeClock()
  const run = watchRun(diamond(clock).team, { clock })
  await clock.advance(1_000)
  expect(await run.ended).toMatchObject({ output: OUTPUT })
  expect(eventsOf(run.events, 'task_started').every(({ attempt }) => attempt === 1)).toBe(true)
})
