/**
 * Usage of a run by task and by model. Pure.
 *
 * DASH-C1 The tasks add up to `state.totals`, including earlier attempts and called agents.
 * DASH-C2 The rows by model add up to the usage of the tasks, where that is known.
 * DASH-C4 A group of tasks is one row, the sum of its tasks.
 * DASH-C3 An unknown number makes its sum unknown: -1 for tokens and calls, undefined for costs.
 */
import type { RunState } from '@tutti/protocol'
import {
  addCounts,
  addUsageSums,
  NO_USAGE,
  totalTokens,
  type AgentUsage,
  type AttemptUsage,
  type TaskState,
  type TurnState,
  type UsageSum,
} from '@tutti/protocol/internal'

import { findGroup, findOutermostGroup, groupTasks, type TaskGroup } from '../../api/task-groups.ts'

/** Usage with the number of calls. */
export interface UsedSum extends UsageSum {
  /** Number of answered model calls; -1 if unknown. */
  readonly modelCalls: number
  readonly toolCalls: number
}

/** Usage of a task in all its attempts. */
export interface TaskCost {
  readonly task: TaskState
  readonly used: UsedSum
}

/** Usage of a model, or usage not attributed to a model call. */
export interface ModelCost {
  /** Alias of the model; undefined for usage not attributed to a model call of this run. */
  readonly model: string | undefined
  /** Name shown in the table. */
  readonly name: string
  readonly used: UsedSum
}

/** Amounts below this are rounding errors. */
const NO_COST = 1e-9

/** Returns the usage of each task, in order. */
export function groupCostsByTask({ tasks }: Pick<RunState, 'tasks'>): readonly TaskCost[] {
  return tasks.map((task) => {
    const { usage, earlierAttempts, turns } = task
    // The models called by earlier attempts are not recorded.
    const modelCalls = earlierAttempts.length === 0 ? selectAnswered(turns).length : -1
    const attempts = [...earlierAttempts.map((earlier) => earlier.usage), usage]
    return { task, used: { ...sumUsed(attempts.map(toAttemptSum)), modelCalls } }
  })
}

/** Usage of a task, or of the group of tasks that it has added. */
export interface TaskCostRow extends TaskCost {
  /** Present in the row of a group, which includes the groups within it. */
  readonly group?: TaskGroup
}

/** Returns the usage of each task in no group, followed by that of the group that it has added (DASH-C4). */
export function listTaskCosts(state: Pick<RunState, 'tasks'>): readonly TaskCostRow[] {
  const grouped = groupTasks(state.tasks)
  const costs = Map.groupBy(groupCostsByTask(state), ({ task }) =>
    findOutermostGroup(grouped, task.name),
  )
  return (costs.get(undefined) ?? []).flatMap((cost): readonly TaskCostRow[] => {
    const { task } = cost
    const group = findGroup(grouped, task.name)
    if (group === undefined) return [cost]
    const used = sumUsed((costs.get(group) ?? []).map((one) => one.used))
    return [cost, { task, group, used }]
  })
}

/** Returns the usage by model, most expensive first, followed by other usage. */
export function groupCostsByModel({ tasks }: Pick<RunState, 'tasks'>): readonly ModelCost[] {
  const turns = tasks.flatMap((task) => selectAnswered(task.turns))
  const models = [...new Set(turns.map(({ model }) => model))]
    .map((model) => ({
      model,
      name: model,
      used: sumUsed(turns.filter((turn) => turn.model === model).map(toTurnSum)),
    }))
    .toSorted((one, other) => (other.used.costUsd ?? 0) - (one.used.costUsd ?? 0))
  const agents = sumUsed(tasks.map(({ agentUsage }) => toAgentSum(agentUsage)))
  const earlier = sumUsed(
    tasks.flatMap(({ earlierAttempts }) =>
      earlierAttempts.map(({ usage }) => ({ ...toAttemptSum(usage), modelCalls: -1 })),
    ),
  )
  const attributed = sumUsed([...models.map(({ used }) => used), agents])
  const rest = subtractUsage(sumUsed(tasks.map(({ usage }) => toAttemptSum(usage))), attributed)
  const others = [
    { model: undefined, name: 'Agents called by tools', used: agents },
    { model: undefined, name: 'Earlier attempts', used: earlier },
    { model: undefined, name: 'Not attributed to a model call', used: rest },
  ]
  return [...models, ...others.filter(({ used }) => !isNothing(used))]
}

