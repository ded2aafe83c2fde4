import { describe, expect, it } from 'vitest'

import { collectAttempts } from './attempts.ts'
import { sumAttempt } from './trace-metrics.ts'

import type { WorkSpan } from './attempts.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

const START = Date.parse('2026-01-01T00:00:00.000Z')
const iso = (ms: number): string => new Date(START + ms).toISOString()

const where = { taskName: 'a', taskIndex: 1, attempt: 1, agentRole: 'A', taskDescription: 'Do' }

/** Adds a position in the log to each event. */
function toLoggedEvents(...events: readonly object[]): readonly LoggedRunEvent[] {
  // NOTE: each event below has only the fields that are read.
  return events.map(
    (event, seq) => ({ ...event, runId: 'r', seq, id: `r:${seq}` }) as LoggedRunEvent,
  )
}

const turn = (iterationIndex: number, latencyMs: number) => [
  { type: 'llm_iteration_started', ...where, iterationIndex, messages: [] },
  {
    type: 'llm_iteration_completed',
    ...where,
    iterationIndex,
    latencyMs,
    inputTokens: 2,
    outputTokens: 1,
  },
]

const call = (iterationIndex: number, durationMs: number, more: object = {}) => ({
  type: 'tool_called',
  ...where,
  iterationIndex,
  durationMs,
  ...more,
})

const begun = [
  { type: 'task_started', ...where, startedAt: iso(0) },
  { type: 'task_input', ...where, sentAt: iso(10) },
]

/** Returns start and end of a span relative to the start of the run. */
const spanOf = ({ startedAt, completedAt }: WorkSpan): readonly [number, number] => [
  startedAt - START,
  completedAt - START,
]

/** Returns the only turn of an attempt and its first call. */
function onlyTurn(events: readonly LoggedRunEvent[]) {
  const turns = collectAttempts(events)[0]?.turns
  const [first] = turns ?? []
  if (first === undefined) throw new TypeError('No turn')
  return { turn: spanOf(first), calls: first.calls.map(spanOf) }
}

describe('collectAttempts', () => {
  it('collectAttempts takes times from the timestamps of events', () => {
    const [started, completed] = turn(0, 100)
    const events = toLoggedEvents(
      ...begun,
      { ...started, startedAt: iso(40) },
      { ...completed, completedAt: iso(140) },
      call(0, 30, { completedAt: iso(250) }),
      call(0, 50, { completedAt: iso(300) }),
    )
    expect(onlyTurn(events)).toEqual({
      turn: [40, 140],
      calls: [
        [220, 250],
        [250, 300],
      ],
    })
  })

  it('collectAttempts never ends a span before it starts, after a clock was set back or a timestamp was rounded', () => {
    const [started, completed] = turn(0, 100)
    const events = toLoggedEvents(
      ...begun,
      { ...started, startedAt: iso(40) },
      { ...completed, completedAt: iso(20) },
      call(0, 31, { completedAt: iso(70) }),
      call(0, 5, { completedAt: iso(30) }),
    )
    expect(onlyTurn(events)).toEqual({
      turn: [40, 40],
      calls: [
        [40, 70],
        [40, 40],
      ],
    })
  })
})

describe('sumAttempt', () => {
  it('sumAttempt counts the calls that the model requested, without their nested calls', () => {
    const step = call(0, 25, { parentToolCallId: 'c' })
    const [attempt] = collectAttempts(toLoggedEvents(...begun, ...turn(0, 100), step, call(0, 30)))
    expect(attempt && sumAttempt(attempt)).toMatchObject({
      toolCalls: 1,
      toolMs: 30,
      llmMs: 100,
      llmCalls: 1,
      inputTokens: 2,
      outputTokens: 1,
      costUsd: undefined,
    })
  })
})

describe('[AE-E6] the usage of a running attempt', () => {
  const agent = {
    type: 'agent_tool_progress',
    ...where,
    toolName: 'ask',
    input_tokens: 40,
    output_tokens: 10,
    cost_usd: 1,
  }

  function sumOnly(...events: readonly object[]) {
    const [attempt] = collectAttempts(toLoggedEvents(...begun, ...events))
    if (attempt === undefined) throw new TypeError('No attempt')
    const { inputTokens, outputTokens, toolCalls, costUsd } = sumAttempt(attempt)
    return { inputTokens, outputTokens, toolCalls, costUsd }
  }

  it('The usage of an attempt includes called agents', () => {
    const events = [...turn(0, 1), agent, call(0, 1), call(0, 1, { parentToolCallId: 'c' })]
    expect(sumOnly(...events)).toEqual({
      inputTokens: 42,
      outputTokens: 11,
      toolCalls: 1,
      costUsd: undefined,
    })
    expect(sumOnly(agent)).toMatchObject({ costUsd: 1 })
  })

  it('The usage of an attempt begins at the fork of its run', () => {
    const copied = [...turn(0, 1), agent, call(0, 1), { type: 'run_forked' }]
    expect(sumOnly(...copied, ...turn(1, 1))).toMatchObject({ inputTokens: 2, outputTokens: 1 })
  })
})

describe('the delegations of an attempt', () => {
  it('The delegations of an attempt are read a number of times that grows with their number only', () => {
    let reads = 0
    const delegation = (type: string, id: number) => ({
      type,
      ...where,
      get delegationId() {
        reads += 1
        return `d-${id}`
      },
      startedAt: iso(20),
      completedAt: iso(30),
    })
    const countReads = (count: number): number => {
      const types = ['delegation_started', 'delegation_completed']
      const events = types.flatMap((type) =>
        Array.from({ length: count }, (_, id) => delegation(type, id)),
      )
      // NOTE: each event has only the fields that are read.
      const logged = [...begun, ...events] as unknown as readonly LoggedRunEvent[]
      reads = 0
      const delegations = collectAttempts(logged)[0]?.delegations ?? []
      expect(delegations.map(({ endedAt }) => endedAt)).toEqual(Array(count).fill(START + 30))
      return reads
    }
    expect(countReads(400)).toBe(2 * countReads(200))
  })
})
