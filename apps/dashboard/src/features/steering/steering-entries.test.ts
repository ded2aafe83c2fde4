import { runStateAfter, type LoggedRunEvent } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { createRunLog, appendEvents } from '../../api/run-log.ts'
import { listSteeringActs, type SteeringAct } from './steering-entries.ts'

const START = Date.parse('2026-01-01T00:00:00.000Z')

function at(ms: number): string {
  return new Date(START + ms).toISOString()
}

/** Events in order, with their numbers. */
function logged(events: readonly object[]): readonly LoggedRunEvent[] {
  // NOTE: these types with the fields that the state and the acts read.
  return events.map((event, seq) => ({
    ...event,
    runId: 'r',
    seq,
    id: `r:${seq}`,
  })) as unknown as readonly LoggedRunEvent[]
}

const QUEUED = { type: 'run_queued', queuedAt: at(0), ensemble: 'e', inputs: {}, tags: {} }
const TASK = { taskName: 'a', taskIndex: 1, attempt: 1, agentRole: 'A', taskDescription: 'Do' }
const BEGUN = [
  QUEUED,
  {
    type: 'ensemble_started',
    startedAt: at(0),
    tasks: ['a', 'b'].map((name) => ({ name, description: 'Do', agentRole: 'A', context: [] })),
    outputTask: 'b',
  },
  { type: 'task_started', ...TASK, startedAt: at(1_000) },
]
const GIVEN = {
  type: 'directive_active',
  activeAt: at(1_000),
  directiveId: 'd',
  content: 'Be short',
  from: 'desk',
  actor: 'clara',
  to: 'a',
  priority: 'HIGH',
  expiresAt: at(60_000),
}
const SWITCHED = {
  type: 'model_switched',
  model: 'large',
  previousModel: 'small',
  switchedAt: at(3_000),
  actor: 'otto',
}

function call(model: string, ms: number, change: object = {}): object {
  return {
    type: 'llm_iteration_started',
    ...TASK,
    iterationIndex: 0,
    messages: [],
    totalMessageCount: 0,
    model,
    startedAt: at(ms),
    ...change,
  }
}

function acts(events: readonly object[], until?: number): readonly SteeringAct[] {
  const log = appendEvents(createRunLog(), logged(events))
  return listSteeringActs(log.state, log, until)
}

