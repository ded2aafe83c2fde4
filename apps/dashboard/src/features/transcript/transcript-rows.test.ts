import { applyRunEvent, runStateAfter, type RunEvent } from '@tutti/protocol'
import type { TaskState } from '@tutti/protocol/internal'
import { describe, expect, it } from 'vitest'

import { eventOf, startOfRun } from '../../../../../packages/protocol/test/run-events.ts'
import { nestCalls } from '../../api/run-entries.ts'
import { buildTranscriptRows, groupDirectivesByTurn } from './transcript-rows.ts'

const at = (seconds: number): string =>
  new Date(Date.UTC(2025, 2, 15, 10, 30, seconds)).toISOString()

function turn(
  iterationIndex: number,
  model = 'sonnet',
  ...ids: readonly string[]
): readonly RunEvent[] {
  const startedAt = at(iterationIndex * 10)
  return [
    eventOf('llm_iteration_started', { iterationIndex, model, startedAt }),
    eventOf('llm_iteration_completed', {
      iterationIndex,
      model,
      toolRequests: ids.map((id) => ({ id, name: 'web_search', arguments: '{}' })),
      completedAt: at(iterationIndex * 10 + 1),
    }),
    ...ids.map((toolCallId) => eventOf('tool_called', { iterationIndex, toolCallId })),
  ]
}

function rowsOf(...events: readonly RunEvent[]) {
  const state = runStateAfter(events)
  return buildTranscriptRows(state.tasks[0] ?? expect.fail('There is no task'), state)
}

const keysOf = (...events: readonly RunEvent[]) => rowsOf(...events).map(({ key }) => key)
const review = (reviewId: string, fields: Parameters<typeof eventOf<'review_requested'>>[1] = {}) =>
  eventOf('review_requested', { reviewId, ...fields })

describe('buildTranscriptRows', () => {
  it('[DASH-TR1] buildTranscriptRows returns the input, each turn with its calls, and the end', () => {
    expect(
      keysOf(
        ...startOfRun(),
        ...turn(0, 'sonnet', 'a', 'b'),
        ...turn(1),
        eventOf('task_completed'),
      ),
    ).toEqual(['given', 'turn-0', 'call-0-a', 'call-0-b', 'turn-1', 'end'])
    expect(keysOf(...startOfRun())).toEqual(['given'])
    expect(keysOf(eventOf('ensemble_started'))).toEqual(['given'])
    expect(keysOf(...startOfRun(), eventOf('task_skipped', { taskName: 'researcher' }))).toContain(
      'end',
    )
  })

  it('[DASH-TR2] buildTranscriptRows places a review where the task waited', () => {
    const before = review('before', { timing: 'BEFORE_EXECUTION' })
    const during = review('during', { timing: 'DURING_EXECUTION', toolCallId: 'a' })
    const step = review('step', {
      timing: 'DURING_EXECUTION',
      toolCallId: 'a-step-of-b',
      requestedAt: at(5),
    })
    const after = review('after', { timing: 'AFTER_EXECUTION' })
    expect(
      keysOf(
        ...startOfRun(),
        before,
        ...turn(0, 'sonnet', 'a', 'b'),
        during,
        step,
        ...turn(1),
        after,
      ),
    ).toEqual([
      'review-before',
      'given',
      'turn-0',
      'call-0-a',
      'review-during',
      'call-0-b',
      'review-step',
      'turn-1',
      'review-after',
    ])
  })

  it('[DASH-TR2] buildTranscriptRows includes the review of a pending task', () => {
    const waiting = review('first', { timing: 'BEFORE_EXECUTION' })
    expect(keysOf(eventOf('ensemble_started'), waiting)).toEqual(['review-first', 'given'])
  })

  it('[DASH-TR2] buildTranscriptRows omits reviews of other tasks and earlier attempts', () => {
    expect(
      keysOf(
        ...startOfRun(),
        review('old', { timing: 'AFTER_EXECUTION' }),
        eventOf('task_attempt_failed'),
        eventOf('task_started', { attempt: 2 }),
        review('other', { taskName: 'writer', attempt: 2 }),
        review('new', { timing: 'AFTER_EXECUTION', attempt: 2 }),
      ),
    ).toEqual(['given', 'review-new'])
  })

  it('[DASH-TR3] buildTranscriptRows adds a switch before the first turn with another model, but not for a fallback', () => {
    const fallback = [
      eventOf('llm_iteration_started', { iterationIndex: 1, model: 'haiku' }),
      eventOf('llm_iteration_failed', { iterationIndex: 1, model: 'haiku', nextModel: 'opus' }),
      eventOf('llm_iteration_started', { iterationIndex: 1, model: 'opus' }),
    ]
    const rows = rowsOf(...startOfRun(), ...turn(0), ...fallback, ...turn(2, 'haiku'))
    expect(rows.map(({ key }) => key)).toEqual(['given', 'turn-0', 'switch-1', 'turn-1', 'turn-2'])
    expect(rows.find(({ kind }) => kind === 'switch')).toMatchObject({
      from: 'sonnet',
      to: 'haiku',
    })
  })

  it('[DASH-TR4] buildTranscriptRows places a delegation after the turn in which it started', () => {
    expect(
      keysOf(
        ...startOfRun(),
        ...turn(0, 'sonnet', 'a'),
        eventOf('delegation_started', { delegationId: 'd', startedAt: at(5) }),
        ...turn(1),
        eventOf('delegation_started', { delegationId: 'of-other', taskName: 'writer' }),
        eventOf('delegation_failed', { delegationId: 'refused', failedAt: at(9_000) }),
      ),
    ).toEqual(['given', 'turn-0', 'call-0-a', 'delegation-d', 'turn-1', 'delegation-refused'])
  })

  it('[DASH-TR5] buildTranscriptRows keeps keys stable and unique as events arrive', () => {
    const events = [
      ...startOfRun(),
      ...turn(0, 'sonnet', 'a', 'b'),
      eventOf('delegation_started', { delegationId: 'd', startedAt: at(5) }),
      review('g', { timing: 'DURING_EXECUTION', toolCallId: 'b' }),
      ...turn(1, 'haiku', 'a'),
      eventOf('task_completed'),
    ]
    let before: readonly string[] = []
    for (let count = 3; count <= events.length; count += 1) {
      const keys = keysOf(...events.slice(0, count))
      expect(new Set(keys).size).toBe(keys.length)
      expect(keys).toEqual(expect.arrayContaining([...before]))
      before = keys
    }
    expect(before).toContain('call-1-a')
  })
})

