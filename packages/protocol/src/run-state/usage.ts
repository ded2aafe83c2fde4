/**
 * Usage of attempts. If one model call does not report tokens, the sum is -1; if one has no cost, the sum is absent.
 */
import { addAmounts } from '../amounts.ts'

import type { TurnState } from './turn-state.ts'

/** Usage of one attempt of a task. */
export interface AttemptUsage {
  /** -1 when not known. */
  readonly inputTokens: number
  /** -1 when not known. */
  readonly outputTokens: number
  /** Number of tool calls that ended, without steps. */
  readonly toolCallCount: number
  /** Estimated cost in US dollars; absent when not known. */
  readonly costUsd?: number
  /** Part of `inputTokens` that was read from a cache; absent when not known. */
  readonly cachedInputTokens?: number
  /** Part of `outputTokens` that models used to reason; absent when not known. */
  readonly reasoningTokens?: number
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
export const NO_ATTEMPT_USAGE: AttemptUsage = {
  inputTokens: 0,
  outputTokens: 0,
  toolCallCount: 0,
  costUsd: 0,
}

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
}: Counted): AttemptUsage {
  return {
    inputTokens,
    outputTokens,
    toolCallCount,
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  }
}

type Counted = Omit<AttemptUsage, 'costUsd' | 'cachedInputTokens' | 'reasoningTokens'> & {
  readonly costUsd?: number | undefined
  readonly cachedInputTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
}

/** Returns the usage of the turns so far and of the called agents; a running or failed turn has no known usage. */
export function sumUsage(turns: readonly TurnState[], agents: AgentUsage): AttemptUsage {
  let { inputTokens, outputTokens } = agents
  let toolCallCount = 0
  let costUsd: number | undefined = 0
  let cachedInputTokens: number | undefined
  let reasoningTokens: number | undefined
  for (const turn of turns) {
    toolCallCount += countCalls(turn)
    if (!isAnswered(turn)) continue
    cachedInputTokens = addReported(cachedInputTokens, turn.cachedInputTokens)
    reasoningTokens = addReported(reasoningTokens, turn.reasoningTokens)
    inputTokens = addTokens(inputTokens, turn.inputTokens)
    outputTokens = addTokens(outputTokens, turn.outputTokens)
    costUsd = addCosts(costUsd, turn.costUsd)
  }
  costUsd = addCosts(costUsd, agents.costUsd)
  return toUsage({
    inputTokens,
    outputTokens,
    toolCallCount,
    costUsd,
    cachedInputTokens,
    reasoningTokens,
  })
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
    return toUsage({
      inputTokens: addTokens(usage.inputTokens, turn.inputTokens),
      outputTokens: addTokens(usage.outputTokens, turn.outputTokens),
      toolCallCount,
      costUsd: addCosts(usage.costUsd, turn.costUsd),
      cachedInputTokens: addReported(usage.cachedInputTokens, turn.cachedInputTokens),
      reasoningTokens: addReported(usage.reasoningTokens, turn.reasoningTokens),
    })
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
  const totals: Sums = { totalTokens: 0, totalToolCalls: 0, costUsd: 0 }
  for (const { usage, earlierAttempts } of tasks) {
    for (const earlier of earlierAttempts) addUsage(totals, earlier.usage)
    addUsage(totals, usage)
  }
  const { totalTokens, totalToolCalls, costUsd } = totals
  return { totalTokens, totalToolCalls, ...(costUsd === undefined ? {} : { costUsd }) }
}

/** Returns totals without those of a part; what is not known of either is not known. */
export function subtractTotals(totals: RunTotals, part: RunTotals = NO_TOTALS): RunTotals {
  const isKnown = totals.totalTokens >= 0 && part.totalTokens >= 0
  return {
    totalTokens: isKnown ? totals.totalTokens - part.totalTokens : -1,
    totalToolCalls: totals.totalToolCalls - part.totalToolCalls,
    ...(totals.costUsd === undefined || part.costUsd === undefined
      ? {}
      : { costUsd: totals.costUsd - part.costUsd }),
  }
}

interface Sums {
  totalTokens: number
  totalToolCalls: number
  costUsd: number | undefined
}

function addUsage(sums: Sums, { inputTokens, outputTokens, toolCallCount, costUsd }: AttemptUsage) {
  sums.totalTokens = addTokens(addTokens(sums.totalTokens, inputTokens), outputTokens)
  sums.totalToolCalls += toolCallCount
  sums.costUsd = addCosts(sums.costUsd, costUsd)
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

function addTokens(sum: number, count = -1): number {
  return sum === -1 || count === -1 ? -1 : addAmounts(sum, count)
}

/** Adds known counts; unknown ones count as zero. */
function addReported(sum: number | undefined, count: number | undefined): number | undefined {
  return sum === undefined && count === undefined ? undefined : addAmounts(sum ?? 0, count ?? 0)
}

function addCosts(sum: number | undefined, cost: number | undefined): number | undefined {
  return sum === undefined || cost === undefined ? undefined : addAmounts(sum, cost)
}
