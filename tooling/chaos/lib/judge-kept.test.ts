import { describe, expect, it } from 'vitest'

import { judgeKept } from './judge-kept.ts'
import { judgeOutside } from './judge-outside.ts'
import { planRuns, type PlannedRun } from './plan.ts'
import { ENDED_RUN, NO_EVIDENCE, toLog } from './sample-evidence.ts'

import type { Evidence, KeptRun } from './evidence.ts'
import type { Fault } from './faults.ts'
import type { HealthCheck } from './health.ts'
import type { Asked } from './people.ts'
import type { Delivery } from './receiver.ts'

const EARLY = { from: 0, to: 5 }
const [planned] = planRuns(1, 1) as [PlannedRun]

function submitted(key: string, more: Partial<PlannedRun>): Evidence['submitted'][number] {
  const answers = [{ ...EARLY, runId: key }]
  return { planned: { ...planned, idempotencyKey: key, ...more }, answers }
}

function stored(runId: string, more: Partial<KeptRun> = {}): KeptRun {
  return { ...ENDED_RUN, runId, idempotencyKey: runId, ...more }
}

function judge(changes: Partial<Evidence>): readonly string[] {
  return judgeKept({ ...NO_EVIDENCE, ...changes })
}

/** At this time a failover began that lost the changes that the standby did not have. */
const failover: Fault = { kind: 'fail_over', at: 1_000, until: 1_500, pids: [] }

describe('a fork', () => {
  const log = [
    { type: 'run_queued', queuedAt: 'early' },
    { type: 'ensemble_started', ensembleId: 'p' },
    { type: 'review_requested', reviewId: 'v' },
  ]
  const copied = [
    { ...log[0], queuedAt: 'late' },
    { ...log[1], ensembleId: 'f' },
  ]
  const forked = [...copied, { ...log[2], reviewId: 'w' }, { type: 'run_forked' }]
  const parent = stored('p', { events: toLog(log, 'p'), stepSeqs: [1, 2, 2, 5] })
  const fork = stored('f', {
    events: toLog(forked, 'f'),
    stepSeqs: [1, 2, 2, 3],
    parent: { runId: 'p', at: 2 },
  })
  const plans = [submitted('p', {}), submitted('f', { forkedFrom: 'p' })]
  const judgeFork = (changes: Partial<KeptRun>, runs = [parent]): readonly string[] =>
    judge({ submitted: plans, runs: [...runs, { ...fork, ...changes }] })

  it('[CHAOS-K7] A fork may differ from its parent in ids only', () => {
    expect(judgeFork({})).toEqual([])
    expect(judgeFork({ stepSeqs: [] }, [])).toEqual([])
  })

  it.each<[words: string, changes: Partial<KeptRun>]>([
    ['event 2 differs from that of p', { events: toLog(forked.with(2, { type: 'other' }), 'f') }],
    ['has 2 of 3 steps of p', { stepSeqs: [1, 2, 3] }],
    ['has task_started after', { events: toLog(forked.with(3, { type: 'task_started' }), 'f') }],
    ['is a fork of undefined, not of p', { parent: undefined as never }],
  ])('[CHAOS-K7] A fork is found when it %s', (words, changes) => {
    expect(judgeFork(changes)).toEqual([expect.stringMatching(`^K7 .*${words}.*: f$`)])
  })
})

