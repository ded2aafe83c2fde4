import { runStateAfter } from '@tutti/protocol'
import type { TaskState } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { eventOf, startOfRun } from '../../../../../packages/protocol/test/run-events.ts'
import { createRunLog, appendEvents, type FollowedLog } from '../../api/run-log.ts'
import { buildAttempt } from '../../api/run-entries.ts'
import { extendHistory, NO_HISTORY, type RunHistory } from './history.ts'
import { buildTimeline, type TimelineModel } from './timeline-model.ts'

import type { LoggedRunEvent, RunEvent } from '@tutti/protocol'

const START = Date.parse('2025-03-15T10:30:00.000Z')
const at = (ms: number): string => new Date(START + ms).toISOString()

/** Random numbers, the same for the same seed. */
function numbers(seed: number): (most: number) => number {
  let state = seed
  return (most) => {
    state = (state * 48_271) % 2_147_483_647
    return state % most
  }
}

/** A turn with failures, calls and agents; the work can be interrupted. */
function turn(iterationIndex: number, attempt: number, next: (most: number) => number): RunEvent[] {
  const clock = (attempt * 10 + iterationIndex) * 1_000
  const of = { attempt, iterationIndex }
  const id = `call-${iterationIndex}`
  const agent = { attempt, toolCallId: id, retry_index: 0 }
  return [
    eventOf('llm_iteration_started', { ...of, startedAt: at(clock + next(300)) }),
    ...(next(3) === 0
      ? [
          eventOf('llm_iteration_failed', { ...of, failedAt: at(clock + 320), latencyMs: 90 }),
          eventOf('llm_iteration_started', { ...of, startedAt: at(clock + 340) }),
        ]
      : []),
    ...(next(9) === 0
      ? []
      : [
          eventOf('llm_iteration_completed', {
            ...of,
            toolRequests: [{ id, name: 'web_search', arguments: '{}' }],
            completedAt: at(clock + 400),
          }),
          ...(next(3) === 0
            ? [
                eventOf('agent_tool_invoked', { ...agent, timestamp_ms: START + clock + 410 }),
                eventOf('agent_tool_completed', { ...agent, timestamp_ms: START + clock + 500 }),
              ]
            : []),
          eventOf('tool_called', { ...of, toolCallId: id, completedAt: at(clock + 600) }),
        ]),
  ]
}

function randomRun(seed: number): readonly LoggedRunEvent[] {
  const next = numbers(seed)
  const events: RunEvent[] = startOfRun()
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    if (attempt > 1) events.push(eventOf('task_started', { attempt, startedAt: at(20_000) }))
    for (let index = 0; index < 4; index += 1) events.push(...turn(index, attempt, next))
    if (next(3) === 0) events.push(eventOf('run_resumed', { resumedAt: at(attempt * 15_000) }))
    // An interrupted process does not report that its attempt failed.
    if (next(2) === 0) {
      events.push(
        eventOf('task_attempt_failed', { attempt, failedAt: at(19_000), willRetry: true }),
      )
    }
  }
  events.push(eventOf('task_completed', { attempt: 2, completedAt: at(40_000) }))
  return events.map((event, seq) => ({ ...event, runId: 'r', seq, id: `r:${seq}` }))
}

interface Shown {
  readonly log: FollowedLog
  readonly history: RunHistory
  readonly model: TimelineModel
}

/** The states of a run after each of its events. */
function* shown(events: readonly LoggedRunEvent[]): Generator<Shown> {
  let log = createRunLog()
  let history = NO_HISTORY
  let model: TimelineModel | undefined
  for (const event of events) {
    log = appendEvents(log, [event])
    history = extendHistory(history, log)
    model = buildTimeline(log.state, { history, before: model })
    yield { log, history, model }
  }
}

const notesIn = (model: TimelineModel) => model.rows.flatMap(({ lanes }) => lanes.flat())

describe('[DASH-N4] the notes of an active run', () => {
  it('The notes of an active run equal those of a run that is read at once, after each event', () => {
    for (let seed = 1; seed <= 20; seed += 1) {
      for (const { log, history, model } of shown(randomRun(seed))) {
        // A copy is not cached.
        const copy = structuredClone({ state: log.state, history })
        expect(model, `seed ${seed}, ${log.events.length} events`).toEqual(
          buildTimeline(copy.state, { history: copy.history }),
        )
      }
    }
  })

  it('The notes of an active run equal those of an earlier position, after each event', () => {
    const events = randomRun(3)
    const moments = [...shown(events)]
    for (const { log, model } of moments.toReversed()) {
      // A past attempt is read from its log and has another history.
      const history = extendHistory(NO_HISTORY, log)
      expect(buildTimeline(log.state, { history })).toEqual(model)
    }
  })

  it('The notes of an active run change when the same turns are read with other input', () => {
    const open = turn(0, 1, numbers(5)).slice(0, 1)
    const [task] = runStateAfter([...startOfRun(), ...open, ...turn(1, 1, numbers(5))]).tasks
    if (task === undefined) return expect.fail('There is no task')
    const ended: TaskState = { ...task, status: 'FAILED' }
    const early: TaskState = { ...ended, completedAt: at(30_000) }
    const lights = [
      [task, { isPast: false }],
      [ended, { isPast: false }],
      [early, { isPast: false }],
      [{ ...ended, completedAt: at(50_000) }, { isPast: false }],
      [{ ...early, name: 'other' }, { isPast: false }],
      [{ ...early, name: 'other' }, { isPast: true }],
      [early, { isPast: true, leastMs: START + 10_000 }],
    ] as const
    for (const [shownTask, light] of [...lights, ...lights.toReversed()]) {
      const read = buildAttempt(shownTask, light)
      expect(read).toEqual(buildAttempt(structuredClone(shownTask), light))
    }
  })

  it('The notes of an active run stay the same objects where nothing has changed', () => {
    const next = numbers(5)
    const events = [...startOfRun(), ...turn(0, 1, next), ...turn(1, 1, next), ...turn(2, 1, next)]
    const moments = [...shown(events.map((event, seq) => ({ ...event, runId: 'r', seq, id: 'e' })))]
    const [before, after] = moments.slice(-2).map(({ model }) => notesIn(model))
    const kept = after?.filter(({ target }) => target?.iterationIndex !== 2) ?? []
    expect(kept.length).toBeGreaterThanOrEqual(4)
    for (const note of kept) expect(before).toContain(note)
  })
})
