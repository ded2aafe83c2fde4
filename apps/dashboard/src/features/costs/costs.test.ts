import { runStateAfter, type RunEvent } from '@tutti/protocol'
import { describe, expect, it } from 'vitest'

import { eventOf, startOfRun, WRITER } from '../../../../../packages/protocol/test/run-events.ts'
import {
  groupCostsByModel,
  groupCostsByTask,
  listTaskCosts,
  chooseMeasure,
  findUnpricedModels,
  computeShare,
  sumUsed,
  type UsedSum,
} from './costs.ts'

const RETRY = { attempt: 2 }
const used = (inputTokens: number, outputTokens: number, costUsd?: number) => ({
  inputTokens,
  outputTokens,
  costUsd,
})

/** A turn that requests one tool call. */
function turn(
  iterationIndex: number,
  model: string,
  given: ReturnType<typeof used>,
  place: object = {},
): readonly RunEvent[] {
  const at = { ...place, iterationIndex, model }
  const id = `call_${iterationIndex}`
  return [
    eventOf('llm_iteration_started', at),
    eventOf('llm_iteration_completed', {
      ...at,
      ...given,
      toolRequests: [{ id, name: 'web_search', arguments: '{}' }],
    }),
    eventOf('tool_called', { ...place, iterationIndex, toolCallId: id }),
  ]
}

/** Two tasks, two models, a failed attempt and a called agent. */
function story(): readonly RunEvent[] {
  return [
    ...startOfRun(),
    ...turn(0, 'small', used(100, 10, 0.01)),
    eventOf('task_attempt_failed', { ...used(100, 10, 0.01), toolCallCount: 1, willRetry: true }),
    eventOf('task_started', RETRY),
    ...turn(0, 'small', used(200, 20, 0.02), RETRY),
    eventOf('agent_tool_invoked', RETRY),
    eventOf('agent_tool_completed', {
      ...RETRY,
      cost_usd: 0.3,
      input_tokens: 7,
      output_tokens: 5,
    }),
    ...turn(1, 'large', used(400, 40, 0.4), RETRY),
    eventOf('task_completed', {
      ...RETRY,
      // 11 tokens and 0.1 dollars more than its calls report, as after a correction.
      ...used(618, 65, 0.82),
      toolCallCount: 2,
    }),
    eventOf('task_started', WRITER),
    ...turn(0, 'large', used(50, 5, 0.05), WRITER),
  ]
}

function tokensOf({ inputTokens, outputTokens }: UsedSum): number {
  return inputTokens + outputTokens
}

