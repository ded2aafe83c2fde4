/**
 * Usage of attempts. If one model call does not report tokens, the sum is -1; if one has no cost, the sum is absent.
 */
import {
  addCosts,
  addTokens,
  addUsageSums,
  NO_USAGE,
  totalTokens,
  type UsageSum,
} from '../usage-sum.ts'

import type { TurnState } from './turn-state.ts'

/** Usage of one attempt of a task. */
export interface AttemptUsage extends UsageSum {
  /** Number of tool calls that ended, without steps. */
  readonly toolCallCount: number
}

/** Usage of the other agents that an attempt called, as they report it. */
export type AgentUsage = Required<Pick<AttemptUsage, 'inputTokens' | 'outputTokens' | 'costUsd'>>

/** Usage of an attempt that called no agent. */
export const NO_AGENT_USAGE: AgentUsage = { inputTokens: 0, outputTokens: 0, costUsd: 0 }

/** Usage of all tasks of a run. */
export interface RunTotals {
  /** -1 when not known. */
  readonly totalTokens: number
  readonly totalToolCalls: number
  /** Estimated cost in US dollars; absent when not known. */
  readonly costUsd?: number
}

/** Usage of an attempt before its first call. */
export const NO_ATTEMPT_USAGE: AttemptUsage = { ...NO_USAGE, toolCallCount: 0 }

/** Totals of a run before its first call. */
export const NO_TOTALS: RunTotals = { totalTokens: 0, totalToolCalls: 0, costUsd: 0 }

/** Returns the usage that the end of an attempt reports. */
export function toUsage({
  inputTokens,
  outputTokens,
  toolCallCount,
  costUsd,
  cachedInputTokens,
  reasoningTokens,
}: AttemptUsage): AttemptUsage {
  return {
    inputTokens,
    outputTokens,
    toolCallCount,
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  }
}

/**
 * Returns the usage of the turns so far and of the called agents. A running or failed turn has no known usage, and a turn
 * that a fork has copied none of this run.
 */
export function sumUsage(turns: readonly TurnState[], agents: AgentUsage): AttemptUsage {
  const own = turns.filter(({ isCopied }) => isCopied !== true)
  return {
    ...addUsageSums([agents, ...own.filter(isAnswered).map(toTurnUsage)]),
    toolCallCount: own.reduce((sum, turn) => sum + countCalls(turn), 0),
  }
}

function toTurnUsage({ inputTokens = -1, outputTokens = -1, ...turn }: TurnState): UsageSum {
  const { costUsd, cachedInputTokens, reasoningTokens } = turn
  return {
    inputTokens,
    outputTokens,
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  }
}

/** Turns and their counted usage. */
export interface CountedTurns {
  readonly turns: readonly TurnState[]
  readonly usage: AttemptUsage
}

/** Turns after an event of one of them. */
export interface ChangedTurns {
  readonly turns: readonly TurnState[]
  /** Turn of the event, which alone was changed or added; later ones may have been discarded. */
  readonly iterationIndex: number
}

/**
 * Computes {@link sumUsage} from the usage before the event, so that the cost of an event of the last turn does not
 * depend on the number of earlier turns. Returns the same usage when it has not changed.
 */
export function updateUsage(
  before: CountedTurns,
  { turns, iterationIndex }: ChangedTurns,
  agents: AgentUsage,
): AttemptUsage {
  const { usage } = before
  const at = turns.length - 1
  const [known, turn] = [before.turns[at], turns[at]]
  const isLast = turn?.iterationIndex === iterationIndex && before.turns.length <= turns.length
  if (!isLast || (isAnswered(known) && !isSameAnswer(known, turn))) return sumUsage(turns, agents)
  const toolCallCount = usage.toolCallCount + countCalls(turn) - countCalls(known)
  if (isAnswered(turn) && !isAnswered(known)) {
    return { ...addUsageSums([usage, toTurnUsage(turn)]), toolCallCount }
  }
  return toolCallCount === usage.toolCallCount ? usage : { ...usage, toolCallCount }
}

/** Fields of a task that totals need. */
interface CountedTask {
  readonly usage: AttemptUsage
  readonly earlierAttempts: readonly { readonly usage: AttemptUsage }[]
}

/** Returns the usage of all attempts of all tasks. */
export function sumTotals(tasks: readonly CountedTask[]): RunTotals {
  const used = tasks.flatMap((task) => [
    ...task.earlierAttempts.map(({ usage }) => usage),
    task.usage,
  ])
  const costUsd = addCosts(used.map((usage) => usage.costUsd))
  return {
    totalTokens: totalTokens(addTokens(used)),
    totalToolCalls: used.reduce((sum, { toolCallCount }) => sum + toolCallCount, 0),
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

function isAnswered(turn: TurnState | undefined): turn is TurnState {
  return turn?.status === 'COMPLETED'
}

function isSameAnswer(one: TurnState, other: TurnState): boolean {
  return (
    isAnswered(other) &&
    one.inputTokens === other.inputTokens &&
    one.outputTokens === other.outputTokens &&
    one.cachedInputTokens === other.cachedInputTokens &&
    one.reasoningTokens === other.reasoningTokens &&
    one.costUsd === other.costUsd
  )
}

/** Returns the number of tool calls that ended; a step that waits for its call does not count. */
function countCalls(turn: TurnState | undefined): number {
  let count = 0
  for (const { status, parentToolCallId } of turn?.toolCalls ?? []) {
    if (status !== 'RUNNING' && parentToolCallId === undefined) count += 1
  }
  return count
}
