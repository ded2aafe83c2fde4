import { describe, expect, it } from 'vitest'
import { eventOf, startOfRun } from '../../test/run-events.ts'
import { RUN_EVENT_TYPES, type RunEvent } from '../schemas/run-event.ts'
import { applyRunEvent, RunStateFold, runStateAfter } from './apply-run-event.ts'
import { emptyRunState, type RunState } from './run-state.ts'

const everyEvent = RUN_EVENT_TYPES.map((type) => eventOf(type))
const working = [...startOfRun(), eventOf('llm_iteration_started', { iterationIndex: 1 })]

describe('applyRunEvent', () => {
  it('[PROTO-S1] applyRunEvent does not change earlier states', () => {
    const states: RunState[] = [emptyRunState()]
    for (const event of [...working, ...everyEvent]) {
      const state = deepFrozen(states.at(-1) ?? emptyRunState())
      states.push(applyRunEvent(state, event))
    }
    expect(states).toHaveLength(1 + working.length + everyEvent.length)
  })

  it('[PROTO-S1] applyRunEvent returns the same state for the same events, one by one or all at once', () => {
    const events = [...working, ...everyEvent]
    let state = emptyRunState()
    for (const event of events) state = applyRunEvent(state, event)
    expect(state).toEqual(runStateAfter(events))
    expect(JSON.parse(JSON.stringify(state))).toEqual(state)
  })

  it('[PROTO-S2] applyRunEvent shares everything that a token does not change with the previous state', () => {
    const before = runStateAfter(working)
    const state = applyRunEvent(before, eventOf('token'))
    const { tasks, ...rest } = before
    const { tasks: changed, ...others } = state
    for (const [key, value] of Object.entries(rest)) expect(Reflect.get(others, key)).toBe(value)
    expect(changed[1]).toBe(tasks[1])
    expect(changed[0]?.turns[0]?.messages).toBe(tasks[0]?.turns[0]?.messages)
  })

  it('[PROTO-S2] applyRunEvent shares the totals when usage has not changed', () => {
    const before = runStateAfter([...working, eventOf('llm_iteration_completed')])
    expect(before.totals).toEqual({ totalTokens: 853, totalToolCalls: 0, costUsd: 0.0031 })
    expect(applyRunEvent(before, eventOf('directive_active')).totals).toBe(before.totals)
  })

  it('applyRunEvent updates the totals with each of their parts', () => {
    const totalsAfter = (...events: readonly RunEvent[]) =>
      runStateAfter([...startOfRun(), ...events]).totals
    const turn = { iterationIndex: 0, costUsd: undefined }
    const free = eventOf('llm_iteration_completed', turn)
    const next = eventOf('llm_iteration_completed', { ...turn, iterationIndex: 1 })
    expect(totalsAfter(free)).toEqual({ totalTokens: 853, totalToolCalls: 0 })
    expect(totalsAfter(free, next)).toEqual({ totalTokens: 1706, totalToolCalls: 0 })
    expect(totalsAfter(free, eventOf('tool_called', { toolCallId: 'call-1' }))).toEqual({
      totalTokens: 853,
      totalToolCalls: 1,
    })
    const flat = eventOf('llm_iteration_completed', { inputTokens: 0, outputTokens: 0, costUsd: 1 })
    expect(totalsAfter(flat)).toEqual({ totalTokens: 0, totalToolCalls: 0, costUsd: 1 })
  })

  it('[PROTO-S3] applyRunEvent returns the same state for an event of an unknown type', () => {
    const state = runStateAfter(working)
    const newer: RunEvent = JSON.parse('{"type":"constructor","taskName":"researcher"}')
    expect(applyRunEvent(state, newer)).toBe(state)
  })

  it('[PROTO-S3] applyRunEvent accepts every event of an unknown run', () => {
    for (const event of everyEvent) {
      const state = applyRunEvent(emptyRunState(), event)
      expect(JSON.parse(JSON.stringify(state)), event.type).toEqual(state)
    }
  })

  it('[PROTO-S3] applyRunEvent returns the same state for an event of an unknown task, review or directive', () => {
    const state = runStateAfter([eventOf('run_queued')])
    const makes = new Set<RunEvent['type']>([
      'run_queued',
      'run_forked',
      'run_resumed',
      'run_cancelling',
      'ensemble_started',
      'task_started',
      'delegation_started',
      'delegation_completed',
      'delegation_failed',
      'review_requested',
      'directive_active',
      'file_changed',
      'ensemble_completed',
      'run_result',
    ])
    for (const event of everyEvent.filter(({ type }) => !makes.has(type))) {
      expect(applyRunEvent(state, event), event.type).toBe(state)
    }
  })

  it('[PROTO-S4] applyRunEvent counts a turn once that another process began again', () => {
    const turn = [
      eventOf('llm_iteration_started', { iterationIndex: 0 }),
      eventOf('token', { iterationIndex: 0, token: 'Searching' }),
      eventOf('llm_iteration_completed', { iterationIndex: 0 }),
    ]
    const once = runStateAfter([...startOfRun(), eventOf('run_resumed'), ...turn])
    const cut = [...startOfRun(), ...turn.slice(0, 2), eventOf('run_resumed'), ...turn]
    expect(runStateAfter(cut)).toEqual(once)
  })

  it('[PROTO-S4] applyRunEvent counts a turn once whose first model call failed, and records the failure', () => {
    const state = runStateAfter([
      ...startOfRun(),
      eventOf('llm_iteration_started'),
      eventOf('token', { iterationIndex: 0, token: 'Half' }),
      eventOf('llm_iteration_failed'),
      eventOf('llm_iteration_started'),
      eventOf('token', { iterationIndex: 0, token: 'Whole' }),
      eventOf('llm_iteration_completed'),
    ])
    expect(state.tasks[0]?.turns).toMatchObject([
      { text: 'Whole', failures: [{ retryInMs: 1000 }] },
    ])
    expect(state.totals.totalTokens).toBe(853)
  })

  it('[PROTO-S4] applyRunEvent does not count what a fork has copied', () => {
    const copied = [...startOfRun(), eventOf('llm_iteration_completed', { iterationIndex: 0 })]
    const fork = runStateAfter([...copied, eventOf('run_forked')])
    expect(fork.totals).toEqual({ totalTokens: 0, totalToolCalls: 0, costUsd: 0 })
    expect(fork.tasks[0]).toMatchObject({
      turns: [{ isCopied: true, inputTokens: 812 }],
      usage: { inputTokens: 0, outputTokens: 0 },
    })
    const next = eventOf('llm_iteration_completed', { iterationIndex: 1 })
    expect(applyRunEvent(fork, next).totals).toMatchObject({ totalTokens: 853 })
    // A fork of the fork copies both parts.
    const second = runStateAfter([...copied, eventOf('run_forked'), next, eventOf('run_forked')])
    expect(second.totals.totalTokens).toBe(0)
  })

  it('[PROTO-S5] applyRunEvent reads ten thousand tokens of one turn', () => {
    const token = eventOf('token', { token: 'word ' })
    const state = runStateAfter([...working, ...Array.from({ length: 10_000 }, () => token)])
    expect(state.tasks[0]?.turns[0]?.text).toBe('word '.repeat(10_000))
  })
})