describe('costs', () => {
  const state = runStateAfter(story())

  it('[DASH-C1] Costs by task add up to the totals of the run', () => {
    const total = sumUsed(groupCostsByTask(state).map((cost) => cost.used))
    expect(tokensOf(total)).toBe(state.totals.totalTokens)
    expect(total.toolCalls).toBe(state.totals.totalToolCalls)
    expect(total.costUsd).toBeCloseTo(state.totals.costUsd ?? Number.NaN, 10)
    expect(total.costUsd).toBeCloseTo(0.88, 10)
  })

  it('[DASH-C2] Costs by model, plus other usage, add up to the same totals', () => {
    const costs = groupCostsByModel(state)
    const total = sumUsed(costs.map((cost) => cost.used))
    expect(tokensOf(total)).toBe(state.totals.totalTokens)
    expect(total.toolCalls).toBe(state.totals.totalToolCalls)
    expect(total.costUsd).toBeCloseTo(state.totals.costUsd ?? Number.NaN, 10)
    expect(
      costs.map(({ name, used: { costUsd = Number.NaN } }) => [name, +costUsd.toFixed(6)]),
    ).toEqual([
      ['large', 0.45],
      ['small', 0.02],
      ['Agents called by tools', 0.3],
      ['Earlier attempts', 0.01],
      ['Not attributed to a model call', 0.1],
    ])
  })

  it('Costs omit rows without usage', () => {
    const plain = runStateAfter([...startOfRun(), ...turn(0, 'small', used(1, 1, 0.1))])
    expect(groupCostsByModel(plain).map(({ name }) => name)).toEqual(['small'])
    expect(groupCostsByModel(runStateAfter(startOfRun()))).toEqual([])
  })

  it('Costs count the model calls of a task, or report them as unknown', () => {
    const [researcher, writer] = groupCostsByTask(state)
    expect(researcher?.used.modelCalls).toBe(-1)
    expect(writer?.used.modelCalls).toBe(1)
  })

  it('[DASH-C3] Costs are unknown when a call does not report its usage', () => {
    const unpriced = runStateAfter([
      ...startOfRun(),
      ...turn(0, 'small', used(100, 10, 0.01)),
      ...turn(1, 'odd', used(-1, 10)),
    ])
    const [task] = groupCostsByTask(unpriced)
    expect(task?.used).not.toHaveProperty('costUsd')
    expect(task?.used.inputTokens).toBe(-1)
    expect(task?.used.outputTokens).toBe(20)
    expect(unpriced.totals).not.toHaveProperty('costUsd')
    expect(findUnpricedModels(unpriced)).toEqual(['odd'])
    const [small, odd, ...others] = groupCostsByModel(unpriced)
    expect(small?.used.costUsd).toBe(0.01)
    expect(odd?.used).not.toHaveProperty('costUsd')
    expect(others).toEqual([])
  })

  it('[DASH-C3] Costs are unknown in a sum when one part is unknown', () => {
    const known: UsedSum = {
      inputTokens: 9,
      outputTokens: 9,
      modelCalls: 9,
      toolCalls: 9,
      costUsd: 9,
    }
    const unknown: UsedSum = { inputTokens: -1, outputTokens: 1, modelCalls: -1, toolCalls: 1 }
    const expected = { inputTokens: -1, outputTokens: 10, modelCalls: -1, toolCalls: 10 }
    expect(sumUsed([known, unknown])).toEqual(expected)
    expect(sumUsed([unknown, known])).toEqual(expected)
  })

  it('Costs are shared by cost, or by tokens without costs', () => {
    const some: UsedSum = {
      inputTokens: 30,
      outputTokens: 0,
      modelCalls: 1,
      toolCalls: 0,
      costUsd: 1,
    }
    const total: UsedSum = { ...some, inputTokens: 120, costUsd: 2 }
    const { costUsd: _, ...unpriced } = total
    expect([chooseMeasure(total), computeShare(some, total)]).toEqual(['cost', 0.5])
    expect([chooseMeasure(unpriced), computeShare(some, unpriced)]).toEqual(['tokens', 0.25])
    expect(computeShare({ ...some, inputTokens: -1 }, unpriced)).toBeUndefined()
    const free = { ...total, inputTokens: 0, costUsd: 0 }
    expect([chooseMeasure(free), computeShare(free, free)]).toEqual([undefined, undefined])
    const { costUsd: __, ...unknown } = some
    expect(computeShare(unknown, total)).toBeUndefined()
  })

  it('[DASH-C4] The costs of a group of tasks are one row, and add up to the totals', () => {
    const added = Array.from({ length: 30 }, (_, at): RunEvent[] => {
      const worker = { workerTask: `write/${at}`, workerTaskIndex: at + 10 }
      const task = { taskName: `write/${at}`, taskIndex: at + 10, attempt: 1 }
      // NOTE: events with the fields that the state reads.
      return [
        { type: 'delegation_started', taskName: 'write', delegationId: `d-${at}`, ...worker },
        {
          type: 'task_completed',
          ...task,
          inputTokens: 2,
          outputTokens: 1,
          toolCallCount: 1,
          costUsd: 0.5,
        },
      ] as unknown as RunEvent[]
    })
    const start = { type: 'task_started', taskName: 'write', taskIndex: 1, attempt: 1 }
    const state = runStateAfter([start as unknown as RunEvent, ...added.flat()])
    const rows = listTaskCosts(state)
    expect(rows.map(({ task, group }) => [task.name, group?.tasks.length])).toEqual([
      ['write', undefined],
      ['write', 30],
    ])
    expect(rows[1]?.used).toMatchObject({ inputTokens: 60, outputTokens: 30, costUsd: 15 })
    expect(sumUsed(rows.map(({ used }) => used)).costUsd).toBe(state.totals.costUsd)
  })
})
