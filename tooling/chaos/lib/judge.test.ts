import { describe, expect, it } from 'vitest'

import { takeoverTimes } from './figures.ts'
import { withoutUnended } from './evidence.ts'
import { judgeCalls } from './judge-calls.ts'
import { judgeLimit } from './judge-limit.ts'
import { judgePeople } from './judge-people.ts'
import { judgeRuns } from './judge-runs.ts'
import { planRuns, type PlannedRun } from './plan.ts'
import { ENDED_RUN, NO_EVIDENCE, toLog } from './sample-evidence.ts'

import type { CountedCall } from './counter.ts'
import type { SlotChange, Transition } from './database.ts'
import type { Evidence, KeptRun } from './evidence.ts'
import type { Fault } from './faults.ts'
import type { Asked, Seen } from './people.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

const KEY = 'r/survey/1/0/call-0-0'

/** A run that a second process took over from a killed one; an interrupted call was repeated. */
const events = toLog([
  { type: 'run_queued' },
  { type: 'ensemble_started' },
  { type: 'run_resumed', epoch: 2, resumedAt: new Date(2_300).toISOString() },
  { type: 'directive_active', content: 'Louder' },
  { type: 'review_requested', reviewId: 'v' },
  { type: 'review_decided', reviewId: 'v' },
  called('call-0-0', 'SUCCESS'),
  ...['survey', 'left', 'right', 'join'].map((taskName) => ({
    type: 'task_completed',
    taskName,
    output: `Played ${taskName} after 5 calls`,
  })),
  { type: 'run_result', status: 'COMPLETED' },
])

const run: KeptRun = {
  ...ENDED_RUN,
  lastSeq: events.length - 1,
  events,
  endedCalls: new Map([[6, 2_500]]),
}

const transitions: readonly Transition[] = [
  { runId: 'r', at: 0, epoch: 0, state: 'ready', pid: 0, lastSeq: 0 },
  { runId: 'r', at: 10, epoch: 1, state: 'owned', pid: 11, lastSeq: 0 },
  { runId: 'r', at: 2_200, epoch: 2, state: 'owned', pid: 12, lastSeq: 1 },
  { runId: 'r', at: 3_000, epoch: 2, state: 'ended', pid: 0, lastSeq: 11 },
]

const calls: readonly CountedCall[] = [
  call({ pid: 11, at: 100 }),
  call({ pid: 12, at: 2_400, answeredAt: 2_450 }),
]

const killed: Fault = { kind: 'kill_worker', at: 200, until: 900, pids: [11] }

const [planned] = planRuns(1, 1) as [PlannedRun]

/** The time of a request that no failover affects. */
const EARLY = { from: 0, to: 5 }

const injected: Asked = {
  ...EARLY,
  runId: 'r',
  what: { kind: 'inject', content: 'Louder', afterMs: 0 },
  answer: 'ok',
}

const good: Evidence = {
  ...NO_EVIDENCE,
  maxRunning: 2,
  submitted: [{ planned, answers: [{ ...EARLY, runId: 'r' }] }],
  asked: [injected],
  seen: [{ runId: 'r', events, times: events.map(() => 3_000), isWhole: true }],
  calls,
  faults: [killed],
  runs: [run],
  transitions,
}

it('The judge accepts a run that was taken over and repeated an interrupted call', () => {
  expect(judgeRuns(good)).toEqual([])
  expect(judgePeople(good)).toEqual([])
  expect(judgeCalls(good)).toEqual({
    violations: [],
    made: 2,
    repeatedInDoubt: 1,
    late: 0,
    leftInDoubt: 0,
  })
})

it('The judge finds no violation in what had not ended at the time limit', () => {
  const running: KeptRun = { ...run, runId: 's', idempotencyKey: 'chaos-1-1', state: 'owned' }
  const late: Evidence = {
    ...good,
    runs: [run, { ...running, status: 'RUNNING', hasOwner: true, events: events.slice(0, 2) }],
    submitted: [
      ...good.submitted,
      { planned: { ...planned, idempotencyKey: 'chaos-1-1' }, answers: [{ ...EARLY, runId: 's' }] },
      { planned: { ...planned, idempotencyKey: 'chaos-1-2' }, answers: [] },
    ],
    seen: [...good.seen, { runId: 's', events: [], times: [], isWhole: false }],
  }
  expect(judgeRuns(late)).not.toEqual([])
  const judged = withoutUnended(late)
  expect(judged.runs).toEqual([run])
  expect([...judgeRuns(judged), ...judgePeople(judged), ...judgeCalls(judged).violations]).toEqual(
    [],
  )
})