describe('RunStateFold', () => {
  const events = [...working, ...everyEvent, ...working, ...everyEvent]

  it.each([1, 2, 7, 1_000])(
    '[PROTO-S1][PROTO-S7] RunStateFold returns the states of applyRunEvent, which never change: every %i events',
    (step) => {
      const fold = new RunStateFold()
      let expected = emptyRunState()
      for (const [at, event] of events.entries()) {
        fold.take(event)
        expected = applyRunEvent(expected, event)
        // A frozen state throws when a later event changes it.
        if (at % step === 0) expect(deepFrozen(fold.state)).toEqual(expected)
      }
      expect(fold.state).toEqual(expected)
    },
  )

  it('[PROTO-S2] RunStateFold returns the same state until an event has an effect', () => {
    const fold = new RunStateFold(runStateAfter(working))
    const { state } = fold
    fold.take(eventOf('token', { taskName: 'nobody' }))
    expect(fold.state).toBe(state)
    fold.take(eventOf('token'))
    expect(fold.state).not.toBe(state)
    expect(fold.state.tasks[1]).toBe(state.tasks[1])
  })

  it('RunStateFold continues any state, also one that others continue', () => {
    const start = runStateAfter(working)
    const worker = (name: string, workerTaskIndex: number) =>
      eventOf('delegation_started', { delegationId: name, workerTask: name, workerTaskIndex })
    const [one, other] = [new RunStateFold(start), new RunStateFold(start)]
    one.take(worker('a', 3))
    other.take(worker('b', 3))
    other.take(worker('a', 4))
    one.take(worker('b', 4))
    one.take(worker('a', 3))
    const names = ({ state }: RunStateFold) => state.tasks.map(({ name }) => name).slice(2)
    expect([names(one), names(other)]).toEqual([
      ['a', 'b'],
      ['b', 'a'],
    ])
    expect(one.findTask('a')).toMatchObject({ index: 3 })
    expect(other.findTask('a')).toMatchObject({ index: 4 })
    expect(start.tasks).toHaveLength(2)
  })

  it('[PROTO-S7] RunStateFold reads the list of tasks once, however many events follow', () => {
    const { tasks, ...rest } = runStateAfter(
      Array.from({ length: 1_000 }, (_, at) =>
        eventOf('task_started', { taskName: `task-${at}`, taskIndex: at + 1 }),
      ),
    )
    let reads = 0
    const counted = new Proxy(tasks, {
      get(list, key) {
        reads += 1
        return Reflect.get(list, key)
      },
    })
    const fold = new RunStateFold({ ...rest, tasks: counted })
    const take = (count: number): void => {
      for (let at = 0; at < count; at += 1) {
        fold.take(eventOf('task_completed', { taskName: `task-${at % 1_000}` }))
      }
    }
    take(1)
    const first = reads
    take(3_000)
    expect(reads).toBe(first)
    expect(fold.state.tasks.every(({ status }) => status === 'COMPLETED')).toBe(true)
  })

  it('RunStateFold finds tasks, reviews and facts as of the newest event', () => {
    const fold = new RunStateFold()
    for (const event of [...working, eventOf('review_requested')]) fold.take(event)
    const { state } = fold
    expect(fold.findTask('researcher')).toBe(state.tasks[0])
    expect(fold.findTask('nobody')).toBeUndefined()
    expect(fold.findReview(state.reviews[0]?.reviewId ?? '')).toBe(state.reviews[0])
    expect(fold.findReview('none')).toBeUndefined()
    fold.take(eventOf('ensemble_completed', { durationMs: 7 }))
    expect(fold.facts.durationMs).toBe(7)
  })
})

describe('runStateAfter', () => {
  it('runStateAfter returns the empty state without events', () => {
    expect(runStateAfter([])).toEqual(emptyRunState())
  })

  it('runStateAfter reads events with and without their position in the log', () => {
    const events = [...working, eventOf('review_requested'), eventOf('file_changed')]
    const logged = events.map((event, seq) => ({ ...event, runId: 'r', seq, id: `r:${seq}` }))
    expect(runStateAfter(logged)).toEqual(runStateAfter(events))
  })
})

function deepFrozen<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const part of Object.values(value)) deepFrozen(part)
  }
  return value
}