describe('a deleted run', () => {
  const gone = { runId: 'd', idempotencyKey: 'd', state: 'ended', endedAt: 100, leftEnded: 1 }
  const asked: Asked = { ...EARLY, runId: 'd', what: { kind: 'delete' }, answer: 'ok' }

  it('[CHAOS-K8] [CHAOS-K9] A deleted run is not stored, and has no rows and no stream', () => {
    const readAfterwards = [{ runId: 'd', status: 404, texts: new Map() }]
    expect(judge({ deleted: [gone], asked: [asked], readAfterwards })).toEqual([])
  })

  it.each<[rule: string, words: string, changes: Partial<Evidence>]>([
    ['K8', 'was deleted and is stored: d', { asked: [asked], runs: [stored('d')] }],
    ['K8', 'table steps has rows', { leftovers: ['steps'] }],
    [
      'K8',
      'stream is answered with 200: d',
      {
        deleted: [gone],
        asked: [asked],
        readAfterwards: [{ runId: 'd', status: 200, texts: new Map() }],
      },
    ],
    [
      'K8',
      'has lost its steps: d',
      {
        asked: [{ ...asked, what: { kind: 'fork' }, answer: 'STEPS_NOT_RETAINED' }],
        runs: [stored('d')],
      },
    ],
    [
      'K9',
      'deleted while it was owned: d',
      { deleted: [{ ...gone, state: 'owned' }], asked: [asked] },
    ],
    ['K9', 'left 1 ended runs: d', { deleted: [gone], maxRetained: 2 }],
    [
      'K9',
      'deleted before older ones: d',
      { deleted: [gone], maxRetained: 1, runs: [stored('r', { endedAt: 99 })] },
    ],
  ])('[%s] A deleted run is found when it %s', (rule, words, changes) => {
    expect(judge(changes)).toEqual([expect.stringMatching(`^${rule} .*${words}`)])
  })

  it('[CHAOS-K8] A deleted run may be stored when a failover lost the deletion', () => {
    const late = { ...asked, from: 1_100, to: 1_200 }
    expect(judge({ asked: [late], runs: [stored('d')], faults: [failover] })).toEqual([])
  })
})

describe('a run of a thread', () => {
  const turn = (number: number, messages: readonly object[]): KeptRun =>
    stored(`t${number}`, {
      thread: { id: 't', number },
      events: toLog([
        { type: 'llm_iteration_started', messages: [{ role: 'system', content: '' }, ...messages] },
        { type: 'task_completed', taskName: 'join', output: `Answer ${number}` },
      ]),
    })
  const said = (role: string, content: string) => ({ role, content, toolCalls: null })
  const history = [said('user', '1'), said('assistant', 'Answer 1')]
  const plans = [1, 2].map((number) => submitted(`t${number}`, { piece: String(number) }))
  const judgeTurns = (messages: readonly object[], first = [turn(1, [said('user', 'Play')])]) =>
    judge({ submitted: plans, runs: [...first, turn(2, [...messages, said('user', 'Play')])] })

  it('[CHAOS-K10] A run of a thread gets the questions and answers before it', () => {
    expect(judgeTurns(history)).toEqual([])
    expect(judgeTurns([], [])).toEqual([])
    expect(judgeTurns([], [{ ...turn(1, []), events: [] }])).toEqual([])
  })

  it.each([
    ['no answer', history.slice(0, 1)],
    ['no history', []],
    ['another answer', [history[0]!, said('assistant', 'Answer 2')]],
  ])('[CHAOS-K10] A run of a thread is found when it gets %s', (_, messages) => {
    expect(judgeTurns(messages)).toEqual([expect.stringMatching(/^K10 got .*: t2$/)])
  })
})

it('[CHAOS-K11] The judge finds a call beyond the budget, and a run that had tokens left', () => {
  const started = { type: 'llm_iteration_started', messages: [] }
  const completed = { type: 'llm_iteration_completed', inputTokens: 6, outputTokens: 4 }
  const exceeded = { type: 'run_result', status: 'FAILED', code: 'BUDGET_EXCEEDED' }
  const spend = (maxTokens: number, ...events: readonly object[]) =>
    judge({
      submitted: [submitted('b', { maxTokens })],
      runs: [stored('b', { events: toLog(events) })],
    })
  const log = [started, started, completed, completed, exceeded]
  expect(spend(20, ...log)).toEqual([])
  expect(spend(11, started, completed, started, completed, exceeded)).toEqual([])
  expect(spend(21, ...log)).toEqual(['K11 failed after 20 of 21 tokens: b'])
  expect(spend(10, started, completed, started)).toEqual([
    'K11 a call begins after 10 of 10 tokens: b',
  ])
})