it('The judge measures a takeover from the kill until the run is resumed', () => {
  expect(takeoverTimes(good)).toEqual([2_100])
  expect(takeoverTimes({ ...good, faults: [{ ...killed, pids: [12] }] })).toEqual([])
})

describe('judgeLimit', () => {
  const judge = (...slots: readonly SlotChange[]) => judgeLimit({ ...good, slots })
  const claim = (runId: string, slot: number): SlotChange => ({ runId, isClaim: true, slot })
  const free = (runId: string): SlotChange => ({ runId, isClaim: false, slot: undefined })

  it('judgeLimit accepts claims within the limit, and a run beyond it that continues after a wait', () => {
    const continued = { runId: 'c', isClaim: false, slot: 3 }
    const end = judge(claim('a', 1), claim('c', 2), free('c'), claim('b', 2), continued)
    expect(end).toEqual({ violations: [], most: 3 })
  })

  it('[CHAOS-L1] [CHAOS-L2] judgeLimit finds a slot that two runs have, and a claim beyond the limit', () => {
    expect(judge(claim('a', 1), claim('b', 1), claim('c', 3)).violations).toEqual([
      'L1 b got slot 1, which a has',
      'L2 c was claimed with slot 3, and the limit is 2',
    ])
  })
})

describe('judgeRuns', () => {
  const without = (type: string): readonly LoggedRunEvent[] =>
    toLog(events.filter((event) => event.type !== type))
  const again = (type: string): readonly LoggedRunEvent[] =>
    toLog(events.flatMap((event) => (event.type === type ? [event, event] : [event])))

  it.each<[rule: string, words: string, evidence: Evidence]>([
    ['K1', '0 runs have the key', kept({ idempotencyKey: 'other' })],
    ['K1', '2 runs have the key', { ...good, runs: [run, { ...run, runId: 's' }] }],
    ['K1', 'answered with 2 ids', submitted('r', 's')],
    ['K1', 'answered with 0 ids', submitted()],
    ['K1', 'was answered with s', submitted('s')],
    ['K1', 'which was not submitted', { ...good, submitted: [] }],
    ['K2', 'is parked', kept({ state: 'parked' })],
    ['K2', 'is FAILED', kept({ status: 'FAILED' })],
    ['K2', 'is CANCELLED', kept({ status: 'CANCELLED' })],
    ['K2', '1 openCommands left', kept({ openCommands: 1 })],
    ['K2', '1 openReviews left', kept({ openReviews: 1 })],
    ['K2', '1 owners left', kept({ hasOwner: true })],
    ['K3', 'event 2 in place of 1', kept({ events: events.filter(({ seq }) => seq !== 1) })],
    ['K3', 'says that the last one is 99', kept({ lastSeq: 99 })],
    ['K3', '0 results', kept({ events: without('run_result') })],
    ['K3', '2 results', kept({ events: again('run_result') })],
    ['K3', 'ends with run_queued', kept({ events: toLog([...events, { type: 'run_queued' }]) })],
    ['K4', 'join completed 2 times', kept({ events: again('task_completed') })],
    ['K4', 'COMPLETED without survey, left', kept({ events: without('task_completed') })],
    ['K4', 'counts 3', kept({ completedTasks: 3 })],
    ['K4', 'gave "Played less"', kept({ events: changed('task_completed', 'Played less') })],
    ['K5', `${KEY} ended 2 times`, kept({ events: again('tool_called') })],
    ['K6', 'the epochs 2, 2', kept({ events: again('run_resumed') })],
    ['K6', 'review v ended 0 times', kept({ events: without('review_decided') })],
    ['K6', 'review v ended 2 times', kept({ events: again('review_decided') })],
  ])('[%s] judgeRuns finds that %s', (rule, words, evidence) => {
    expect(judgeRuns(evidence)).toContainEqual(
      expect.stringMatching(new RegExp(`^${rule} .*${words}`)),
    )
  })

  it('[CHAOS-K1] judgeRuns accepts the absence of a deleted run, and of a fork that was refused', () => {
    const { runId, idempotencyKey, state, endedAt } = run
    const gone = { runId, idempotencyKey, state, endedAt, leftEnded: 0 }
    const none = { ...good, runs: [], asked: [], seen: [], calls: [] }
    const deleted = { ...none, deleted: [gone] }
    expect([...judgeRuns(deleted), ...judgePeople({ ...good, ...deleted })]).toEqual([])
    const asked = [{ ...injected, answer: 'RUN_NOT_FOUND' }]
    expect(judgePeople({ ...deleted, asked, seen: good.seen })).toEqual([])
    expect(judgeCalls({ ...deleted, calls }).violations).toEqual([])
    const fork = { ...planned, forkedFrom: 'r' }
    expect(judgeRuns({ ...none, submitted: [{ planned: fork, answers: [] }] })).toEqual([])
    expect(judgeRuns({ ...deleted, runs: [run] })).toEqual(['K1 2 runs have the key chaos-1-0'])
  })

  it('[CHAOS-K2] judgeRuns accepts a run that exceeded its budget, if it had one', () => {
    const result = toLog([{ type: 'run_result', status: 'FAILED', code: 'BUDGET_EXCEEDED' }])
    const failed = kept({ status: 'FAILED', events: result, lastSeq: 0, completedTasks: 0 })
    const limited = { planned: { ...planned, maxTokens: 1 }, answers: [{ ...EARLY, runId: 'r' }] }
    expect(judgeRuns({ ...failed, submitted: [limited] })).toEqual([])
    expect(judgeRuns(failed)).toHaveLength(1)
  })

  it('[CHAOS-K2] judgeRuns accepts a run that lost four owners, if a fault explains each loss', () => {
    const result = toLog([{ type: 'run_result', status: 'FAILED', code: 'PROCESS_LOST' }])
    const failed = kept({ status: 'FAILED', events: result, lastSeq: 0, completedTasks: 0 })
    const [ready, owned] = transitions as [Transition, Transition]
    const lost = Array.from({ length: 4 }, (_, index) => [
      { ...owned, at: 1_000 * index, epoch: index + 1 },
      { ...ready, at: 1_000 * index + 500, epoch: index + 1 },
    ]).flat()
    const kills = [0, 1_000, 2_000, 3_000].map((at) => ({ ...killed, at, until: at + 100 }))
    expect(judgeRuns({ ...failed, transitions: lost, faults: kills })).toEqual([])
    for (const faults of [kills.slice(1), kills.with(0, { ...killed, pids: [12] })]) {
      expect(judgeRuns({ ...failed, transitions: lost, faults })).toEqual([
        expect.stringMatching(/^K2 is FAILED/),
      ])
    }
  })

  it('[CHAOS-K6] judgeRuns lets a fork begin with other epochs than the copied ones', () => {
    const resumed = { type: 'run_resumed', epoch: 2 }
    const log = toLog([resumed, resumed, { type: 'run_result', status: 'COMPLETED' }])
    const copy = kept({ events: log, lastSeq: 2, parent: { runId: 'p', at: 0 } })
    expect(judgeRuns(copy)).not.toContainEqual(expect.stringMatching(/^K6/))
  })

  it('[CHAOS-K2] judgeRuns accepts CANCELLED for a run that was cancelled', () => {
    const asked: Asked = { ...injected, what: { kind: 'cancel', mode: 'abort', afterMs: 0 } }
    const result = toLog([{ type: 'run_result', status: 'CANCELLED' }])
    const cancelled = { status: 'CANCELLED', events: result, lastSeq: 0, completedTasks: 0 }
    expect(judgeRuns({ ...kept(cancelled), asked: [asked] })).toEqual([])
  })
})

