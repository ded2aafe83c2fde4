import { describe, expect, it } from 'vitest'
import { eventOf, startOfRun, WRITER } from '../../test/run-events.ts'
import { CALLER_REVIEW_KINDS } from '../schemas/enums.ts'
import type { RunEvent } from '../schemas/run-event.ts'
import { runStateAfter } from './apply-run-event.ts'

const statusAfter = (...events: readonly RunEvent[]) => runStateAfter(events).status
const gate = eventOf('review_requested')
const gateOfWriter = eventOf('review_requested', { ...WRITER, reviewId: 'rev-2' })
const delegated = eventOf('delegation_started')
const workerStarted = eventOf('task_started', { taskName: 'researcher/1', taskIndex: 3 })
const gateOfWorker = eventOf('review_requested', { taskName: 'researcher/1', reviewId: 'rev-3' })

describe('deriveStatus', () => {
  it('deriveStatus returns ACCEPTED until the run begins or another process resumes it', () => {
    expect(statusAfter()).toBe('ACCEPTED')
    expect(statusAfter(eventOf('run_queued'))).toBe('ACCEPTED')
    expect(statusAfter(eventOf('run_queued'), eventOf('ensemble_started'))).toBe('RUNNING')
    expect(statusAfter(eventOf('run_queued'), eventOf('run_resumed'))).toBe('RUNNING')
  })

  it('deriveStatus returns CANCELLING after a cancel was requested, also in another process', () => {
    const cancelling = [...startOfRun(), gate, eventOf('run_cancelling')]
    expect(statusAfter(...cancelling)).toBe('CANCELLING')
    expect(statusAfter(...cancelling, eventOf('run_resumed'))).toBe('CANCELLING')
  })

  it('deriveStatus returns the final status of run_result', () => {
    for (const status of ['COMPLETED', 'FAILED', 'CANCELLED'] as const) {
      const ended = [...startOfRun(), gate, eventOf('run_result', { status })]
      expect(statusAfter(...ended)).toBe(status)
      expect(statusAfter(...ended, eventOf('review_withdrawn'))).toBe(status)
    }
    expect(statusAfter(...startOfRun(), eventOf('ensemble_completed'))).toBe('RUNNING')
  })
})

describe('WAITING_REVIEW', () => {
  it('WAITING_REVIEW is returned when every running task waits for a review', () => {
    const both = [...startOfRun(), eventOf('task_started', WRITER)]
    expect(statusAfter(...startOfRun(), gate)).toBe('WAITING_REVIEW')
    expect(statusAfter(...both, gate)).toBe('RUNNING')
    expect(statusAfter(...both, gate, gateOfWriter)).toBe('WAITING_REVIEW')
    expect(statusAfter(...both, gate, gateOfWriter, eventOf('review_decided'))).toBe('RUNNING')
  })

  it('WAITING_REVIEW is returned when no task runs and a pending task waits for its review', () => {
    expect(statusAfter(eventOf('ensemble_started'), gate)).toBe('WAITING_REVIEW')
  })

  it('WAITING_REVIEW is not returned without an open review', () => {
    expect(statusAfter(eventOf('ensemble_started'))).toBe('RUNNING')
    expect(statusAfter(...startOfRun(), gate, eventOf('review_timed_out'))).toBe('RUNNING')
  })

  it('WAITING_REVIEW is not returned while a task is between two attempts', () => {
    const failed = eventOf('task_attempt_failed')
    const final = eventOf('task_failed')
    expect(statusAfter(...startOfRun(), failed, gateOfWriter)).toBe('RUNNING')
    expect(statusAfter(...startOfRun(), final, gateOfWriter)).toBe('WAITING_REVIEW')
    const skipped = eventOf('task_skipped', { taskName: 'researcher' })
    expect(statusAfter(...startOfRun(), failed, skipped, gateOfWriter)).toBe('WAITING_REVIEW')
  })

  it('WAITING_REVIEW is returned when a task waits for a worker that waits for a review', () => {
    const working = [...startOfRun(), delegated, workerStarted]
    expect(statusAfter(...working)).toBe('RUNNING')
    expect(statusAfter(...working, gateOfWorker)).toBe('WAITING_REVIEW')
    expect(statusAfter(...startOfRun(), delegated, gateOfWorker)).toBe('WAITING_REVIEW')
  })

  it('WAITING_REVIEW is not returned when another worker runs or is about to', () => {
    const second = eventOf('delegation_started', {
      delegationId: 'del-2',
      workerTask: 'researcher/2',
      workerTaskIndex: 4,
    })
    const working = [...startOfRun(), delegated, workerStarted, gateOfWorker, second]
    const secondStarted = eventOf('task_started', { taskName: 'researcher/2', taskIndex: 4 })
    expect(statusAfter(...working)).toBe('RUNNING')
    expect(statusAfter(...working, secondStarted)).toBe('RUNNING')
  })

  it('WAITING_REVIEW is returned when the remaining worker waits, at any depth', () => {
    const deeper = eventOf('delegation_started', {
      delegationId: 'del-2',
      taskName: 'researcher/1',
      workerTask: 'researcher/1/1',
      workerTaskIndex: 4,
      depth: 2,
    })
    const gateBelow = eventOf('review_requested', { taskName: 'researcher/1/1' })
    const working = [...startOfRun(), delegated, workerStarted, deeper]
    expect(statusAfter(...working, gateBelow)).toBe('WAITING_REVIEW')
    const next = { delegationId: 'del-3', workerTask: 'researcher/2', workerTaskIndex: 4 }
    const one = [delegated, eventOf('delegation_completed'), eventOf('delegation_started', next)]
    const gateOfNext = eventOf('review_requested', { taskName: 'researcher/2' })
    expect(statusAfter(...startOfRun(), ...one, gateOfNext)).toBe('WAITING_REVIEW')
  })

  it('WAITING_REVIEW is not returned when the worker is done and its task continues', () => {
    const working = [...startOfRun(), delegated, eventOf('delegation_completed')]
    expect(statusAfter(...working, gateOfWriter)).toBe('RUNNING')
  })
})

describe('WAITING', () => {
  const wait = eventOf('review_requested', { kind: 'EVENT' })
  const both = [...startOfRun(), eventOf('task_started', WRITER)]

  it('WAITING is returned when every running task waits for events or times', () => {
    expect(statusAfter(...startOfRun(), wait)).toBe('WAITING')
    expect(statusAfter(...both, wait)).toBe('RUNNING')
    expect(statusAfter(...startOfRun(), wait, eventOf('review_decided'))).toBe('RUNNING')
    expect(statusAfter(...startOfRun(), wait, eventOf('run_cancelling'))).toBe('CANCELLING')
  })

  it.each(CALLER_REVIEW_KINDS)(
    'WAITING is not returned while a review of the kind %s is open',
    (kind) => {
      const asked = eventOf('review_requested', { ...WRITER, reviewId: 'rev-2', kind })
      expect(statusAfter(...both, wait, asked)).toBe('WAITING_REVIEW')
      const decided = eventOf('review_decided', { reviewId: 'rev-2' })
      const ended = eventOf('task_completed', WRITER)
      expect(statusAfter(...both, wait, asked, decided, ended)).toBe('WAITING')
    },
  )
})