describe('nestCalls', () => {
  it('nestCalls nests steps that ended before their calls', () => {
    const step = eventOf('tool_called', { toolCallId: 's', parentToolCallId: 'a' })
    const begun = [...startOfRun(), ...turn(0, 'sonnet').slice(0, 1)]
    const asked = eventOf('llm_iteration_completed', {
      iterationIndex: 0,
      toolRequests: [{ id: 'a', name: 'pipeline', arguments: '{}' }],
    })
    const state = runStateAfter([...begun, asked, step])
    const calls = state.tasks[0]?.turns[0]?.toolCalls ?? []
    expect(nestCalls(calls)).toMatchObject([{ id: 'a', status: 'RUNNING', steps: [{ id: 's' }] }])
    const lost = calls.filter(({ id }) => id === 's')
    expect(nestCalls(lost)).toEqual(lost)
  })
})

describe('groups', () => {
  const task = { name: 'researcher', attempt: 1 } satisfies Partial<TaskState>

  it('Directives are grouped by the turn of this attempt', () => {
    const { directives } = runStateAfter([
      eventOf('directive_active'),
      eventOf('directive_delivered', { iterationIndex: 1 }),
      eventOf('directive_delivered', { iterationIndex: 3, attempt: 2 }),
      eventOf('directive_delivered', { iterationIndex: 4, taskName: 'writer' }),
    ])
    expect([...groupDirectivesByTurn(task, directives).keys()]).toEqual([1])
  })

  it('Agent calls are below their tool call, attempt by attempt', () => {
    const [call] = rowsOf(
      ...startOfRun(),
      ...turn(0, 'sonnet', 'call-1').slice(0, 2),
      eventOf('agent_tool_invoked', { toolCallId: 'call-1' }),
      eventOf('agent_tool_error', { toolCallId: 'call-1' }),
      eventOf('agent_tool_invoked', { toolCallId: 'call-1', retry_index: 1 }),
    ).flatMap((row) => (row.kind === 'call' ? [row.tree] : []))
    expect(call?.below.map(({ entry }) => [entry.kind, entry.status])).toEqual([
      ['agent', 'failed'],
      ['agent', 'running'],
    ])
  })
})

describe('the rows of an active run', () => {
  const state = (...events: readonly RunEvent[]) => runStateAfter([...startOfRun(), ...events])
  const shown = ({ tasks: [task], ...rest }: ReturnType<typeof state>) =>
    buildTranscriptRows(task ?? expect.fail('There is no task'), rest)

  it('The rows of an active run have the same content for unchanged turns', () => {
    const before = state(...turn(0, 'sonnet', 'a'), ...turn(1, 'sonnet', 'b'))
    const after = turn(2, 'sonnet', 'c').reduce(applyRunEvent, before)
    const [first, second] = [shown(before), shown(after)]
    expect(second.map(({ key }) => key)).toContain('call-2-c')
    for (const [at, row] of first.entries()) {
      const same = second[at]
      if (row.kind === 'turn' && same?.kind === 'turn') expect(same.turn).toBe(row.turn)
      if (row.kind === 'call' && same?.kind === 'call') expect(same.tree).toBe(row.tree)
    }
  })

  it('The rows of an active run contain a review that is added to existing rows', () => {
    const before = state(...turn(0, 'sonnet', 'a'), ...turn(1, 'sonnet', 'b'))
    shown(before)
    const after = [
      review('during', { timing: 'DURING_EXECUTION', toolCallId: 'a' }),
      review('step', { timing: 'DURING_EXECUTION', toolCallId: 'x', requestedAt: at(5) }),
    ].reduce<typeof before>(applyRunEvent, before)
    const keys = [
      'given',
      'turn-0',
      'call-0-a',
      'review-during',
      'review-step',
      'turn-1',
      'call-1-b',
    ]
    expect(shown(after).map(({ key }) => key)).toEqual(keys)
  })

  it('The rows of an active run contain a model switch when the previous turn changes', () => {
    const before = state(...turn(0), ...turn(1))
    const [, last] = before.tasks[0]?.turns ?? []
    const task = before.tasks[0] ?? expect.fail('There is no task')
    expect(shown(before).map(({ key }) => key)).toEqual(['given', 'turn-0', 'turn-1'])
    const [other] = state(...turn(0, 'haiku')).tasks[0]?.turns ?? []
    const turns = [other, last].filter((one) => one !== undefined)
    expect(buildTranscriptRows({ ...task, turns }, before).map(({ key }) => key)).toEqual([
      'given',
      'turn-0',
      'switch-1',
      'turn-1',
    ])
  })
})