describe('judgeOutside', () => {
  const find = (changes: Partial<Evidence>): readonly string[] =>
    judgeOutside({ ...NO_EVIDENCE, ...changes })

  it('[CHAOS-P4] judgeOutside finds text that differs from the same event read afterwards', () => {
    const live = (text: string, at = 10): Partial<Evidence> => ({
      streams: [{ runId: 'r', events: [{ id: 'r:0', text, at }] }],
      readAfterwards: [{ runId: 'r', status: 200, texts: new Map([['r:0', '{"runId":"r"}']]) }],
    })
    expect(find(live('{"runId":"r"}'))).toEqual([])
    const twice = live('{"runId":"r","runId":"r"}')
    expect(find(twice)).toEqual([expect.stringMatching(/^P4 was live .*: r$/)])
    expect(find({ ...live('other', 1_200), faults: [failover] })).toEqual([])
    const missing = [{ runId: 'r', status: 404, texts: new Map() }]
    expect(find({ ...twice, readAfterwards: missing })).toEqual([
      'P4 its stream is answered with 404: r',
    ])
  })

  const log = toLog([{ type: 'review_requested' }, { type: 'run_result', status: 'COMPLETED' }])
  const sent: Delivery = {
    id: 'r:1:chaos',
    at: 10,
    type: 'run.completed',
    eventAt: 9,
    runId: 'r',
    isAccepted: true,
  }
  const asked: Delivery = { ...sent, id: 'r:0:chaos', type: 'review.requested', eventAt: 8 }
  const hooked = (...deliveries: readonly Delivery[]): Partial<Evidence> => ({
    submitted: [submitted('r', { hasWebhook: true })],
    runs: [stored('r', { events: log, lastSeq: 1 })],
    deliveries,
  })

  it('[CHAOS-W1] judgeOutside finds an end of which the webhook was not notified', () => {
    expect(find(hooked(asked, sent))).toEqual([])
    const missing = ['W1 the webhook has not accepted the end of the run: r']
    expect(find(hooked(asked))).toEqual(missing)
    expect(find(hooked({ ...sent, isAccepted: false }))).toEqual(missing)
    expect(find({ ...hooked(), openDeliveries: [sent.id] })).toEqual([])
  })

  it.each<[string, Delivery]>([
    ['of an unknown event', { ...sent, id: 'r:2:chaos' }],
    ['of an unknown run', { ...sent, runId: 's', id: 's:1:chaos' }],
    ['with another type', { ...sent, id: 'r:0:chaos' }],
  ])('[CHAOS-W2] judgeOutside finds a notification %s', (_, other) => {
    expect(find(hooked(sent, other))).toEqual([`W2 ${other.type} was sent: ${other.id}`])
    expect(find({ ...hooked(sent, other), submitted: [] })).toHaveLength(2)
  })

  it('[CHAOS-W3] judgeOutside finds a time before that of an earlier event', () => {
    expect(find(hooked(sent, { ...asked, eventAt: 10 }))).toEqual([
      'W3 the notifications have the times 10, 9: r',
    ])
  })

  it('[CHAOS-H1] [CHAOS-H2] judgeOutside finds a process that is ready without its store, is not afterwards, or is not live', () => {
    const during: HealthCheck = {
      name: 'api 1',
      kind: 'stop_database',
      wanted: 503,
      ready: 503,
      live: [200],
    }
    const after = { ...during, wanted: 200, ready: 200 } as const
    expect(find({ health: [during, after] })).toEqual([])
    const wrong = [
      { ...during, ready: 200 },
      { ...after, ready: 503 },
      { ...after, live: [200, 503] },
    ]
    expect(find({ health: wrong })).toEqual([
      'H1 the readiness of api 1 is 200 during stop_database',
      'H1 the readiness of api 1 is 503 after stop_database',
      'H2 the liveness of api 1 is 200, 503 after stop_database',
    ])
  })
})
