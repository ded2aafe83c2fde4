import type { LoggedRunEvent } from '@tutti/protocol'
import { RUN_EVENT_TYPES } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { findKeySubject } from '../../api/event-kinds.ts'
import {
  formatEventLabel,
  computeMarks,
  findNextStep,
  SLOTS,
  findPreviousStep,
} from './replay-marks.ts'

function event(type: LoggedRunEvent['type'], fields: object = {}): LoggedRunEvent {
  // NOTE: the functions read no other fields.
  return { type, ...fields } as unknown as LoggedRunEvent
}

const started = event('task_started', { taskName: 'research' })
const token = event('token')
const called = event('tool_called', {
  toolName: 'search',
  taskName: 'research',
  outcome: 'SUCCESS',
})
const failed = event('tool_called', { toolName: 'search', outcome: 'FAILURE' })
const log = [event('run_queued'), started, token, token, called, token, failed, token]

describe('key events', () => {
  it('Key events are those of tasks, steps, tools, reviews and steering', () => {
    const mattering = RUN_EVENT_TYPES.filter((type) => findKeySubject(event(type)) !== undefined)
    expect(mattering.toSorted()).toEqual([
      'directive_active',
      'directive_delivered',
      'handler_step_ended',
      'model_switched',
      'review_decided',
      'review_requested',
      'review_timed_out',
      'review_withdrawn',
      'run_cancelling',
      'run_result',
      'run_resumed',
      'task_attempt_failed',
      'task_completed',
      'task_failed',
      'task_skipped',
      'task_started',
      'tool_called',
    ])
    expect([findKeySubject(called), findKeySubject(failed)]).toEqual(['tool', 'failed'])
    expect(findKeySubject(event('run_result', { status: 'FAILED' }))).toBe('failed')
  })

  it('Key events can be stepped through one by one', () => {
    const forth = [1]
    for (let count = findNextStep(log, 1); count !== undefined; count = findNextStep(log, count)) {
      forth.push(count)
    }
    expect(forth).toEqual([1, 2, 5, 7])
    const back = [8]
    while (back.at(-1) !== 1) back.push(findPreviousStep(log, back.at(-1) ?? 1))
    expect(back).toEqual([8, 7, 5, 2, 1])
  })

  it('Key events have a label with their tool or task', () => {
    const wait = { kind: 'EVENT', toolName: 'waitFor', taskName: 'pay' }
    const waiting = event('review_requested', wait)
    expect([called, started, token, waiting].map(formatEventLabel)).toEqual([
      'Tool called: search',
      'Task started: research',
      'Token',
      'Wait started: pay',
    ])
  })
})

describe('computeMarks', () => {
  it('computeMarks places marks at their events', () => {
    expect(computeMarks(log, 8)).toEqual(
      new Map([
        ['task', [Math.round(SLOTS / 7)]],
        ['tool', [Math.round((SLOTS * 4) / 7)]],
        ['failed', [Math.round((SLOTS * 6) / 7)]],
      ]),
    )
  })

  it('computeMarks omits events after the end of the rail', () => {
    expect([...computeMarks(log, 4).keys()]).toEqual(['task'])
    expect(computeMarks([started], 1)).toEqual(new Map([['task', [0]]]))
    expect(computeMarks([], 0)).toEqual(new Map())
  })

  it('computeMarks keeps one mark per place, preferring failures', () => {
    const many = Array.from({ length: 10_000 }, (_, at) => (at === 5_000 ? failed : called))
    const marks = computeMarks(many, many.length)
    expect([...marks.values()].flat()).toHaveLength(SLOTS + 1)
    expect(marks.get('failed')).toEqual([SLOTS / 2])
  })
})
