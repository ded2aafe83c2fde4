import { describe, expect, it } from 'vitest'

import { collectAttempts } from './attempts.ts'
import { buildTaskTrace } from './task-trace.ts'

import type { LoggedRunEvent } from '@tutti/protocol'
import type { TaskTrace } from '@tutti/protocol/internal'

const START = Date.parse('2026-01-01T00:00:00.000Z')
const iso = (ms: number): string => new Date(START + ms).toISOString()

const lead = { taskName: 'lead', taskIndex: 1, attempt: 1, agentRole: 'Lead', taskDescription: '' }
const worker = { ...lead, taskName: 'worker', taskIndex: 2, agentRole: 'Worker' }
const ids = { ...lead, delegationId: 'd', workerTask: 'worker', depth: 1 }

/** Returns the delegation of a lead whose worker worked from 100 to 400, as seen at 900. */
function delegationAfter(
  ...events: readonly object[]
): TaskTrace['delegations'][number] | undefined {
  const given = [
    { type: 'task_started', ...lead, startedAt: iso(0) },
    { type: 'task_input', ...lead, sentAt: iso(10), toolNames: [] },
    ...events,
  ]
  // NOTE: each event has only the fields that are read.
  const logged = given.map(
    (event, seq) => ({ ...event, runId: 'r', seq, id: `r:${seq}` }) as LoggedRunEvent,
  )
  const attempts = collectAttempts(logged)
  const [first] = attempts
  const lastAttempts = new Map(attempts.map((one) => [one.started.taskName, one]))
  const now = START + 900
  return first === undefined
    ? undefined
    : buildTaskTrace(first, { captureMode: 'STANDARD', lastAttempts, shares: undefined, now })
        .delegations[0]
}

const work = [
  { type: 'task_started', ...worker, startedAt: iso(100) },
  { type: 'task_failed', ...worker, failedAt: iso(400), durationMs: 300 },
]
const began = { type: 'delegation_started', ...ids }
const completed = { type: 'delegation_completed', ...ids, durationMs: 350 }
const failed = { type: 'delegation_failed', ...ids }

describe('the span of a delegation', () => {
  it.each([
    ['was completed', { ...completed, completedAt: iso(450) }, 'PT0.35S'],
    ['failed', { ...failed, failedAt: iso(450) }, 'PT0.36S'],
  ])(
    'The span of a delegation that %s comes from the timestamps of its events',
    (_, end, duration) => {
      expect(delegationAfter({ ...began, startedAt: iso(90) }, ...work, end)).toMatchObject({
        startedAt: iso(90),
        completedAt: iso(450),
        duration,
      })
    },
  )

  it('The span of a delegation lasts until its worker ends, or until now, when it has no end', () => {
    const start = { ...began, startedAt: iso(90) }
    expect(delegationAfter(start, ...work)).toMatchObject({ completedAt: iso(400) })
    expect(delegationAfter(start, ...work.slice(0, 1))).toMatchObject({ completedAt: iso(900) })
    expect(delegationAfter(start)).toMatchObject({ startedAt: iso(90), completedAt: iso(900) })
  })

  it('The span of a delegation does not end before it starts when the clock was set back', () => {
    const end = { ...failed, failedAt: iso(50) }
    expect(delegationAfter({ ...began, startedAt: iso(90) }, ...work, end)).toMatchObject({
      startedAt: iso(90),
      completedAt: iso(90),
      duration: 'PT0S',
    })
  })
})
