/** Tests of runs that code with another list of tasks continues. */
import { runStateAfter, type RunEvent } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { ensemble, task, type Ensemble } from '../src/index.ts'
import { runToEnd, startRecorded, type RecordedRun } from './recorded-run.ts'
import { nextTurn } from './watch-run.ts'

/** Returns a sequence of tasks. One of them does not end. */
function createTeam(names: readonly string[], stuck?: string): Ensemble {
  const tasks = names.map((name) =>
    task({
      name,
      description: `Do ${name}`,
      handler: () => (name === stuck ? new Promise<string>(() => undefined) : `${name} done`),
    }),
  )
  return ensemble({ name: 'band', tasks, workflow: 'SEQUENTIAL' })
}

/** Executes a run with these tasks until one of them is stuck, and stops the process. */
async function executeUntil(
  names: readonly string[],
  stuck: string,
  from?: RecordedRun,
): Promise<RecordedRun> {
  const run = startRecorded(createTeam(names, stuck), from === undefined ? {} : { from })
  for (let turns = 0; turns < 20; turns += 1) await nextTurn()
  run.release()
  return {
    events: [...(from?.events ?? []), ...run.events],
    steps: [...(from?.steps ?? []), ...run.steps],
  }
}

/** Continues a run to its end. Returns all its events, and its output. */
async function finish(names: readonly string[], from: RecordedRun) {
  const run = startRecorded(createTeam(names), { from })
  const { output, status } = await runToEnd(run)
  return { output, status, events: [...from.events, ...run.events], own: run.events }
}

/** Returns the index and the status of each task, as a reader sees them. */
function readTasks(events: readonly RunEvent[]): readonly string[] {
  return runStateAfter(events).tasks.map(({ index, name, status }) => `${index} ${name} ${status}`)
}

describe('a run that code with another list of tasks continues', () => {
  it('[ENS-V4] A run continued by code with other tasks keeps the positions of its tasks, adds the new ones after them, and skips those that are gone', async () => {
    const begun = await executeUntil(['a', 'b', 'c'], 'a')
    const { output, status, events, own } = await finish(['a', 'new', 'c'], begun)
    expect([status, output]).toEqual(['COMPLETED', 'c done'])
    expect(readTasks(events)).toEqual([
      '1 a COMPLETED',
      '2 b SKIPPED',
      '3 c COMPLETED',
      '4 new COMPLETED',
    ])
    expect(own[0]).toMatchObject({
      type: 'run_resumed',
      addedTasks: [{ taskIndex: 4, name: 'new', description: 'Do new', context: [] }],
    })
    expect(own[1]).toMatchObject({
      type: 'task_skipped',
      taskIndex: 2,
      taskName: 'b',
      reason: 'The code that continues the run does not have this task',
    })
    const started = own.flatMap((event) =>
      event.type === 'task_started' ? [[event.taskIndex, event.taskName, event.totalTasks]] : [],
    )
    expect(started).toEqual([
      [4, 'new', 4],
      [3, 'c', 4],
    ])
  })

  it('[ENS-V4] A run continued by code with other tasks is not changed again by a process with the same list', async () => {
    const begun = await executeUntil(['a', 'b', 'c'], 'a')
    const changed = await executeUntil(['a', 'new', 'c'], 'new', begun)
    const { events, own } = await finish(['a', 'new', 'c'], changed)
    expect(own[0]).toEqual({
      type: 'run_resumed',
      resumedAt: expect.any(String),
      epoch: 1,
      completedTasks: ['a'],
      outputTask: 'c',
    })
    expect(readTasks(events)).toEqual([
      '1 a COMPLETED',
      '2 b SKIPPED',
      '3 c COMPLETED',
      '4 new COMPLETED',
    ])
  })

  it('[ENS-V4] A run continued by code with other tasks gives a removed task its position back when other code has it again', async () => {
    const begun = await executeUntil(['a', 'b', 'c'], 'a')
    const changed = await executeUntil(['a', 'new', 'c'], 'a', begun)
    const { events } = await finish(['a', 'b', 'c'], changed)
    expect(readTasks(events)).toEqual([
      '1 a COMPLETED',
      '2 b COMPLETED',
      '3 c COMPLETED',
      '4 new SKIPPED',
    ])
  })

  it('[ENS-V4] A run continued by code with other tasks keeps the positions of tasks that were only moved', async () => {
    const begun = await executeUntil(['a', 'b', 'c', 'd'], 'a')
    const { events, own } = await finish(['a', 'c', 'b', 'd'], begun)
    expect(own[0]).not.toHaveProperty('addedTasks')
    expect(readTasks(events)).toEqual([
      '1 a COMPLETED',
      '2 b COMPLETED',
      '3 c COMPLETED',
      '4 d COMPLETED',
    ])
  })
})
