import { runStateAfter, type LoggedRunEvent, type RunState } from '@tutti/protocol'
import type { TaskState } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { createRunLog, appendEvents, type FollowedLog } from '../../api/run-log.ts'
import { extendHistory, NO_HISTORY } from './history.ts'
import { buildTimeline, type TimelineModel, type Note, type TimelineRow } from './timeline-model.ts'

const START = Date.parse('2026-01-01T10:00:00.000Z')
/** An instant, in milliseconds from the start of the run. */
const at = (ms: number): string => new Date(START + ms).toISOString()

type Event = Readonly<Record<string, unknown>> & { readonly type: string }

const place = (taskName: string, attempt = 1) => ({
  taskName,
  attempt,
  taskIndex: taskName.charCodeAt(0) - 96,
  agentRole: 'Worker',
})
const began = (context: Readonly<Record<string, readonly string[]>>): Event => ({
  type: 'ensemble_started',
  ensembleId: 'run-1',
  startedAt: at(0),
  totalTasks: Object.keys(context).length,
  workflow: 'PARALLEL',
  ensemble: 'band',
  tasks: Object.entries(context).map(([name, names]) => ({
    name,
    description: name,
    agentRole: 'Worker',
    context: names,
  })),
  outputTask: Object.keys(context).at(-1) ?? '',
})
const started = (name: string, ms: number, attempt = 1): Event => ({
  type: 'task_started',
  ...place(name, attempt),
  totalTasks: 1,
  taskDescription: name,
  startedAt: at(ms),
})
const asked = (name: string, iterationIndex: number, ms?: number): Event => ({
  type: 'llm_iteration_started',
  ...place(name),
  taskDescription: name,
  iterationIndex,
  messages: [],
  totalMessageCount: 0,
  model: 'm:small',
  ...(ms === undefined ? {} : { startedAt: at(ms) }),
})
const answered = (
  name: string,
  iterationIndex: number,
  {
    ms,
    latencyMs = 100,
    calls = [],
  }: { ms?: number; latencyMs?: number; calls?: readonly string[] },
): Event => ({
  type: 'llm_iteration_completed',
  ...place(name),
  taskDescription: name,
  iterationIndex,
  responseType: calls.length === 0 ? 'FINAL_ANSWER' : 'TOOL_CALLS',
  inputTokens: 10,
  outputTokens: 5,
  latencyMs,
  model: 'm:small',
  toolRequests: calls.map((id) => ({ id, name: `tool ${id}`, arguments: '{}' })),
  ...(ms === undefined ? {} : { completedAt: at(ms) }),
})
const called = (
  name: string,
  id: string,
  { ms, durationMs, ok = true, parent, turn = 0 }: CalledFields,
): Event => ({
  type: 'tool_called',
  ...place(name),
  iterationIndex: turn,
  toolName: `tool ${id}`,
  toolCallId: id,
  durationMs,
  outcome: ok ? 'SUCCESS' : 'FAILURE',
  toolArguments: '{}',
  toolResult: 'ok',
  structuredResult: null,
  ...(parent === undefined ? {} : { parentToolCallId: parent }),
  ...(ms === undefined ? {} : { completedAt: at(ms) }),
})
interface CalledFields {
  readonly ms?: number
  readonly durationMs: number
  readonly ok?: boolean
  readonly parent?: string
  readonly turn?: number
}
const failed = (name: string, ms: number, fields: object = {}): Event => ({
  type: 'task_attempt_failed',
  ...place(name),
  taskDescription: name,
  failedAt: at(ms),
  durationMs: ms,
  reason: 'No',
  code: 'MODEL_FAILED',
  willRetry: true,
  inputTokens: 0,
  outputTokens: 0,
  toolCallCount: 0,
  ...fields,
})

/** NOTE: events as in the log; omitted fields are not read. */
const logged = (events: readonly Event[]): readonly LoggedRunEvent[] =>
  events.map((event, seq) => ({ ...event, seq, id: `e${seq}`, runId: 'run-1' })) as never

function logOf(...events: readonly Event[]): FollowedLog {
  return appendEvents(createRunLog(), logged(events))
}

function modelOf(...events: readonly Event[]): TimelineModel {
  const log = logOf(...events)
  return buildTimeline(log.state, { history: extendHistory(NO_HISTORY, log) })
}

/** A span as kind, start, end (`…` while running) and status, relative to the run. */
const words = ({
  kind,
  startMs,
  endMs,
  status,
}: {
  kind: string
  startMs: number
  endMs?: number
  status: string
}): string => `${kind} ${startMs - START}-${endMs === undefined ? '…' : endMs - START} ${status}`