describe('listSteeringActs', () => {
  it('[DASH-E1] The steering history reports who sent a directive, and the delay of each delivery', () => {
    const delivered = {
      type: 'directive_delivered',
      directiveId: 'd',
      ...TASK,
      iterationIndex: 2,
      deliveredAt: at(4_200),
    }
    expect(acts([...BEGUN, GIVEN, delivered])).toMatchObject([
      {
        kind: 'directive',
        by: 'clara',
        at: START + 1_000,
        to: 'a',
        priority: 'HIGH',
        content: 'Be short',
        arrivals: [{ taskName: 'a', iterationIndex: 2, at: START + 4_200, afterMs: 3_200 }],
      },
    ])
    expect(acts([...BEGUN, GIVEN])).toMatchObject([{ arrivals: [] }])
    expect(acts([...BEGUN, { ...GIVEN, activeAt: at(4_000) }, delivered])).toMatchObject([
      { at: START + 4_000, arrivals: [{ at: START + 4_200, afterMs: 200 }] },
    ])
  })

  it('[DASH-E1] The steering history reports the contents of a file, which lacks actors and most times', () => {
    const events = logged([...BEGUN, { ...GIVEN, actor: undefined }, SWITCHED])
    const state = runStateAfter([
      ...events,
      ...logged([{ type: 'run_cancelling', mode: 'abort', cause: 'SERVER', requestedAt: at(1) }]),
    ])
    const known = listSteeringActs(state)
    expect(known.map(({ kind, at: when }) => [kind, when])).toEqual([
      ['directive', START + 1_000],
      ['switch', undefined],
      ['cancel', undefined],
    ])
    expect(known).toMatchObject([{ by: 'desk' }, { model: 'large' }, { mode: 'abort' }])
    const timed = runStateAfter(logged([...BEGUN, { ...GIVEN, activeAt: at(4_000) }]))
    expect(listSteeringActs(timed)).toMatchObject([{ by: 'clara', at: START + 4_000 }])
  })

  it('listSteeringActs reports the first call after a switch, and its delay', () => {
    const [act] = acts([...BEGUN, call('large', 2_000), SWITCHED, call('large', 5_500)])
    expect(act).toMatchObject({
      kind: 'switch',
      by: 'otto',
      previousModel: 'small',
      at: START + 3_000,
      firstCall: { taskName: 'a', iterationIndex: 0, at: START + 5_500 },
    })
  })

  it('listSteeringActs ignores calls of unaffected tasks, and calls after a later switch', () => {
    const ofB = { ...SWITCHED, taskName: 'b' }
    const back = { ...SWITCHED, model: 'small', switchedAt: at(6_000) }
    const first = (events: readonly object[]): unknown => {
      const act = acts([...BEGUN, ...events])[0]
      return act?.kind === 'switch' ? act.firstCall : act
    }
    expect(first([ofB, call('large', 5_000)])).toBeUndefined()
    expect(first([SWITCHED, { ...ofB, taskName: 'a' }, call('large', 5_000)])).toBeUndefined()
    expect(first([SWITCHED, call('scripted:large', 5_000)])).toMatchObject({
      model: 'scripted:large',
    })
    expect(first([SWITCHED, back, call('large', 7_000)])).toBeUndefined()
    expect(first([{ ...SWITCHED, taskName: 'a' }, back, call('small', 7_000)])).toBeUndefined()
    expect(
      first([ofB, { ...back, taskName: 'a' }, call('large', 7_000, { taskName: 'b' })]),
    ).toEqual({
      taskName: 'b',
      attempt: 1,
      iterationIndex: 0,
      model: 'large',
      at: START + 7_000,
    })
  })

  it('listSteeringActs reports when the run stopped after each cancel, or that it ended anyway', () => {
    const ask = (mode: string, ms: number): object => ({
      type: 'run_cancelling',
      mode,
      requestedAt: at(ms),
      actor: 'clara',
    })
    const asked = [...BEGUN, ask('boundary', 2_000), ask('abort', 5_000)]
    expect(acts(asked)).toMatchObject([
      { mode: 'boundary', isOver: false },
      { mode: 'abort', isOver: false, stoppedAt: undefined },
    ])
    const ended = (status: string): readonly object[] => [
      ...asked,
      { type: 'ensemble_completed', completedAt: at(9_000), durationMs: 9_000 },
      { type: 'run_result', status, outputs: [], durationMs: 9_000 },
    ]
    expect(acts(ended('CANCELLED'))[1]).toMatchObject({
      at: START + 5_000,
      by: 'clara',
      isOver: true,
      stoppedAt: START + 9_000,
      endedOtherwise: false,
    })
    expect(acts(ended('COMPLETED'))[0]).toMatchObject({ isOver: true, endedOtherwise: true })
  })

  it('listSteeringActs reports closed reviews in order of time, without open ones', () => {
    const ask = (reviewId: string): object => ({
      type: 'review_requested',
      reviewId,
      ...TASK,
      taskOutput: '',
      kind: 'TASK_OUTPUT',
      timing: 'AFTER_EXECUTION',
      timeoutMs: 4_000,
      onTimeout: 'FAIL',
      requestedAt: at(1_500),
    })
    const decided = {
      type: 'review_decided',
      reviewId: 'y',
      decision: 'CONTINUE',
      decidedAt: at(9_000),
    }
    const silent = { type: 'review_timed_out', reviewId: 'x', action: 'FAIL' }
    const all = acts([...BEGUN, ask('x'), ask('y'), ask('open'), SWITCHED, silent, decided])
    expect(all.map(({ key }) => key)).toEqual(['r:6', 'x', 'y'])
    const state = runStateAfter(logged([...BEGUN, ask('x'), silent]))
    expect(listSteeringActs(state)[0]?.at).toBe(START + 5_500)
  })

  it('[DASH-E2] listSteeringActs omits everything after the shown position', () => {
    const later = { ...SWITCHED, model: 'huge', switchedAt: at(8_000) }
    const events = [...BEGUN, SWITCHED, later]
    expect(acts(events, START + 5_000)).toHaveLength(1)
    expect(acts(events)).toHaveLength(2)
  })
})
