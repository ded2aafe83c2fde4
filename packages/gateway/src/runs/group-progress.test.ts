import type { RunEvent } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { formatCounts, GroupProgress } from './group-progress.ts'

const event = (type: RunEvent['type'], fields: object): RunEvent =>
  // NOTE: with the fields that are read.
  ({ type, ...fields }) as RunEvent

/** Events of the task with a number that `grow` adds. */
function added(
  at: number,
  end: 'task_completed' | 'task_failed' = 'task_completed',
  parent = 'grow',
): RunEvent[] {
  const [taskName, delegationId] = [`${parent}/${at}`, `${parent}-${at}`]
  const worker = { workerTask: taskName, workerTaskIndex: at + 2 }
  return [
    event('delegation_started', { taskName: parent, delegationId, ...worker }),
    event('task_started', { taskName, taskIndex: at + 2, attempt: 1 }),
    event(end, { taskName, attempt: 1 }),
    event('delegation_completed', { taskName: parent, delegationId, workerTask: taskName }),
  ]
}

const many = (from: number, to: number, parent?: string): RunEvent[] =>
  Array.from({ length: to - from }, (_, at) => added(from + at, 'task_completed', parent)).flat()

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

  it('[GW-GP3] GroupProgress does not report tasks that a counted task adds', () => {
    const groups = new GroupProgress()
    for (const one of many(0, 30)) groups.take(one)
    const nested = Array.from({ length: 30 }, (_, at) => added(at, 'task_completed', 'grow/29'))
    const notes = nested.flat().map((one) => groups.take(one))
    expect(notes).toEqual(notes.map(() => ({ counts: undefined })))
    groups.takeChanged()
    for (const one of added(30, 'task_completed', 'grow/29')) groups.take(one)
    expect(groups.takeChanged()).toEqual([])
  })

  it('[GW-GP1] GroupProgress leaves the messages of at most two hundred added tasks of a run', () => {
    const groups = new GroupProgress()
    const parents = Array.from({ length: 20 }, (_, at) => `grow/${at}`)
    const nested = parents.flatMap((parent) => many(0, 20, parent))
    const plain = [...many(0, 20), ...nested].filter((one) => groups.take(one) === undefined)
    expect(plain).toHaveLength(200 * added(0).length)
    expect(groups.isCounted('grow/8/19')).toBe(false)
    expect(groups.isCounted('grow/9/0')).toBe(true)
  })

  it('[GW-GP1] GroupProgress returns the exact counts of changed groups', () => {
    const groups = new GroupProgress()
    for (const one of many(0, 20)) groups.take(one)
    expect(groups.takeChanged()).toEqual([])
    for (const one of many(20, 25)) groups.take(one)
    expect(groups.takeChanged()).toEqual([{ parent: 'grow', added: 25, completed: 25, failed: 0 }])
    expect(groups.takeChanged()).toEqual([])
  })
})