describe('judgeCalls', () => {
  const violations = (evidence: Partial<Evidence>): readonly string[] =>
    judgeCalls({ ...good, ...evidence }).violations

  it('[CHAOS-J1] judgeCalls finds a call that is made under a claim which found it complete', () => {
    const third = { runId: 'r', at: 2_600, epoch: 3, state: 'owned', pid: 13, lastSeq: 6 } as const
    const late = call({ pid: 13, at: 2_700 })
    expect(violations({ transitions: [...transitions, third], calls: [...calls, late] })).toEqual([
      `J1 made under epoch 3, which found it complete: ${KEY}`,
      `J5 begun by its owner after its end was written: ${KEY}`,
    ])
  })

  it('[CHAOS-J1] judgeCalls finds a call of a process that never had the run', () => {
    const stranger = call({ pid: 14, at: 150 })
    expect(violations({ calls: [...calls, stranger] })).toEqual([
      `J1 made by process 14, which did not have the run: ${KEY}`,
    ])
  })

  it('[CHAOS-J2] judgeCalls finds a call that is made twice under one claim', () => {
    const twice = call({ pid: 12, at: 2_460 })
    expect(violations({ calls: [...calls, twice] })).toEqual([
      `J2 made twice under epoch 2: ${KEY}`,
    ])
  })

  it('[CHAOS-J2] judgeCalls accepts a call under the earlier claim of a process that owns the run again', () => {
    const again = { ...transitions[2]!, at: 2_410, epoch: 3, pid: 12 }
    const claims = [...transitions.slice(0, 3), again]
    const second = call({ pid: 12, at: 2_420 })
    expect(violations({ transitions: claims, calls: [...calls, second] })).toEqual([])
    const third = call({ pid: 12, at: 2_430 })
    expect(violations({ transitions: claims, calls: [...calls, second, third] })).toEqual([
      `J2 made twice under epoch 3: ${KEY}`,
    ])
  })

  it('[CHAOS-J3] judgeCalls finds a repeated call of a tool that is not idempotent', () => {
    const once = calls.map((made) => ({ ...made, tool: 'count_once' }))
    expect(violations({ calls: once })).toEqual([
      `J3 made 2 times although it is not idempotent: ${KEY}`,
    ])
  })

  it('[CHAOS-J4] judgeCalls finds a call that only the log has', () => {
    const unanswered = calls.map(({ answeredAt: _, ...made }) => made)
    expect(violations({ calls: unanswered })).toEqual([
      `J4 ${KEY} ended well and was never answered by the counter`,
    ])
    expect(violations({ calls: [] })).toHaveLength(1)
    expect(
      judgeCalls({ ...kept({ parent: { runId: 'p', at: 6 } }), calls: [] }).violations,
    ).toEqual([])
  })

  it('[CHAOS-J5] judgeCalls excuses a late call when its process was frozen shortly before, or the database was unavailable', () => {
    const late = [...calls, call({ pid: 11, at: 2_900 })].slice(1)
    const frozen: Fault = { kind: 'freeze_worker', at: 100, until: 2_890, pids: [11] }
    expect(judgeCalls({ ...good, calls: late, faults: [frozen] })).toMatchObject({
      violations: [],
      late: 1,
      repeatedInDoubt: 0,
    })
    const away: Fault = { kind: 'stop_database', at: 100, until: 1_000, pids: [] }
    expect(violations({ calls: late, faults: [away] })).toEqual([])
    const words = `J5 begun 700 ms after the run was lost: ${KEY}`
    expect(violations({ calls: late, faults: [{ ...frozen, pids: [12] }] })).toEqual([words])
    expect(violations({ calls: late, faults: [{ ...frozen, until: 899 }] })).toEqual([words])
    expect(violations({ calls: late, faults: [killed] })).toEqual([words])
  })

  it('judgeCalls counts calls that the model saw as unknown', () => {
    const inDoubt = toLog([called('call-0-0', 'FAILURE')])
    expect(judgeCalls({ ...kept({ events: inDoubt }), calls: [] }).leftInDoubt).toBe(1)
  })
})

