import { describe, expect, it } from 'vitest'

import { runNotes } from './events.ts'

import type { RunEvent } from '@tutti/protocol'

function event(type: RunEvent['type'], fields: object = {}): RunEvent {
  // NOTE: notes read no other fields.
  return { type, ...fields } as RunEvent
}

const STARTED = event('ensemble_started', { ensemble: 'band', totalTasks: 2, tasks: [] })

function completed(taskName: string, totalTasks = 2): RunEvent {
  return event('task_completed', { taskName, totalTasks })
}

describe('runNotes', () => {
  it('runNotes counts completed tasks in whole numbers, and stays below the next number between them', () => {
    const notes = runNotes()
    const all = [
      notes.add(STARTED),
      notes.heartbeat(),
      notes.heartbeat(),
      notes.add(completed('a')),
    ]
    all.push(notes.heartbeat(), notes.add(completed('b')))
    expect(all.map((note) => note?.progress)).toEqual([0, 0.5, 1 - 1 / 3, 1, 1.5, 2])
  })

  it('[GW-GP1] runNotes counts many added tasks in few notes, and its progress only grows', () => {
    const notes = runNotes()
    const added = Array.from({ length: 1_000 }, (_, at) => {
      const [workerTask, delegationId] = [`a/${at}`, `d-${at}`]
      return [
        event('delegation_started', { taskName: 'a', workerTask, delegationId }),
        event('task_started', { taskName: workerTask, totalTasks: at + 3 }),
        completed(workerTask, at + 3),
      ]
    })
    const all = added.flat().flatMap((one) => notes.add(one) ?? [])
    expect(all.length).toBeLessThan(100)
    expect(all[40]?.message).toBe('"a": 22 of 22 tasks completed')
    const progress = all.map((note) => note.progress)
    expect(progress).toEqual(progress.toSorted((one, other) => one - other))
    expect(progress.at(-1)).toBeGreaterThan(900)
  })

  it('runNotes reports each kind of event with a message', () => {
    const notes = runNotes()
    const texts = [
      STARTED,
      event('task_started', { taskName: 'a', totalTasks: 2 }),
      event('tool_progress', { taskName: 'a', toolName: 'tune', message: 'half' }),
      event('delegation_started', {
        taskName: 'a',
        workerTask: 'a/B',
        workerRole: 'B',
        handoff: true,
      }),
      event('task_attempt_failed', { taskName: 'a', reason: 'Flat', willRetry: true }),
      event('task_failed', { taskName: 'a', reason: 'Flat', willRetry: false }),
      event('review_requested', { taskName: 'a', reviewId: 'r1' }),
      event('review_decided', { decision: 'CONTINUE' }),
      event('review_timed_out', { action: 'EXIT_EARLY' }),
      completed('a'),
    ].map((one) => notes.add(one)?.message)
    expect(texts).toEqual([
      '"band" started: 2 tasks',
      '"a" started',
      '"a" tune: half',
      '"a" handed off to B',
      '"a" failed: Flat; retrying',
      '"a" failed: Flat',
      '"a" is waiting for a review: decide it with POST /api/reviews/r1',
      'Review decided: CONTINUE',
      'Review timed out: EXIT_EARLY',
      '"a" completed: 1 of 2',
    ])
  })

  it('runNotes reports the agents that tools call, but not each chunk of text', () => {
    const notes = runNotes()
    const asks = { taskName: 'a', toolName: 'ask' }
    const chunks = Array.from({ length: 12 }, (_, index) =>
      notes.add(event('agent_tool_progress', { ...asks, chunk_index: index })),
    )
    expect(chunks.flatMap((note) => note?.message ?? [])).toEqual([
      '"a" ask: 1 chunks received',
      '"a" ask: 11 chunks received',
    ])
    const turn = { ...asks, turn: 0 }
    expect(notes.add(event('agent_tool_turn', { ...turn, direction: 'outbound' }))).toBeUndefined()
    expect(notes.add(event('agent_tool_turn', { ...turn, direction: 'inbound' }))?.message).toBe(
      '"a" ask: turn 1 answered',
    )
  })

  it('runNotes reports no tokens and no turns', () => {
    const notes = runNotes()
    expect(notes.add(event('token'))).toBeUndefined()
    expect(notes.add(event('llm_iteration_started'))).toBeUndefined()
  })

  it('runNotes never reports a total below the progress, and increases it with the run', () => {
    const notes = runNotes()
    expect(notes.heartbeat()).toEqual({ progress: 0, total: 0, message: 'queued' })
    expect(notes.heartbeat()).toMatchObject({ progress: 0.5, total: 1 })
    expect(notes.add(STARTED)?.total).toBe(2)
    expect(notes.add(completed('a', 5))).toMatchObject({ progress: 1, total: 5 })
    expect(notes.heartbeat().message).toBe('running: 1 of 5 tasks completed')
  })
})
