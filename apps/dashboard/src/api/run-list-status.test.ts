import { describe, expect, it } from 'vitest'

import { statusFrom } from './run-list-status.ts'
import { NOTHING_USED } from './run-list-usage.ts'

import type { TaskCourse } from './run-list-line.ts'

const task = (name: string, state: TaskCourse['state'], delegatedBy?: string): TaskCourse => ({
  name,
  state,
  attempt: 1,
  ...(delegatedBy === undefined ? {} : { delegatedBy }),
})

const status = (gates: readonly string[], ...tasks: readonly TaskCourse[]) =>
  statusFrom('RUNNING', {
    lastSeq: 0,
    tasks: new Map(tasks.map((one, at) => [at + 1, one])),
    rest: NOTHING_USED,
    gates: new Map(gates.map((name) => [`review of ${name}`, name])),
  })

describe('a run', () => {
  it('waits for a person when everything at work does', () => {
    expect(status(['a'], task('a', 'running'), task('b', 'waiting'))).toBe('WAITING_REVIEW')
    expect(status(['a'], task('a', 'waiting'), task('b', 'completed'))).toBe('WAITING_REVIEW')
    expect(status(['a', 'b'], task('a', 'running'), task('b', 'running'))).toBe('WAITING_REVIEW')
  })

  it('is at work as long as one task is, or tries again by itself', () => {
    expect(status([], task('a', 'running'))).toBe('RUNNING')
    expect(status(['a'], task('a', 'running'), task('b', 'running'))).toBe('RUNNING')
    expect(status(['a'], task('a', 'running'), task('b', 'retrying'))).toBe('RUNNING')
  })

  it('waits when who delegates waits for those that do', () => {
    const manager = task('manager', 'running')
    const worker = task('worker', 'running', 'manager')
    expect(status(['worker'], manager, worker)).toBe('WAITING_REVIEW')
    expect(status(['worker'], manager, worker, task('other', 'running', 'manager'))).toBe('RUNNING')
    expect(status(['else'], manager, task('worker', 'completed', 'manager'))).toBe('RUNNING')
  })

  it('that is cancelled, over or not begun is not told by its reviews', () => {
    const course = {
      lastSeq: 0,
      tasks: new Map(),
      rest: NOTHING_USED,
      gates: new Map([['r', 'a']]),
    }
    for (const before of ['ACCEPTED', 'CANCELLING', 'FAILED'] as const) {
      expect(statusFrom(before, course)).toBe(before)
    }
  })
})
