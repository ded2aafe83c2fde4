import { describe, expect, it } from 'vitest'
import { eventOf } from '../../test/run-events.ts'
import { createTask } from './task-state.ts'
import type { TurnState } from './turn-state.ts'
import { NO_AGENT_USAGE } from './usage.ts'
import { applyToTurns, type TurnEvent } from './turns.ts'
import {
  NO_TOTALS,
  NO_ATTEMPT_USAGE,
  sumTotals,
  toUsage,
  updateUsage,
  sumUsage,
  type AttemptUsage,
} from './usage.ts'

const completed = (fields: Parameters<typeof eventOf<'llm_iteration_completed'>>[1]) =>
  eventOf('llm_iteration_completed', fields)
const usage = (inputTokens: number, costUsd?: number): AttemptUsage => ({
  inputTokens,
  outputTokens: 1,
  toolCallCount: 2,
  ...(costUsd === undefined ? {} : { costUsd }),
})
const task = (name: string, used: AttemptUsage) => ({
  ...createTask({ name, index: 1, description: '', agentRole: '', context: [] }),
  usage: used,
})

function never(): never {
  throw new Error('A turn was read')
}

describe('sumUsage', () => {
  it('sumUsage adds up the completed turns', () => {
    const turns = [
      completed({ iterationIndex: 0, costUsd: 0.5 }),
      completed({ iterationIndex: 1, costUsd: 0.25 }),
      eventOf('llm_iteration_started', { iterationIndex: 2 }),
    ].reduce<readonly TurnState[]>(applyToTurns, [])
    expect(sumUsage(turns, NO_AGENT_USAGE)).toEqual({
      inputTokens: 1624,
      outputTokens: 82,
      toolCallCount: 0,
      costUsd: 0.75,
    })
  })

  it('sumUsage adds up the known reasoning tokens, which are part of the output tokens', () => {
    const turns = [
      completed({ iterationIndex: 0, reasoningTokens: 30 }),
      completed({ iterationIndex: 1, reasoningTokens: 5 }),
      completed({ iterationIndex: 2 }),
    ].reduce<readonly TurnState[]>(applyToTurns, [])
    const expected = { outputTokens: 3 * 41, reasoningTokens: 35 }
    expect(sumUsage(turns, NO_AGENT_USAGE)).toMatchObject(expected)
    const [before, after] = [turns.slice(0, 1), turns.slice(0, 2)]
    const counted = { turns: before, usage: sumUsage(before, NO_AGENT_USAGE) }
    const changed = updateUsage(counted, { turns: after, iterationIndex: 1 }, NO_AGENT_USAGE)
    expect(changed).toEqual(sumUsage(after, NO_AGENT_USAGE))
  })

  it('sumUsage counts tool calls that ended, without steps', () => {
    const turns = [
      completed({}),
      eventOf('tool_called', { toolCallId: 'x', parentToolCallId: 'call-1.1' }),
      eventOf('tool_called', { toolCallId: 'call-1.2', parentToolCallId: 'call-1' }),
      eventOf('tool_called', { toolCallId: 'call-2', outcome: 'FAILURE' }),
    ].reduce<readonly TurnState[]>(applyToTurns, [])
    expect(sumUsage(turns, NO_AGENT_USAGE).toolCallCount).toBe(1)
  })

  it('sumUsage has an unknown count or cost when one turn does not report it', () => {
    const turns = [
      completed({ iterationIndex: 0, inputTokens: -1, costUsd: undefined }),
      completed({ iterationIndex: 1 }),
    ].reduce<readonly TurnState[]>(applyToTurns, [])
    expect(sumUsage(turns, NO_AGENT_USAGE)).toEqual({
      inputTokens: -1,
      outputTokens: 82,
      toolCallCount: 0,
    })
  })

  it('sumUsage is zero before the first turn ends', () => {
    expect(sumUsage([], NO_AGENT_USAGE)).toEqual(NO_ATTEMPT_USAGE)
  })
})