describe('judgePeople', () => {
  it.each<[Asked['what'], string]>([
    [{ kind: 'inject', content: 'Softer', afterMs: 0 }, 'inject'],
    [{ kind: 'switch_model', afterMs: 0 }, 'switch_model'],
    [{ kind: 'decide', reviewId: 'w' }, 'decide'],
  ])('[CHAOS-P1] judgePeople finds that %j is not in the log', (what, kind) => {
    const asked: Asked = { ...EARLY, runId: 'r', what, answer: 'ok' }
    const words = `P1 ${kind} was answered as accepted and is not in the log: r`
    expect(judgePeople({ ...good, asked: [asked] })).toEqual([words])
    expect(judgePeople({ ...good, asked: [{ ...asked, answer: 'RUN_COMPLETED' }] })).toEqual([])
  })

  it('[CHAOS-P1] judgePeople finds a lost cancel, except of a run that completed first', () => {
    const asked: Asked = { ...injected, what: { kind: 'cancel', mode: 'abort', afterMs: 0 } }
    expect(judgePeople({ ...kept({ status: 'RUNNING' }), asked: [asked] })).toHaveLength(1)
    expect(judgePeople({ ...good, asked: [asked] })).toEqual([])
  })

  it.each([
    ['misses an event', events.slice(1), 'saw {"type":"ensemble_started"'],
    ['does not see the end', events.slice(0, -1), 'saw 11 of 12 events'],
    ['sees another event', changed('task_completed', 'Other'), '"output":"Other"'],
    ['sees an event twice', [...events, ...events.slice(-1)], 'not nothing'],
  ])('[CHAOS-P2] judgePeople finds a reader who %s', (_, seen, words) => {
    const reader = { runId: 'r', events: seen, times: seen.map(() => 3_000), isWhole: true }
    const found = judgePeople({ ...good, seen: [reader] })
    expect(found).toEqual([expect.stringContaining(words)])
  })

  it('[CHAOS-P2] judgePeople finds a reader who was cut off', () => {
    const reader = { runId: 'r', events, times: events.map(() => 3_000), isWhole: false }
    const found = judgePeople({ ...good, seen: [reader] })
    expect(found).toEqual(['P2 a reader did not see the end: r'])
  })
})