/** Adds up usage. */
export function sumUsed(all: readonly UsedSum[]): UsedSum {
  return {
    ...addUsageSums([NO_USAGE, ...all]),
    modelCalls: addCounts(all.map(({ modelCalls }) => modelCalls)),
    toolCalls: addCounts(all.map(({ toolCalls }) => toolCalls)),
  }
}

/** Returns what shares are computed from: costs, or tokens if there are no costs to compare. */
export function chooseMeasure(total: UsedSum): 'cost' | 'tokens' | undefined {
  if (total.costUsd !== undefined && total.costUsd > 0) return 'cost'
  return totalTokens(total) > 0 ? 'tokens' : undefined
}

/** Returns the share of a total, from 0 to 1; undefined if unknown. */
export function computeShare(used: UsedSum, total: UsedSum): number | undefined {
  const measure = chooseMeasure(total)
  if (measure === 'cost') {
    return used.costUsd === undefined ? undefined : used.costUsd / (total.costUsd ?? 1)
  }
  const tokens = totalTokens(used)
  return measure === undefined || tokens === -1 ? undefined : tokens / totalTokens(total)
}

/** Returns the called models that have no price. */
export function findUnpricedModels({ tasks }: Pick<RunState, 'tasks'>): readonly string[] {
  const turns = tasks.flatMap((task) => selectAnswered(task.turns))
  return [...new Set(turns.flatMap(({ model, costUsd }) => (costUsd === undefined ? [model] : [])))]
}

/** Returns the turns that this run has paid for: those with an answer that no fork has copied. */
function selectAnswered(turns: readonly TurnState[]): readonly TurnState[] {
  return turns.filter(({ status, isCopied }) => status === 'COMPLETED' && isCopied !== true)
}

function toAttemptSum({ toolCallCount: toolCalls, ...rest }: AttemptUsage): UsedSum {
  return { ...rest, toolCalls, modelCalls: 0 }
}

function toAgentSum(usage: AgentUsage): UsedSum {
  return { ...usage, toolCalls: 0, modelCalls: 0 }
}

function toTurnSum(turn: TurnState): UsedSum {
  const { inputTokens = -1, outputTokens = -1, costUsd, toolCalls } = turn
  const ended = toolCalls.filter(
    ({ status, parentToolCallId }) => status !== 'RUNNING' && parentToolCallId === undefined,
  )
  return {
    inputTokens,
    outputTokens,
    modelCalls: 1,
    toolCalls: ended.length,
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

/** Subtracts `part` from `whole`; 0 where either is unknown. */
function subtractUsage(whole: UsedSum, part: UsedSum): UsedSum {
  const less = (one: number, other: number): number =>
    one === -1 || other === -1 ? 0 : one - other
  const cost =
    whole.costUsd === undefined || part.costUsd === undefined ? 0 : whole.costUsd - part.costUsd
  return {
    inputTokens: less(whole.inputTokens, part.inputTokens),
    outputTokens: less(whole.outputTokens, part.outputTokens),
    modelCalls: 0,
    toolCalls: less(whole.toolCalls, part.toolCalls),
    costUsd: Math.abs(cost) < NO_COST ? 0 : cost,
  }
}

function isNothing({
  inputTokens,
  outputTokens,
  modelCalls,
  toolCalls,
  costUsd,
}: UsedSum): boolean {
  return [inputTokens, outputTokens, modelCalls, toolCalls, costUsd].every((value) => value === 0)
}