const rowOf = (model: TimelineModel, name: string): TimelineRow =>
  model.rows.find(({ task }) => task.name === name)!
const lanesOf = (model: TimelineModel, name: string): readonly (readonly string[])[] =>
  rowOf(model, name).lanes.map((lane) => lane.map(words))

describe('a task', () => {
  it('A task on the timeline has no span while it waits, and a running one after its start', () => {
    const model = modelOf(began({ a: [], b: ['a'] }), started('a', 10))
    expect(rowOf(model, 'a').attempts.map(words)).toEqual(['attempt 10-… running'])
    expect(rowOf(model, 'b').attempts).toEqual([])
    expect([model.startMs, model.lastMs].map((ms) => (ms ?? 0) - START)).toEqual([0, 10])
  })

  it('A task on the timeline has a separate row when it runs in parallel, in order of its index', () => {
    const model = modelOf(began({ a: [], b: [], c: [] }), started('c', 5), started('a', 6))
    expect(model.rows.map(({ task }) => task.name)).toEqual(['a', 'b', 'c'])
    expect(model.rows.flatMap(({ attempts }) => attempts.map(words))).toEqual([
      'attempt 6-… running',
      'attempt 5-… running',
    ])
  })

  it('A task on the timeline has no bar if it was skipped or never started', () => {
    const skipped = { type: 'task_skipped', ...place('b'), reason: 'a failed', skippedAt: at(50) }
    const model = modelOf(began({ a: [], b: ['a'] }), skipped)
    expect(rowOf(model, 'b').attempts).toEqual([])
  })

  it('A task on the timeline has a span for every attempt, one after another, with their work', () => {
    const next = (events: readonly Event[]): readonly Event[] =>
      events.map((event) => ({ ...event, attempt: 2 }))
    const model = modelOf(
      began({ a: [] }),
      started('a', 0),
      asked('a', 0, 0),
      answered('a', 0, { ms: 40 }),
      failed('a', 50),
      started('a', 80, 2),
      ...next([asked('a', 0, 80), answered('a', 0, { ms: 100 })]),
    )
    expect(rowOf(model, 'a').attempts.map(words)).toEqual([
      'attempt 0-50 failed',
      'attempt 80-… running',
    ])
    expect(lanesOf(model, 'a')).toEqual([['model 0-40 done', 'model 80-100 done']])
    const [past, present] = rowOf(model, 'a').lanes[0]!
    expect(past?.target).toEqual({ taskName: 'a' })
    expect(present?.target).toEqual({ taskName: 'a', iterationIndex: 0 })
  })

  it('A task on the timeline has the attempts up to the position of a replay, and no later one', () => {
    const log = logOf(began({ a: [] }), started('a', 0), failed('a', 50), started('a', 80, 2))
    const history = extendHistory(NO_HISTORY, log)
    const early = buildTimeline(runStateAfter(log.events.slice(0, 3)), { history })
    expect(early.rows[0]?.attempts.map(words)).toEqual(['attempt 0-50 failed'])
  })

  it('A task on the timeline has only the attempt of its state if there is no log', () => {
    const { state } = logOf(began({ a: [] }), started('a', 0), failed('a', 50), started('a', 80, 2))
    const model = buildTimeline(state, { history: NO_HISTORY })
    expect(model.rows[0]?.attempts.map(words)).toEqual(['attempt 80-… running'])
  })
})

