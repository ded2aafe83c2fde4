/**
 * Lines of the list against real runs: what the events make of a line is what the run adds up to, and what
 * the server lists, wherever the list was read.
 */
import { agent, ensemble, MANAGER, task } from '@tutti/ensemble'
import { defineTool, Type } from '@tutti/core'
import {
  runStateAfter,
  type LoggedRunEvent,
  type RunDetail,
  type RunSummary,
} from '@tutti/protocol'
import { scriptedModel } from '@tutti/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

import { openStage, type Stage } from './stage.ts'
import {
  isUnclear,
  lineAfter,
  lineOfDetail,
  lineOfQueued,
  lineOfSummary,
  type RunLine,
} from '../src/api/run-list-line.ts'
import { LIST_EVENTS, type ListEvent } from '../src/api/server-feed.ts'

/** A run as the server had it, and all that happened in it. */
interface Played {
  readonly events: readonly LoggedRunEvent[]
  readonly summary: RunSummary
}

const look = defineTool({
  name: 'look',
  description: 'Looks',
  input: Type.Object({}),
  execute: () => 'Seen',
})

let stage: Stage
const played = new Map<string, Played>()

const STORIES = [
  'steps',
  'side-by-side',
  'again',
  'rejected',
  'left-early',
  'team',
  'broken',
  'unpriced',
] as const

type Story = (typeof STORIES)[number]

beforeAll(async () => {
  stage = await openStage({
    ensembles: ensembles(),
    prices: ({ name }) =>
      name === 'unpriced' ? undefined : { inputPerMillion: 3_000, outputPerMillion: 15_000 },
  })
  for (const name of STORIES) played.set(name, await play(name))
}, 30_000)

afterAll(() => stage?.[Symbol.asyncDispose]())

describe.each(STORIES)('of the run "%s"', (name) => {
  it('a line that was seen from the start is right at each step and at the end', () => {
    const { events, summary } = story(name)
    let line: RunLine | undefined
    for (const [at, event] of events.entries()) {
      if (!isListed(event)) continue
      line = line === undefined ? queued(event) : lineAfter(line, event)
      expectRight(line, events.slice(0, at + 1))
    }
    expect(rounded(line?.run ?? fail())).toEqual(rounded(summary))
  })

  it('a line that was read on the way is right from then on, wherever that was', () => {
    const { events } = story(name)
    for (let cut = 1; cut < events.length; cut += 1) {
      let line: RunLine = { run: lineOfDetail(detailOf(events.slice(0, cut))).run }
      const since: ListEvent[] = []
      for (const [at, event] of events.entries()) {
        if (at < cut || !isListed(event)) continue
        since.push(event)
        const known = events.slice(0, at + 1)
        line = lineAfter(line, event) ?? readAgain(known, since)
        expectRight(line, known)
      }
    }
  })

  it('a line is right when what it has comes later than the answer, and twice', () => {
    const { events } = story(name)
    const listed = events.filter(isListed)
    for (let cut = 2; cut < events.length; cut += 1) {
      let line = lineOfDetail(detailOf(events.slice(0, cut)))
      for (const event of [...listed, ...listed]) {
        const known = events.slice(0, Math.max(cut, event.seq + 1))
        line =
          lineAfter(line, event) ?? readAgain(known, listed.slice(0, listed.indexOf(event) + 1))
      }
      expectRight(line, events)
    }
  })
})

it('a line of a run that had begun is not told by its events alone', () => {
  const { events, summary } = story('steps')
  const line = lineOfSummary({ ...summary, status: 'RUNNING' })
  for (const event of events.filter(isListed)) {
    expect(lineAfter(line, event)).toBe(event.type === 'run_queued' ? line : undefined)
  }
})

it('a line of a run that is over never changes', () => {
  const { events, summary } = story('again')
  const line = lineOfSummary(summary)
  for (const event of events.filter(isListed)) expect(lineAfter(line, event)).toBe(line)
})

it('a line is unclear when reviews wait and it is not known whether everything does', () => {
  const { summary } = story('steps')
  const unclear = (status: RunSummary['status'], openReviews: number): boolean =>
    isUnclear(lineOfSummary({ ...summary, status, openReviews }))
  expect(unclear('RUNNING', 1)).toBe(true)
  expect([unclear('RUNNING', 0), unclear('WAITING_REVIEW', 1), unclear('CANCELLING', 1)]).toEqual([
    false,
    false,
    false,
  ])
})

