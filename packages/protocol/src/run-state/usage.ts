/**
 * Pure: what attempts have used. A number of tokens that one model call does not say makes the sum -1,
 * a cost that one call does not say makes the sum absent.
 */
import type { TurnState } from './turn-state.ts'

/** What one attempt of a task used. */
export interface AttemptUsage {
  /** -1 when not known. */
  readonly inputTokens: number
  /** -1 when not known. */
  readonly outputTokens: number
  /** Tool calls that ended; a step of a call does not count. */
  readonly toolCallCount: number
  /** In US dollars; absent when not known. */
  readonly costUsd?: number
  /** Those of `inputTokens` that were read from a cache; absent when none is known. */
  readonly cachedInputTokens?: number
}

/** What the calls of an attempt to other agents have used, as they say it. */
export type AgentUsage = Required<Omit<AttemptUsage, 'toolCallCount' | 'cachedInputTokens'>>

/** The usage of an attempt that has asked no agent. */
export const NO_AGENT_USAGE: AgentUsage = { inputTokens: 0, outputTokens: 0, costUsd: 0 }

/** What all tasks of a run used. */
export interface RunTotals {
  /** -1 when not known. */
  readonly totalTokens: number
  readonly totalToolCalls: number
  /** In US dollars; absent when not known. */
  readonly costUsd?: number
}

/** The usage of an attempt that has done nothing yet. */
export const NO_ATTEMPT_USAGE: AttemptUsage = {
  inputTokens: 0,
  outputTokens: 0,
  toolCallCount: 0,
  costUsd: 0,
}

/** The totals of a run in which nothing has been done yet. */
export const NO_TOTALS: RunTotals = { totalTokens: 0, totalToolCalls: 0, costUsd: 0 }

/** A usage as the end of an attempt says it. */
export function toUsage({
  inputTokens,
  outputTokens,
  toolCallCount,
  costUsd,
  cachedInputTokens,
}: Counted): AttemptUsage {
  return {
    inputTokens,
    outputTokens,
    toolCallCount,
    ...(costUsd === undefined ? {} : { costUsd }),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
  }
}

type Counted = Omit<AttemptUsage, 'costUsd' | 'cachedInputTokens'> & {
  readonly costUsd?: number | undefined
  readonly cachedInputTokens?: number | undefined
}

/**
 * What the turns so far used, and the agents that were asked; a turn that runs or has failed has used
 * nothing that is known.
 */
export function sumUsage(turns: readonly TurnState[], agents: AgentUsage): AttemptUsage {
  let { inputTokens, outputTokens } = agents
  let toolCallCount = 0
  let costUsd: number | undefined = 0
  let cachedInputTokens: number | undefined
  for (const turn of turns) {
    toolCallCount += countCalls(turn)
    if (!isAnswered(turn)) continue
    cachedInputTokens = addCached(cachedInputTokens, turn.cachedInputTokens)
    inputTokens = addTokens(inputTokens, turn.inputTokens)
    outputTokens = addTokens(outputTokens, turn.outputTokens)
    costUsd = addCosts(costUsd, turn.costUsd)
  }
  costUsd = addCosts(costUsd, agents.costUsd)
  return toUsage({ inputTokens, outputTokens, toolCallCount, costUsd, cachedInputTokens })
}

/** What turns and agents used, as far as it is counted. */
export interface CountedTurns {
  readonly turns: readonly TurnState[]
  readonly usage: AttemptUsage
}

/**
 * {@link sumUsage} from what was counted before the last turn changed or was added, so that a turn
 * costs the same however many came before it. The very same usage when nothing more was used.
 */
export function updateUsage(
  before: CountedTurns,
  turns: readonly TurnState[],
  agents: AgentUsage,
): AttemptUsage {
  const { usage } = before
  const at = turns.length - 1
  const [known, turn] = [before.turns[at], turns[at]]
  const isLast = before.turns.length <= turns.length && haveSameStart(before.turns, turns, at)
  if (turn === undefined || !isLast || (isAnswered(known) && !isSameAnswer(known, turn))) {
    return sumUsage(turns, agents)
  }
  const toolCallCount = usage.toolCallCount + countCalls(turn) - countCalls(known)
  if (isAnswered(turn) && !isAnswered(known)) {
    return toUsage({
      inputTokens: addTokens(usage.inputTokens, turn.inputTokens),
      outputTokens: addTokens(usage.outputTokens, turn.outputTokens),
      toolCallCount,
      costUsd: addCosts(usage.costUsd, turn.costUsd),
      cachedInputTokens: addCached(usage.cachedInputTokens, turn.cachedInputTokens),
    })
  }
  return toolCallCount === usage.toolCallCount ? usage : { ...usage, toolCallCount }
}

/** A task, as far as its usage matters. */
interface CountedTask {
  readonly usage: AttemptUsage
  readonly earlierAttempts: readonly { readonly usage: AttemptUsage }[]
}

/** What all attempts of all tasks used. */
export function sumTotals(tasks: readonly CountedTask[]): RunTotals {
  const totals: Sums = { totalTokens: 0, totalToolCalls: 0, costUsd: 0 }
  for (const { usage, earlierAttempts } of tasks) {
    for (const earlier of earlierAttempts) addUsage(totals, earlier.usage)
    addUsage(totals, usage)
  }
  const { totalTokens, totalToolCalls, costUsd } = totals
  return { totalTokens, totalToolCalls, ...(costUsd === undefined ? {} : { costUsd }) }
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

function haveSameStart<T>(one: readonly T[], other: readonly T[], length: number): boolean {
  for (let place = 0; place < length; place += 1) if (one[place] !== other[place]) return false
  return true
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
    one.costUsd === other.costUsd
  )
}

/** Tool calls that ended; a step that waits for its call is none. */
function countCalls(turn: TurnState | undefined): number {
  let count = 0
  for (const { status, parentToolCallId } of turn?.toolCalls ?? []) {
    if (status !== 'RUNNING' && parentToolCallId === undefined) count += 1
  }
  return count
}

function addTokens(sum: number, count = -1): number {
  return sum === -1 || count === -1 ? -1 : sum + count
}

/** Known counts add up; one that is not known counts as none. */
function addCached(sum: number | undefined, count: number | undefined): number | undefined {
  return sum === undefined && count === undefined ? undefined : (sum ?? 0) + (count ?? 0)
}

function addCosts(sum: number | undefined, cost: number | undefined): number | undefined {
  return sum === undefined || cost === undefined ? undefined : sum + cost
}
