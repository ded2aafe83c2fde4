import { RunStateFold, type RunEvent } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { formatCounts, GroupProgress } from './group-progress.ts'

const event = (type: RunEvent['type'], fields: object): RunEvent =>
  // NOTE: with the fields that are read.
  ({ type, ...fields }) as RunEvent

/** Events of the task with a number that `grow` adds. */
function added(at: number, end: 'task_completed' | 'task_failed' = 'task_completed'): RunEvent[] {
  const [taskName, delegationId] = [`grow/${at}`, `d-${at}`]
  const worker = { workerTask: taskName, workerTaskIndex: at + 2 }
  return [
    event('delegation_started', { taskName: 'grow', delegationId, ...worker }),
    event('task_started', { taskName, taskIndex: at + 2, attempt: 1 }),
    event(end, { taskName, attempt: 1 }),
    event('delegation_completed', { taskName: 'grow', delegationId }),
  ]
}

const many = (from: number, to: number): RunEvent[] =>
  Array.from({ length: to - from }, (_, at) => added(from + at)).flat()

describe('GroupProgress', () => {
  it('[GW-GP1] GroupProgress leaves the messages of the first twenty added tasks, and of all other tasks', () => {
    const groups = new GroupProgress()
    const plain = [event('task_started', { taskName: 'grow' }), ...many(0, 20)]
    expect(plain.flatMap((one) => groups.take(one) ?? [])).toEqual([])
    expect(added(20).map((one) => groups.take(one)?.counts)).toEqual(Array(4).fill(undefined))
    expect(added(21).map((one) => groups.take(one) === undefined)).toEqual(Array(4).fill(false))
  })

  it('[GW-GP1] GroupProgress has few messages for ten thousand tasks, whose counts grow', () => {
    const groups = new GroupProgress()
    const counts = many(0, 10_000).flatMap((one) => groups.take(one)?.counts ?? [])
    expect(counts.length).toBeGreaterThan(50)
    expect(counts.length).toBeLessThan(80)
    expect(counts[0]).toEqual({ parent: 'grow', added: 22, completed: 22, failed: 0 })
    expect(counts.at(-1)?.completed).toBeGreaterThan(9_000)
  })

  it('[GW-GP1] GroupProgress counts failures', () => {
    const groups = new GroupProgress()
    for (const one of many(0, 21)) groups.take(one)
    const [counts] = added(21, 'task_failed').flatMap((one) => groups.take(one)?.counts ?? [])
    expect(counts && formatCounts(counts)).toBe('"grow": 21 of 22 tasks completed, 1 failed')
  })

  it('[GW-GP2] GroupProgress leaves the messages of reviews', () => {
    const groups = new GroupProgress()
    for (const one of many(0, 30)) groups.take(one)
    const review = event('review_requested', { taskName: 'grow/29', reviewId: 'r' })
    expect(groups.take(review)).toBeUndefined()
  })

  it('[GW-GP1] GroupProgress continues from a state', () => {
    const fold = new RunStateFold()
    for (const one of many(0, 30)) fold.take(one)
    const groups = new GroupProgress(fold.state)
    const counts = many(30, 34).flatMap((one) => groups.take(one)?.counts ?? [])
    expect(counts.map(({ completed }) => completed)).toEqual([33])
  })
})
