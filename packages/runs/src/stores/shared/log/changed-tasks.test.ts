import { expect, it } from 'vitest'

import { ChangedTasks } from './changed-tasks.ts'

import type { KnownTasks } from '../../../log/apply-changes.ts'
import type { StoredTask } from '../../../log/stored-task.ts'

function task(taskIndex: number, attempt: number): StoredTask {
  // NOTE: the other fields are not read.
  return { taskIndex, attempt } as StoredTask
}

it('ChangedTasks are those of a map to which the same changes were made, and leave those before them as they were', () => {
  const expected = new Map<number, StoredTask>()
  let known: KnownTasks = new Map()
  for (let write = 0; write < 2_000; write += 1) {
    const before = [...known.values()]
    const after: ChangedTasks = ChangedTasks.from(known)
    // Each write adds a task and changes an earlier one.
    for (const index of [write, Math.floor(write / 3)]) {
      after.set(index, task(index, write))
      expected.set(index, task(index, write))
    }
    if (write % 97 === 0) expect([...known.values()]).toEqual(before)
    known = after
    expect([known.size, known.has(write), known.has(write + 1)]).toEqual([
      expected.size,
      true,
      false,
    ])
    expect(known.get(Math.floor(write / 3))).toEqual(expected.get(Math.floor(write / 3)))
  }
  const sorted = [...known.values()].toSorted((a, b) => a.taskIndex - b.taskIndex)
  expect(sorted).toEqual([...expected.values()].toSorted((a, b) => a.taskIndex - b.taskIndex))
})