describe('updateUsage', () => {
  const turn = (iterationIndex: number, fields: object = {}) =>
    completed({ iterationIndex, ...fields })
  const begun = (iterationIndex: number) => eventOf('llm_iteration_started', { iterationIndex })
  const called = (iterationIndex: number, toolCallId: string, parentToolCallId?: string) =>
    eventOf('tool_called', { iterationIndex, toolCallId, parentToolCallId })
  const agents = { inputTokens: 7, outputTokens: 5, costUsd: 0.5 }

  /** Returns the usage after each of the events, applied one after the other. */
  function counted(events: readonly TurnEvent[]) {
    let turns: readonly TurnState[] = []
    let used = sumUsage(turns, agents)
    return events.map((event) => {
      const before = { turns, usage: used }
      turns = applyToTurns(turns, event)
      used = updateUsage(before, { turns, iterationIndex: event.iterationIndex }, agents)
      return { turns, used }
    })
  }

  it.each<[what: string, events: readonly TurnEvent[]]>([
    ['turns one after the other', [begun(0), turn(0), called(0, 'call-1'), begun(1), turn(1)]],
    ['a turn without its start', [turn(0), turn(1)]],
    ['a call that was not requested', [turn(0), called(0, 'x'), called(0, 'y')]],
    ['a repeated call', [turn(0), called(0, 'x'), called(0, 'x')]],
    [
      'steps, before their call and after it',
      [turn(0), called(0, 's', 'x'), called(0, 'x'), called(0, 't', 'x')],
    ],
    ['a completed turn that begins again', [turn(0), called(0, 'x'), begun(0), turn(0)]],
    ['an earlier turn that begins again', [turn(0), turn(1), called(1, 'x'), begun(0), turn(0)]],
    [
      'a failed turn that begins again when a later one was completed',
      [begun(0), eventOf('llm_iteration_failed'), turn(1), called(1, 'x'), begun(0), turn(0)],
    ],
    ['a call of an earlier turn', [turn(0), turn(1), called(0, 'x'), called(1, 'y')]],
    ['an earlier turn that comes late', [turn(1), turn(0), turn(2)]],
    [
      'a turn that is completed twice',
      [turn(0), turn(0, { inputTokens: 1 }), turn(0, { costUsd: 9 })],
    ],
    [
      'a turn that fails when it was completed',
      [turn(0), eventOf('llm_iteration_failed'), turn(0)],
    ],
    [
      'tokens that are not known',
      [turn(0, { inputTokens: -1 }), turn(1), turn(2, { outputTokens: -1 })],
    ],
    ['tokens that become known', [turn(0, { inputTokens: -1 }), turn(0)]],
    ['a cost that is not known', [turn(0, { costUsd: undefined }), turn(1)]],
    ['a cost that becomes known', [turn(0, { costUsd: undefined }), begun(0), turn(0)]],
  ])('updateUsage counts %s like sumUsage', (_, events) => {
    for (const { turns, used } of counted(events)) {
      const { costUsd, ...anew } = sumUsage(turns, agents)
      expect(used).toEqual(
        costUsd === undefined ? anew : { ...anew, costUsd: expect.closeTo(costUsd, 9) },
      )
    }
  })

  it('[PROTO-S2] updateUsage returns the same usage when it has not changed', () => {
    const told = counted([
      turn(0),
      begun(1),
      eventOf('llm_iteration_failed', { iterationIndex: 1 }),
    ])
    expect(new Set(told.map(({ used }) => used)).size).toBe(1)
  })

  it('[PROTO-S6] updateUsage reads no turn before the last one', () => {
    const unread: TurnState = new Proxy(applyToTurns([], turn(0))[0] ?? never(), { get: never })
    const before = { turns: [unread], usage: usage(10, 1) }
    const after = applyToTurns(before.turns.slice(1), turn(1))
    const changed = { turns: [unread, ...after], iterationIndex: 1 }
    expect(updateUsage(before, changed, agents)).toMatchObject({ inputTokens: 822 })
  })
})

describe('toUsage', () => {
  it('toUsage returns only the fields of the usage', () => {
    expect(toUsage(eventOf('task_failed'))).toEqual({
      inputTokens: 812,
      outputTokens: 41,
      toolCallCount: 1,
      costUsd: 0.0031,
    })
    expect(toUsage(eventOf('task_failed', { costUsd: undefined }))).not.toHaveProperty('costUsd')
  })
})

describe('sumTotals', () => {
  it('sumTotals adds up all attempts of all tasks', () => {
    const again = {
      ...task('a', usage(10, 1)),
      earlierAttempts: [{ attempt: 1, reason: '', code: '', usage: usage(20, 2) }],
    }
    expect(sumTotals([again, task('b', usage(30, 4))])).toEqual({
      totalTokens: 63,
      totalToolCalls: 6,
      costUsd: 7,
    })
  })

  it('sumTotals has an unknown total when one attempt does not report it', () => {
    expect(sumTotals([task('a', usage(-1, 1)), task('b', usage(3))])).toEqual({
      totalTokens: -1,
      totalToolCalls: 4,
    })
  })

  it('sumTotals is zero without tasks', () => {
    expect(sumTotals([])).toEqual(NO_TOTALS)
  })
})