describe('[DASH-N1] notes', () => {
  it('Notes on the timeline have the times of the log', () => {
    const model = modelOf(
      began({ a: [] }),
      started('a', 0),
      asked('a', 0, 10),
      answered('a', 0, { ms: 60, latencyMs: 45, calls: ['1', '2'] }),
      called('a', '1', { ms: 90, durationMs: 20 }),
      called('a', '2', { ms: 80, durationMs: 15 }),
      asked('a', 1, 95),
    )
    expect(lanesOf(model, 'a')).toEqual([
      ['model 10-60 done', 'model 95-… running'],
      ['tool 65-80 done'],
      ['tool 70-90 done'],
    ])
  })

  it('Notes on the timeline follow the previous work in earlier logs, and start the calls of a turn together', () => {
    const model = modelOf(
      began({ a: [] }),
      started('a', 5),
      asked('a', 0),
      answered('a', 0, { latencyMs: 100, calls: ['1', '2'] }),
      called('a', '1', { durationMs: 30 }),
      called('a', '2', { durationMs: 50 }),
      asked('a', 1),
      answered('a', 1, { latencyMs: 10 }),
    )
    expect(lanesOf(model, 'a')).toEqual([
      ['model 5-105 done', 'model 155-165 done'],
      ['tool 105-135 done'],
      ['tool 105-155 done'],
    ])
  })

  it('Notes on the timeline put failed calls before the one that counts', () => {
    const failure = (ms: number, fields: object) => ({
      type: 'llm_iteration_failed',
      ...place('a'),
      iterationIndex: 0,
      model: 'm:small',
      reason: 'Overloaded',
      code: 'MODEL_FAILED',
      latencyMs: 20,
      failedAt: at(ms),
      ...fields,
    })
    const events = [
      began({ a: [] }),
      started('a', 0),
      asked('a', 0, 0),
      failure(20, { retryInMs: 500 }),
      asked('a', 0, 520),
      failure(540, { nextModel: 'm:large' }),
    ]
    expect(lanesOf(modelOf(...events), 'a')[0]).toEqual([
      'model 0-20 failed',
      'model 520-540 failed',
    ])
    const more = modelOf(...events, asked('a', 0, 541), answered('a', 0, { ms: 600 }))
    expect(lanesOf(more, 'a')[0]?.at(-1)).toBe('model 541-600 done')
    const [first, , last] = rowOf(more, 'a').lanes[0]!
    expect([first?.kind === 'model' && first.failure?.reason, last?.status]).toEqual([
      'Overloaded',
      'done',
    ])
  })

  it('Notes on the timeline put steps and agents of a call below it', () => {
    const agent = (type: string, ms: number, fields: object = {}) => ({
      type,
      ...place('a'),
      iterationIndex: 0,
      toolCallId: '1',
      toolName: 'tool 1',
      agent_uri: 'a2a://x',
      retry_index: 0,
      timestamp_ms: START + ms,
      mode: 'blocking',
      protocol: 'a2a',
      ...fields,
    })
    const model = modelOf(
      began({ a: [] }),
      started('a', 0),
      asked('a', 0, 0),
      answered('a', 0, { ms: 10, calls: ['1', '2'] }),
      agent('agent_tool_invoked', 12),
      agent('agent_tool_completed', 40, { chunks_received: 1, total_turns: 1, total_cost: 0.5 }),
      called('a', '1', { ms: 50, durationMs: 39 }),
      called('a', '2.1', { ms: 30, durationMs: 15, parent: '2', ok: false }),
      called('a', '2', { ms: 45, durationMs: 34 }),
    )
    expect(lanesOf(model, 'a')).toEqual([
      ['model 0-10 done'],
      ['tool 11-50 done'],
      ['agent 12-40 done'],
      ['tool 11-45 done'],
      ['tool 15-30 failed'],
    ])
  })

  it('Notes on the timeline put a step below its call even if there is room above', () => {
    const model = modelOf(
      began({ a: [] }),
      started('a', 0),
      asked('a', 0, 0),
      answered('a', 0, { ms: 10, calls: ['1', '2'] }),
      called('a', '1', { ms: 20, durationMs: 10 }),
      called('a', '2.1', { ms: 50, durationMs: 20, parent: '2' }),
      called('a', '2', { ms: 60, durationMs: 50 }),
    )
    expect(lanesOf(model, 'a').slice(1)).toEqual([
      ['tool 10-20 done'],
      ['tool 10-60 done'],
      ['tool 30-50 done'],
    ])
  })
})

describe('[DASH-N2] a clock that was set back', () => {
  it('A clock that was set back never inverts spans or makes consecutive ones overlap', () => {
    const model = modelOf(
      began({ a: [] }),
      started('a', 1_000),
      asked('a', 0, 1_100),
      answered('a', 0, { ms: 200, calls: ['1'] }),
      called('a', '1', { ms: 150, durationMs: 100 }),
      asked('a', 1, 300),
      answered('a', 1, { ms: 400 }),
      failed('a', 500),
    )
    expect(lanesOf(model, 'a')).toEqual([
      ['model 1100-1100 done', 'model 1100-1100 done'],
      ['tool 1100-1100 done'],
    ])
    expect(rowOf(model, 'a').attempts.map(words)).toEqual(['attempt 1000-1100 failed'])
  })
})