it.each([
  ['x'.repeat(301), 'x'.repeat(300)],
  [`${'x'.repeat(299)}🎻`, 'x'.repeat(299)],
])('a line shows the start of an error', (error, shown) => {
  const { events } = story('broken')
  const last = events.at(-1)
  const first = events.find(isListed) ?? fail()
  if (last?.type !== 'run_result') fail()
  expect(lineAfter(queued(first), { ...last, error })?.run.error).toBe(shown)
})

function story(name: Story): Played {
  return played.get(name) ?? fail()
}

function fail(): never {
  throw new Error('There should be one')
}

function queued(event: ListEvent): RunLine {
  return event.type === 'run_queued' ? lineOfQueued(event) : fail()
}

function isListed(event: LoggedRunEvent): event is ListEvent {
  return LIST_EVENTS.some((type) => type === event.type)
}

function readAgain(known: readonly LoggedRunEvent[], told: readonly ListEvent[]): RunLine {
  return told.reduce(
    (line, event) => lineAfter(line, event) ?? fail(),
    lineOfDetail(detailOf(known)),
  )
}

/** Whether a line says what the server would after these events. */
function expectRight(line: RunLine | undefined, known: readonly LoggedRunEvent[]): void {
  const { run } = line ?? fail()
  const state = runStateAfter(known)
  const { tokens, cost, endedCalls } = recordsOf(known)
  const isOver = known.at(-1)?.type === 'run_result'
  expect(run.status).toBe(state.status)
  expect(run.totalTokens).toBe(tokens)
  expect(run.costUsd?.toFixed(4)).toBe(cost?.toFixed(4))
  expect(run.completedTasks).toBe(state.tasks.filter((one) => one.status === 'COMPLETED').length)
  if (state.tasks.length > 0) expect(run.taskCount).toBe(state.tasks.length)
  const isAtWork = state.tasks.some(({ status }) => status === 'RUNNING')
  expect(run.currentTask?.name).toBe(state.tasks.find((one) => one.status === 'RUNNING')?.name)
  // Calls are told at the end of their attempt.
  if (!isAtWork) expect(run.totalToolCalls).toBe(endedCalls)
  expect(run.openReviews).toBe(
    isOver ? 0 : state.gates.filter((one) => one.status === 'OPEN').length,
  )
  if (isOver) {
    expect(run.totalTokens).toBe(state.totals.totalTokens)
    expect(run.totalToolCalls).toBe(state.totals.totalToolCalls)
    expect(run.costUsd?.toFixed(4)).toBe(state.totals.costUsd?.toFixed(4))
  }
}

/** What the records of the server say was used, counted anew from all events. */
function recordsOf(events: readonly LoggedRunEvent[]) {
  const attempts = new Map<string, { tokens: number; cost: number | undefined; calls: number }>()
  let [liveCalls, endedCalls] = [0, 0]
  for (const event of events) {
    if (event.type === 'tool_called' && event.parentToolCallId === undefined) liveCalls += 1
    const isEnd =
      event.type === 'task_completed' ||
      event.type === 'task_attempt_failed' ||
      event.type === 'task_failed'
    if (!isEnd && event.type !== 'metrics_snapshot') continue
    const { taskIndex, attempt, inputTokens, outputTokens } = event
    const cost = isEnd ? event.costUsd : event.costEstimate && Number(event.costEstimate)
    const tokens = inputTokens + outputTokens
    const calls = isEnd ? event.toolCallCount : 0
    if (isEnd) endedCalls += calls
    const known = cost === undefined || cost === '' ? (tokens === 0 ? 0 : undefined) : cost
    attempts.set(`${taskIndex}/${attempt}`, { tokens, cost: known, calls })
  }
  let tokens = 0
  let cost: number | undefined = 0
  for (const one of attempts.values()) {
    tokens += one.tokens
    cost = cost === undefined || one.cost === undefined ? undefined : cost + one.cost
  }
  return { tokens, cost, liveCalls, endedCalls }
}

