import { runStateAfter, type LoggedRunEvent } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { createRunLog, computeStateAfter, appendEvents } from './run-log.ts'

const AT = '2026-01-01T00:00:00.000Z'

function story(tokens: number): readonly LoggedRunEvent[] {
  const task = { taskName: 'a', taskIndex: 1, attempt: 1 }
  const label = { agentRole: 'A', taskDescription: 'Do' }
  const events = [
    { type: 'run_queued', queuedAt: AT, ensemble: 'e', workflow: 'SEQUENTIAL', totalTasks: 1 },
    { type: 'task_started', ...label, ...task, totalTasks: 1, startedAt: AT },
    {
      type: 'llm_iteration_started',
      ...label,
      ...task,
      iterationIndex: 0,
      messages: [],
      model: 'm',
    },
    ...Array.from({ length: tokens }, (_, index) => ({
      type: 'token',
      ...label,
      ...task,
      iterationIndex: 0,
      token: `${index} `,
      sentAt: new Date(Date.parse(AT) + (index % 7) * 100).toISOString(),
    })),
  ]
  // NOTE: these types with the fields that the state reads.
  return events.map((event, seq) => ({
    ...event,
    runId: 'r',
    seq,
    id: `r-${seq}`,
  })) as unknown as readonly LoggedRunEvent[]
}

describe('FollowedLog', () => {
  it('[DASH-R1][DASH-R3] FollowedLog computes the state after any number of events', () => {
    const events = story(1_000)
    const log = appendEvents(createRunLog(), events)
    expect(log.state).toEqual(runStateAfter(events))
    for (const count of [0, 1, 3, 255, 256, 257, 700, 1_003, 5_000]) {
      expect(computeStateAfter(log, count)).toEqual(runStateAfter(events.slice(0, count)))
    }
    expect(log.snapshots).toHaveLength(4)
  })

  it('[DASH-R2] FollowedLog adds each event once and none after a gap, however they are batched', () => {
    const events = story(20)
    const pieces = [events.slice(0, 5), events.slice(3, 9), events.slice(12), events.slice(8)]
    const log = pieces.reduce(appendEvents, createRunLog())
    expect(log.events).toEqual(events)
    expect(log.state).toEqual(runStateAfter(events))
    expect(appendEvents(log, events)).toBe(log)
  })

  it('[DASH-R4] FollowedLog never lets instants decrease', () => {
    const { instants } = appendEvents(createRunLog(), story(30))
    expect(instants).toHaveLength(33)
    expect(instants.every((instant, at) => instant >= (instants[at - 1] ?? 0))).toBe(true)
    expect(instants[2]).toBe(Date.parse(AT))
  })

  it('FollowedLog leaves earlier logs unchanged', () => {
    const events = story(10)
    const first = appendEvents(createRunLog(), events.slice(0, 5))
    const copy = structuredClone(first)
    appendEvents(first, events.slice(5))
    expect(first).toEqual(copy)
  })
})
