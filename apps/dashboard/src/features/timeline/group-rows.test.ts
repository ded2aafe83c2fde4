import { RunStateFold, type RunEvent, type RunState } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { groupTasks } from '../../api/task-groups.ts'
import { describeRow } from './describe-entry.ts'
import { NO_HISTORY } from './history.ts'
import { buildTimeline } from './timeline-model.ts'

const BEGIN = Date.parse('2026-01-01T00:00:00.000Z')
const at = (ms: number): string => new Date(BEGIN + ms).toISOString()

/** Folds events with the fields that the state reads. */
function stateAfter(events: readonly object[]): RunState {
  const fold = new RunStateFold()
  // NOTE: events as in the log; omitted fields are not read.
  for (const event of events) fold.take(event as RunEvent)
  return fold.state
}

/** Events of a task that has added `count` tasks. */
function grow(count: number): readonly object[] {
  const [taskName, type] = ['grow', 'delegation_started']
  const added = Array.from({ length: count }, (_, n) => ({
    type,
    taskName,
    delegationId: `d-${n}`,
    workerTask: `grow/${n}`,
    workerTaskIndex: n + 2,
  }))
  return [{ type: 'task_started', taskName, taskIndex: 1, attempt: 1, startedAt: at(0) }, ...added]
}

const place = (n: number) => ({ taskName: `grow/${n}`, taskIndex: n + 2, attempt: 1 })
const started = (n: number, ms: number) => ({
  type: 'task_started',
  ...place(n),
  startedAt: at(ms),
})
const completed = (n: number, ms: number) => ({
  type: 'task_completed',
  ...place(n),
  completedAt: at(ms),
})
const failed = (n: number, ms: number) => ({
  type: 'task_failed',
  ...place(n),
  failedAt: at(ms),
  reason: 'No',
  code: 'MODEL_FAILED',
  willRetry: false,
})

describe('the row of a group', () => {
  const events = [
    ...grow(10_000),
    started(0, 100),
    started(1, 150),
    completed(0, 200),
    failed(1, 300),
    started(2, 500),
    completed(2, 600),
    started(3, 900),
  ]
  const state = stateAfter(events)

  it('[DASH-T4] The row of a folded group has the times in which its tasks ran', () => {
    const { rows, taskCount } = buildTimeline(state, { history: NO_HISTORY })
    expect(taskCount).toBe(10_001)
    expect(rows.map(({ name, label }) => [name, label])).toEqual([
      ['grow', 'grow'],
      ['grow/*', '10,000 tasks'],
    ])
    const times = rows[1]?.lanes[0]?.map((note) => [
      note.startMs - BEGIN,
      note.endMs === undefined ? '…' : note.endMs - BEGIN,
      note.status,
      note.kind === 'group' && [note.count, note.failed],
    ])
    expect(times).toEqual([
      [100, 300, 'done', [2, 1]],
      [500, 600, 'done', [1, 0]],
      [900, '…', 'running', [1, 0]],
    ])
    const [, group] = rows
    expect(group && describeRow(group, { startMs: BEGIN, nowMs: BEGIN })).toBe(
      '10,000 tasks added by grow, folded: 1 failed, 1 running, 9,996 waiting, 2 completed',
    )
  })

  it('[DASH-T4] The tasks of an open group follow its row under their keys, and a search leaves out the others', () => {
    const grouped = groupTasks(state.tasks)
    const rowsOf = (query: string) => {
      const groups = { grouped, views: new Map([['grow/*', { isOpen: true, query }]]) }
      return buildTimeline(state, { history: NO_HISTORY, groups }).rows.map(({ label }) => label)
    }
    expect(rowsOf('')).toHaveLength(10_002)
    expect(rowsOf('999').slice(0, 4)).toEqual(['grow', '10,000 tasks', '999', '1999'])
  })

  it('[DASH-T1] The row of a group stays the same object while none of its tasks changes', () => {
    const before = buildTimeline(state, { history: NO_HISTORY })
    const fold = new RunStateFold(state)
    fold.take({ type: 'model_switched', model: 'other' } as RunEvent)
    const same = buildTimeline(fold.state, { history: NO_HISTORY, before })
    expect(same.rows[1]).toBe(before.rows[1])
    fold.take(completed(3, 950) as RunEvent)
    const after = buildTimeline(fold.state, { history: NO_HISTORY, before })
    expect(after.rows[1]).not.toBe(before.rows[1])
    expect(after.rows[1]?.lanes[0]?.at(-1)?.endMs).toBe(BEGIN + 950)
  })
})
