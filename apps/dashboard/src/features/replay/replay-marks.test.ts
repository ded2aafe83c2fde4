import { RUN_EVENT_TYPES, type LoggedRunEvent } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { eventLabel, marksOf, matterOf, nextStep, PLACES, previousStep } from './replay-marks.ts'

function event(type: LoggedRunEvent['type'], fields: object = {}): LoggedRunEvent {
  // NOTE: these functions read no other fields.
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

describe('the events that matter', () => {
  it('are those of tasks, tools, reviews and steering', () => {
    const mattering = RUN_EVENT_TYPES.filter((type) => matterOf(event(type)) !== undefined)
    expect(mattering.toSorted()).toEqual([
      'directive_active',
      'directive_delivered',
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
    expect([matterOf(called), matterOf(failed)]).toEqual(['tool', 'failed'])
    expect(matterOf(event('run_result', { status: 'FAILED' }))).toBe('failed')
  })

  it('are stepped to, one after the other', () => {
    const forth = [1]
    for (let count = nextStep(log, 1); count !== undefined; count = nextStep(log, count)) {
      forth.push(count)
    }
    expect(forth).toEqual([1, 2, 5, 7])
    const back = [8]
    while (back.at(-1) !== 1) back.push(previousStep(log, back.at(-1) ?? 1))
    expect(back).toEqual([8, 7, 5, 2, 1])
  })

  it('have a label with what they are about', () => {
    expect([called, started, token].map(eventLabel)).toEqual([
      'Tool called: search',
      'Task started: research',
      'Token',
    ])
  })
})

describe('the marks of a rail', () => {
  it('are where their events are', () => {
    expect(marksOf(log, 8)).toEqual(
      new Map([
        ['task', [Math.round(PLACES / 7)]],
        ['tool', [Math.round((PLACES * 4) / 7)]],
        ['failed', [Math.round((PLACES * 6) / 7)]],
      ]),
    )
  })

  it('leave out what is after the end of the rail', () => {
    expect([...marksOf(log, 4).keys()]).toEqual(['task'])
    expect(marksOf([started], 1)).toEqual(new Map([['task', [0]]]))
    expect(marksOf([], 0)).toEqual(new Map())
  })

  it('are one a place, and what failed wins', () => {
    const many = Array.from({ length: 10_000 }, (_, at) => (at === 5_000 ? failed : called))
    const marks = marksOf(many, many.length)
    expect([...marks.values()].flat()).toHaveLength(PLACES + 1)
    expect(marks.get('failed')).toEqual([PLACES / 2])
  })
})
