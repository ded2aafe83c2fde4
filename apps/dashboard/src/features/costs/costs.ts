/**
 * Pure: what a run has used, by task and by model.
 *
 * C1 The sums of the tasks are `state.totals`: earlier attempts and agents that were asked are counted.
 * C2 The parts of the table by model are together what the tasks have used, as far as that is known.
 * C3 A number that is not known makes the sum not known: -1 for tokens and calls, absent for a cost.
 */
import type { AgentUsage, AttemptUsage, RunState, TaskState, TurnState } from '@tutti/protocol'

/** What something has used. */
export interface UsedSum {
  /** -1 when not known. */
  readonly inputTokens: number
  /** -1 when not known. */
  readonly outputTokens: number
  /** Calls of models that were answered; -1 when not known. */
  readonly modelCalls: number
  readonly toolCalls: number
  /** In US dollars; absent when not known. */
  readonly costUsd?: number
}

/** What a task has used in all its attempts. */
export interface TaskCost {
  readonly task: TaskState
  readonly used: UsedSum
}

/** What was used by a model, or by something else. */
export interface ModelCost {
  /** Alias of the model; undefined for what no model call of this run tells. */
  readonly model: string | undefined
  /** What it is. */
  readonly name: string
  readonly used: UsedSum
}

/** Nothing was used. */
const NOTHING: UsedSum = {
  inputTokens: 0,
  outputTokens: 0,
  modelCalls: 0,
  toolCalls: 0,
  costUsd: 0,
}

/** Smaller costs are the error of adding numbers. */
const NO_COST = 1e-9

/** The tasks, in their order. */
export function costsByTask({ tasks }: Pick<RunState, 'tasks'>): readonly TaskCost[] {
  return tasks.map((task) => {
    const { usage, earlierAttempts, turns } = task
    // What models an earlier attempt called is not told.
    const modelCalls = earlierAttempts.length === 0 ? answered(turns).length : -1
    const attempts = [...earlierAttempts.map((earlier) => earlier.usage), usage]
    return { task, used: { ...sumOf(attempts.map(usedInAttempt)), modelCalls } }
  })
}

/** The models, the dearest first, and then what else was used. */
export function costsByModel({ tasks }: Pick<RunState, 'tasks'>): readonly ModelCost[] {
  const turns = tasks.flatMap((task) => answered(task.turns))
  const models = [...new Set(turns.map(({ model }) => model))]
    .map((model) => ({
      model,
      name: model,
      used: sumOf(turns.filter((turn) => turn.model === model).map(usedInTurn)),
    }))
    .toSorted((one, other) => (other.used.costUsd ?? 0) - (one.used.costUsd ?? 0))
  const agents = sumOf(tasks.map(({ agentUsage }) => usedByAgents(agentUsage)))
  const earlier = sumOf(
    tasks.flatMap(({ earlierAttempts }) =>
      earlierAttempts.map(({ usage }) => ({ ...usedInAttempt(usage), modelCalls: -1 })),
    ),
  )
  const told = sumOf([...models.map(({ used }) => used), agents])
  const rest = difference(sumOf(tasks.map(({ usage }) => usedInAttempt(usage))), told)
  const others = [
    { model: undefined, name: 'Agents that tools asked', used: agents },
    { model: undefined, name: 'Earlier attempts', used: earlier },
    { model: undefined, name: 'Not told by any model call', used: rest },
  ]
  return [...models, ...others.filter(({ used }) => !isNothing(used))]
}

/** The sum of what was used. */
export function sumOf(all: readonly UsedSum[]): UsedSum {
  return all.reduce((sum, used) => {
    const costUsd =
      sum.costUsd === undefined || used.costUsd === undefined
        ? undefined
        : sum.costUsd + used.costUsd
    return {
      inputTokens: added(sum.inputTokens, used.inputTokens),
      outputTokens: added(sum.outputTokens, used.outputTokens),
      modelCalls: added(sum.modelCalls, used.modelCalls),
      toolCalls: added(sum.toolCalls, used.toolCalls),
      ...(costUsd === undefined ? {} : { costUsd }),
    }
  }, NOTHING)
}

/** What a share is a share of: the cost, or the tokens when there is no cost to compare. */
export function measureOf(total: UsedSum): 'cost' | 'tokens' | undefined {
  if (total.costUsd !== undefined && total.costUsd > 0) return 'cost'
  return tokensOf(total) > 0 ? 'tokens' : undefined
}

/** The share of a total, from 0 to 1; undefined when it is not known. */
export function shareOf(used: UsedSum, total: UsedSum): number | undefined {
  const measure = measureOf(total)
  if (measure === 'cost') {
    return used.costUsd === undefined ? undefined : used.costUsd / (total.costUsd ?? 1)
  }
  const tokens = tokensOf(used)
  return measure === undefined || tokens === -1 ? undefined : tokens / tokensOf(total)
}

/** Models that were called and have no price. */
export function modelsWithoutPrice({ tasks }: Pick<RunState, 'tasks'>): readonly string[] {
  const turns = tasks.flatMap((task) => answered(task.turns))
  return [...new Set(turns.flatMap(({ model, costUsd }) => (costUsd === undefined ? [model] : [])))]
}

function answered(turns: readonly TurnState[]): readonly TurnState[] {
  return turns.filter(({ status }) => status === 'COMPLETED')
}

function usedInAttempt({ toolCallCount: toolCalls, ...rest }: AttemptUsage): UsedSum {
  return { ...rest, toolCalls, modelCalls: 0 }
}

function usedByAgents(usage: AgentUsage): UsedSum {
  return { ...usage, toolCalls: 0, modelCalls: 0 }
}

function usedInTurn(turn: TurnState): UsedSum {
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

/** What is left of `whole` without `part`; nothing where either is not known. */
function difference(whole: UsedSum, part: UsedSum): UsedSum {
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

function tokensOf({ inputTokens, outputTokens }: UsedSum): number {
  return added(inputTokens, outputTokens)
}

function added(sum: number, count: number): number {
  return sum === -1 || count === -1 ? -1 : sum + count
}