// The standby last had everything at 1,000, and was promoted at 1,500: see `lost-changes.ts`.
describe('a failover', () => {
  const lossy: Fault = { kind: 'fail_over', at: 1_000, until: 1_500, pids: [] }
  const lossless: Fault = { ...lossy, kind: 'fail_over_synchronously' }
  const during = { from: 1_100, to: 1_200 }
  const after = { from: 1_600, to: 1_700 }
  const judge = (fault: Fault, changes: Partial<Evidence>): readonly string[] => {
    const evidence = { ...good, ...changes, faults: [killed, fault] }
    const { violations } = judgeCalls(evidence)
    return [...judgeRuns(evidence), ...violations, ...judgePeople(evidence)]
  }
  const missing = (time: typeof during): Partial<Evidence> => ({
    submitted: [{ planned, answers: [{ ...time, runId: 'r' }] }],
    asked: [],
    runs: [],
    seen: [],
    calls: [],
  })

  it('[CHAOS-K1] A failover may lose a run that was acknowledged meanwhile, and no other', () => {
    expect(judge(lossy, missing(during))).toEqual([])
    expect(judge(lossy, missing({ from: 900, to: 1_050 }))).toEqual([])
    const lost = ['K1 0 runs have the key chaos-1-0']
    expect(judge(lossless, missing(during))).toEqual(lost)
    expect(judge(lossy, missing(EARLY))).toEqual(lost)
    expect(judge(lossy, missing(after))).toEqual(lost)
  })

  it('[CHAOS-P2] A failover may lose the event that a fork begins at', () => {
    const asked = [
      { ...during, runId: 'r', what: { kind: 'fork' }, answer: 'BAD_REQUEST' },
    ] as const
    expect(judgePeople({ ...good, asked, faults: [killed, lossy] })).toEqual([])
    const refused = ['P2 fork was refused as invalid: r']
    expect(judgePeople({ ...good, asked, faults: [killed, lossless] })).toEqual(refused)
  })

  it('[CHAOS-K1] A failover may give a run another id when it is submitted again', () => {
    const answers = [
      { ...during, runId: 'lost' },
      { ...after, runId: 'r' },
    ]
    expect(judge(lossy, { submitted: [{ planned, answers }] })).toEqual([])
    expect(judge(lossless, { submitted: [{ planned, answers }] })).toEqual([
      'K1 chaos-1-0 was answered with 2 ids',
      'K1 chaos-1-0 was answered with lost, and is r',
    ])
  })

  it('[CHAOS-P1] A failover may lose a command that was accepted meanwhile, and no other', () => {
    const decided: Asked = {
      ...during,
      runId: 'r',
      what: { kind: 'decide', reviewId: 'w' },
      answer: 'ok',
    }
    const lost = ['P1 decide was answered as accepted and is not in the log: r']
    expect(judge(lossy, { asked: [decided] })).toEqual([])
    expect(judge(lossless, { asked: [decided] })).toEqual(lost)
    expect(judge(lossy, { asked: [{ ...decided, ...after }] })).toEqual(lost)
  })

  it('[CHAOS-P2] A failover may have lost an event that a reader saw meanwhile, and no other', () => {
    const other = changed('task_completed', 'Other')
    const reader = (at: number, more: Partial<Seen> = {}): Partial<Evidence> => ({
      seen: [{ runId: 'r', events: other, times: other.map(() => at), isWhole: true, ...more }],
    })
    expect(judge(lossy, reader(1_200))).toEqual([])
    expect(judge(lossless, reader(1_200))).toHaveLength(1)
    expect(judge(lossy, reader(900))).toHaveLength(1)
    expect(judge(lossy, reader(3_600))).toHaveLength(1)
    const refused = { isWhole: false, refusal: 'CURSOR_PAST_END' }
    expect(judge(lossy, reader(1_200, refused))).toEqual([])
    expect(judge(lossless, reader(1_200, { ...refused, events }))).toEqual([
      'P2 a reader did not see the end: r',
    ])
    expect(judge(lossy, reader(900, { ...refused, events }))).toHaveLength(1)
  })

  it('[CHAOS-P3] A failover does not excuse a command or a reader that did not find a run which is not lost', () => {
    const asked = [{ ...injected, ...after, answer: 'RUN_NOT_FOUND' }]
    const seen = [{ runId: 'r', events: [], times: [], isWhole: false, refusal: 'RUN_NOT_FOUND' }]
    expect(judge(lossy, { ...missing(during), asked, seen })).toEqual([])
    expect(judge(lossy, { asked, seen })).toEqual([
      'P3 inject did not find its run: r',
      'P3 a reader did not find its run: r',
    ])
  })

  it('[CHAOS-J1] [CHAOS-J3] A failover may repeat calls of claims that are lost, and no others', () => {
    const stranger = { ...call({ pid: 14, at: 1_200 }), tool: 'count_once' }
    const made = [stranger, ...calls.slice(1).map((made) => ({ ...made, tool: 'count_once' }))]
    expect(judge(lossy, { calls: made })).toEqual([])
    expect(judge(lossless, { calls: made })).toEqual([
      `J3 made 2 times although it is not idempotent: ${KEY}`,
      `J1 made by process 14, which did not have the run: ${KEY}`,
    ])
    const late = made.map((made, index) => (index === 0 ? { ...made, at: 3_600 } : made))
    expect(judge(lossy, { calls: late })).toContain(
      `J1 made by process 14, which did not have the run: ${KEY}`,
    )
  })

  it('[CHAOS-J6] A failover does not excuse a call of a run that is not stored and was not lost', () => {
    const lost = (at: number) =>
      judge(lossy, { ...missing(during), calls: [call({ pid: 11, at })] })
    expect(lost(1_200)).toEqual([])
    expect(lost(900)).toEqual([`J6 made for a run that is not stored: ${KEY}`])
  })

  it('[CHAOS-K3] A failover leaves every log gapless', () => {
    const gap = kept({ events: events.filter(({ seq }) => seq !== 1) })
    expect(judge(lossy, { runs: gap.runs })).toContain('K3 has event 2 in place of 1: r')
  })
})

function submitted(...runIds: readonly string[]): Evidence {
  const answers = runIds.map((runId) => ({ ...EARLY, runId }))
  return { ...good, submitted: [{ planned, answers }] }
}

function kept(changes: Partial<KeptRun>): Evidence {
  return { ...good, runs: [{ ...run, ...changes }] }
}

function changed(type: string, output: string): readonly LoggedRunEvent[] {
  return toLog(events.map((event) => (event.type === type ? { ...event, output } : event)))
}

function called(toolCallId: string, outcome: 'SUCCESS' | 'FAILURE'): object {
  return {
    type: 'tool_called',
    taskName: 'survey',
    attempt: 1,
    iterationIndex: 0,
    toolCallId,
    outcome,
    toolResult: outcome === 'SUCCESS' ? 'Counted' : 'Error: its outcome is not known',
  }
}

function call(made: Pick<CountedCall, 'pid' | 'at' | 'answeredAt'>): CountedCall {
  return { key: KEY, runId: 'r', task: 'survey', tool: 'count', piece: '0', ...made }
}