describe('[DASH-N3] interrupted work', () => {
  it('Interrupted work ends with its attempt', () => {
    const model = modelOf(
      began({ a: [] }),
      started('a', 0),
      asked('a', 0, 0),
      answered('a', 0, { ms: 10, calls: ['1'] }),
      failed('a', 70, { code: 'CANCELLED' }),
    )
    expect(lanesOf(model, 'a')).toEqual([['model 0-10 done'], ['tool 10-70 failed']])
    expect(rowOf(model, 'a').attempts.map(words)).toEqual(['attempt 0-70 stopped'])
    const thinking = modelOf(began({ a: [] }), started('a', 0), asked('a', 0, 5), failed('a', 70))
    expect(lanesOf(thinking, 'a')[0]).toEqual(['model 5-70 failed'])
  })

  it('Interrupted work continues while the attempt does', () => {
    const model = modelOf(
      began({ a: [] }),
      started('a', 0),
      asked('a', 0, 0),
      answered('a', 0, { ms: 10, calls: ['1'] }),
    )
    expect(lanesOf(model, 'a')[1]).toEqual(['tool 10-… running'])
  })

  it('Interrupted work has an end in a file with running work in an ended task', () => {
    const state = logOf(began({ a: [] }), started('a', 0), asked('a', 0, 5)).state
    const [task] = state.tasks
    const ended: TaskState = { ...task!, status: 'COMPLETED', completedAt: at(90) }
    const model = buildTimeline({ ...state, tasks: [ended] }, { history: NO_HISTORY })
    expect(lanesOf(model, 'a')[0]).toEqual(['model 5-90 failed'])
  })
})

describe('reviews', () => {
  const opened = (fields: object = {}) => ({
    type: 'review_requested',
    ...place('a'),
    reviewId: 'rev-1',
    taskDescription: 'a',
    taskOutput: '',
    kind: 'TASK_INPUT',
    timing: 'BEFORE_EXECUTION',
    timeoutMs: 5_000,
    onTimeout: 'CONTINUE',
    requestedAt: at(20),
    ...fields,
  })
  const reviewsAfter = (...events: readonly Event[]) =>
    rowOf(modelOf(began({ a: [] }), opened(), ...events), 'a').reviews.map(words)

  it('Reviews on the timeline span the time until the decision, even before the task starts', () => {
    expect(reviewsAfter()).toEqual(['review 20-… running'])
    const decided = {
      type: 'review_decided',
      reviewId: 'rev-1',
      decision: 'CONTINUE',
      decidedAt: at(60),
    }
    expect(reviewsAfter(decided)).toEqual(['review 20-60 done'])
  })

  it('Reviews on the timeline end at their deadline, or when they are withdrawn', () => {
    const timedOut = { type: 'review_timed_out', reviewId: 'rev-1', action: 'CONTINUE' }
    expect(reviewsAfter(timedOut)).toEqual(['review 20-5020 done'])
    const withdrawn = {
      type: 'review_withdrawn',
      reviewId: 'rev-1',
      reason: 'x',
      withdrawnAt: at(30),
    }
    expect(reviewsAfter(withdrawn)).toEqual(['review 20-30 stopped'])
  })

  it('Reviews on the timeline lead to the tool call under review', () => {
    const model = modelOf(
      began({ a: [] }),
      started('a', 0),
      asked('a', 0, 0),
      answered('a', 0, { ms: 10, calls: ['1'] }),
      opened({
        kind: 'TOOL_CALL',
        timing: 'DURING_EXECUTION',
        toolName: 'tool 1',
        toolCallId: '1',
      }),
    )
    expect(rowOf(model, 'a').reviews[0]?.target).toEqual({
      taskName: 'a',
      iterationIndex: 0,
      toolCallId: '1',
    })
  })
})

describe('marks above the rows', () => {
  const events: readonly Event[] = [
    began({ a: [] }),
    started('a', 0),
    { type: 'directive_active', directiveId: 'd', content: 'Faster' },
    asked('a', 0, 10),
    {
      type: 'directive_delivered',
      directiveId: 'd',
      ...place('a'),
      iterationIndex: 0,
      deliveredAt: at(10),
    },
    { type: 'model_switched', model: 'm:large', switchedAt: at(30), actor: 'ann' },
    { type: 'run_resumed', resumedAt: at(40), epoch: 2, completedTasks: [] },
    { type: 'run_cancelling', requestedAt: at(50), mode: 'abort', cause: 'SERVER' },
  ]

  it('Marks above the rows are in order of time, and lead to the task where they took effect', () => {
    const { marks } = modelOf(...events)
    expect(marks.map(({ kind, startMs }) => `${kind} ${startMs - START}`)).toEqual([
      'directive 10',
      'switch 30',
      'resume 40',
      'cancel 50',
    ])
    expect(marks[0]?.target).toEqual({ taskName: 'a', iterationIndex: 0 })
  })

  it('Marks above the rows are limited to the position of a replay', () => {
    const log = logOf(...events)
    const history = extendHistory(NO_HISTORY, log)
    const early = buildTimeline(runStateAfter(log.events.slice(0, 6)), {
      history,
      untilMs: START + 30,
    })
    expect(early.marks.map(({ kind }) => kind)).toEqual(['directive', 'switch'])
  })
})