/** What the server answers of a run at a place of its log. */
function detailOf(events: readonly LoggedRunEvent[]): RunDetail {
  const state = runStateAfter(events)
  const { tokens, cost, liveCalls } = recordsOf(events)
  const lastSeq = events.length - 1
  const [first] = events
  if (first?.type !== 'run_queued') fail()
  const calls = (name: string): number =>
    events.filter((event) => event.type === 'tool_called' && event.taskName === name).length
  return {
    runId: first.runId,
    status: state.status === 'WAITING_REVIEW' ? 'RUNNING' : state.status,
    startedAt: state.startedAt ?? first.queuedAt,
    ...(state.completedAt === undefined ? {} : { completedAt: state.completedAt }),
    ...(state.durationMs === undefined ? {} : { durationMs: state.durationMs }),
    workflow: first.workflow,
    inputs: {},
    tags: {},
    tasks: state.tasks.map(({ name, description, status, agentRole, index, attempt }) => ({
      name,
      description,
      status,
      agentRole,
      toolCallCount: calls(name),
      index,
      attempt,
    })),
    metrics: {
      totalTokens: tokens,
      totalToolCalls: liveCalls,
      ...(cost === undefined ? {} : { costUsd: cost }),
    },
    pendingReviews: state.gates
      .filter(({ status }) => status === 'OPEN')
      .map((gate) => ({ ...gate, runId: first.runId, createdAt: gate.requestedAt })),
    ensemble: first.ensemble,
    lastSeq,
  }
}

/** Sums of fractions differ in their last places. */
function rounded({ costUsd, ...run }: RunSummary): object {
  return { ...run, cost: costUsd?.toFixed(4) }
}

async function play(name: Story): Promise<Played> {
  const { client } = stage
  const { runId } = await client.runs.submit({ ensemble: name })
  const answers =
    name === 'rejected'
      ? [{ decision: 'REJECT', feedback: 'Once more' } as const, { decision: 'CONTINUE' } as const]
      : [{ decision: 'EXIT_EARLY' } as const]
  const events: LoggedRunEvent[] = []
  for await (const event of client.runs.events(runId)) {
    events.push(event)
    if (event.type !== 'review_requested') continue
    await client.reviews.decide(event.reviewId, answers.shift() ?? fail())
  }
  const { runs } = await client.runs.list({ ensemble: name })
  return { events, summary: runs[0] ?? fail() }
}

function ensembles() {
  const turns = (count: number, end: string | Error, name = 'priced') =>
    scriptedModel(
      ({ messages }) => {
        const turn = messages.filter(({ role }) => role === 'tool').length
        return turn >= count
          ? end
          : { text: 'One moment', toolCalls: [{ name: 'look', arguments: {} }] }
      },
      { name },
    )
  const given = (name: string, settings: object = {}) =>
    task({ name, description: `Do ${name}`, tools: [look], ...settings })
  const [left, right] = [given('left'), given('right')]
  let fails = true
  const flaky = scriptedModel(({ messages }) => {
    if (messages.at(-1)?.role !== 'tool') return { toolCalls: [{ name: 'look', arguments: {} }] }
    const answer = fails ? new Error('Once') : 'Done'
    fails = false
    return answer
  })
  const manager = scriptedModel(({ messages }) => {
    const isManager = messages[0]?.content.includes(`You are ${MANAGER}.`)
    if (isManager !== true) return 'Worked'
    if (messages.some(({ role }) => role === 'tool')) return 'All done'
    const one = (taskDescription: string) => ({
      name: 'delegate_task',
      arguments: { agentRole: 'Writer', taskDescription },
    })
    return { toolCalls: [one('Write this'), one('Write that')] }
  })
  const writer = agent({ role: 'Writer', goal: 'Write' })
  const reviewed = given('write', { review: { prompt: 'Good?', timeoutMs: 60_000 } })
  return [
    ensemble({ name: 'steps', tasks: [left, right], model: turns(2, 'Done') }),
    ensemble({
      name: 'side-by-side',
      tasks: [left, right, given('sum', { context: [left, right] })],
      model: turns(2, 'Done'),
    }),
    ensemble({ name: 'again', tasks: [given('try', { retries: 1 }), right], model: flaky }),
    ensemble({ name: 'rejected', tasks: [left, reviewed, right], model: turns(1, 'Done') }),
    ensemble({ name: 'left-early', tasks: [left, reviewed, right], model: turns(1, 'Done') }),
    ensemble({
      name: 'team',
      tasks: [task({ name: 'write', description: 'Write', agent: writer })],
      model: manager,
      workflow: 'HIERARCHICAL',
    }),
    ensemble({ name: 'broken', tasks: [left, right], model: turns(1, new Error('It fell over')) }),
    ensemble({ name: 'unpriced', tasks: [left, right], model: turns(1, 'Done', 'unpriced') }),
  ]
}
