import { describe, expect, it } from 'vitest'

import { completed, result, started, taskStarted } from '../testing/support/event-fixtures.ts'
import { FoldedTasks } from './folded-tasks.ts'

import type { RunEvent } from '@tutti/protocol'

function fold(...events: readonly RunEvent[]): FoldedTasks {
  const folded = new FoldedTasks()
  for (const event of events) folded.add([event])
  return folded
}

describe('FoldedTasks', () => {
  it('[RUNS-C8] FoldedTasks returns the tasks and the result of an ended run, and nothing before its end', () => {
    const folded = fold(started, taskStarted(1), completed)
    expect(folded.ended).toBeUndefined()
    const end = result('run-a')
    folded.add([end])
    expect(folded.ended?.tasks.map(({ taskIndex }) => taskIndex)).toEqual(
      started.tasks.map((_task, index) => index + 1),
    )
    expect(folded.ended?.tasks[0]).toMatchObject({
      status: 'COMPLETED',
      attempt: 1,
      output: completed.output,
    })
    expect(folded.ended?.result).toEqual({ metrics: end.metrics })
  })

  it('[RUNS-C8] FoldedTasks returns nothing after an event that cannot be read', () => {
    const unreadable = { type: 'event_unreadable', eventType: 'tool_called', reason: 'x' } as const
    expect(fold(started, unreadable, result('run-a')).ended).toBeUndefined()
  })

  it('[RUNS-C8] FoldedTasks returns nothing if the texts have more than 256,000 characters', () => {
    const write = (length: number): RunEvent => ({ ...completed, output: 'x'.repeat(length) })
    expect(fold(started, taskStarted(1), write(250_000), result('run-a')).ended).toBeDefined()
    expect(fold(started, taskStarted(1), write(256_001), result('run-a')).ended).toBeUndefined()
  })
})