describe('the history', () => {
  const all = [
    began({ a: [] }),
    started('a', 0),
    failed('a', 50),
    started('a', 80, 2),
    { type: 'model_switched', model: 'm:large', switchedAt: at(85) },
    { ...failed('a', 90), attempt: 2 },
    started('a', 95, 3),
  ]

  it('The history of the timeline is the same for a log that arrives in batches, and starts again with another log', () => {
    const whole = extendHistory(NO_HISTORY, logOf(...all))
    const [first, second] = [logOf(...all.slice(0, 5)), logOf(...all)]
    expect(extendHistory(extendHistory(NO_HISTORY, first), second)).toEqual(whole)
    expect(extendHistory(whole, second)).toBe(whole)
    expect(extendHistory(whole, first).attempts.get('a')).toHaveLength(1)
  })

  it('The history of the timeline has an attempt once, even if another process continues it', () => {
    const again = logOf(...all.slice(0, 4), started('a', 82, 2), ...all.slice(5))
    const attempts = extendHistory(NO_HISTORY, again).attempts.get('a')
    expect(attempts?.map(({ attempt }) => attempt)).toEqual([1, 2])
  })
})

describe('[DASH-T1] a row', () => {
  it('A row of the timeline is reused when nothing of its task has changed', () => {
    const log = logOf(began({ a: [], b: [] }), started('a', 0), started('b', 0), asked('a', 0, 5))
    const before = buildTimeline(log.state, { history: NO_HISTORY })
    const [more] = logged([{ ...asked('b', 0, 9) }])
    const later = appendEvents(log, [{ ...more!, seq: 4 }])
    const after = buildTimeline(later.state, { history: extendHistory(NO_HISTORY, later), before })
    expect(after.rows[0]).toBe(before.rows[0])
    expect(after.rows[1]).not.toBe(before.rows[1])
  })
})

describe('any run', () => {
  it('[DASH-T3] Any run has sorted lanes without overlaps, within its known time', () => {
    for (let seed = 1; seed <= 40; seed += 1) {
      const model = modelOf(...randomRun(seed))
      for (const { lanes, attempts } of model.rows) {
        for (const line of [attempts, ...lanes]) expectInOrder(line, `seed ${seed}`)
        for (const note of lanes.flat()) expectWithin(note, model)
      }
    }
  })
})

function expectInOrder(
  line: readonly { readonly startMs: number; readonly endMs?: number }[],
  what: string,
): void {
  for (const [index, { startMs, endMs = Infinity }] of line.entries()) {
    expect(endMs, what).toBeGreaterThanOrEqual(startMs)
    const before = line[index - 1]
    if (before !== undefined) {
      expect(startMs, what).toBeGreaterThanOrEqual(before.endMs ?? Infinity)
    }
  }
}

function expectWithin({ startMs, endMs }: Note, model: TimelineModel): void {
  expect(startMs).toBeGreaterThanOrEqual(model.startMs ?? Infinity)
  expect(endMs ?? startMs).toBeLessThanOrEqual(model.lastMs)
}

/** Attempts with turns and calls whose instants are present, missing or decreasing. */
function randomRun(seed: number): readonly Event[] {
  let state = seed
  const next = (most: number): number => {
    state = (state * 48_271) % 2_147_483_647
    return state % most
  }
  const events: Event[] = [began({ a: [], b: [] })]
  for (const name of ['a', 'b']) {
    let clock = next(500)
    const said = (): { ms?: number } => {
      clock += next(200) - 40
      return next(4) === 0 ? {} : { ms: Math.max(0, clock) }
    }
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      events.push(started(name, Math.max(0, clock), attempt))
      for (let turn = 0; turn < 5; turn += 1) {
        const ids = Array.from({ length: next(4) }, (_, index) => `${turn}.${index}`)
        const now = [
          asked(name, turn, said().ms),
          answered(name, turn, { ...said(), calls: ids }),
          ...ids.map((id) => called(name, id, { ...said(), durationMs: next(90), turn })),
        ]
        events.push(...now.map((event) => ({ ...event, attempt })))
      }
      events.push({ ...failed(name, Math.max(0, clock)), attempt })
    }
  }
  return events
}

it('A timeline has no time if nothing of the run is known', () => {
  const state: RunState = runStateAfter([])
  expect(buildTimeline(state, { history: NO_HISTORY })).toMatchObject({ rows: [], marks: [] })
  expect(buildTimeline(state, { history: NO_HISTORY }).startMs).toBeUndefined()
})
