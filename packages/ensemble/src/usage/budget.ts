/**
 * Hard limits on what a run or a task may use, checked before each call.
 *
 * ENS-B1 Every limit is checked before each model call and each tool call; the first check after a limit is
 *    reached stops the work and names the limit.
 * ENS-B2 Calls are counted when they begin, so that concurrent calls share what is left.
 * ENS-B3 A call whose provider does not report tokens is counted by its length, with 4 characters per token.
 * ENS-B6 The usage that an agent tool reports counts for its task and its run at once, also in another
 *    process.
 */
import { TuttiError, type Remaining } from '@tutti/core'

import type { CostEstimate } from '@tutti/protocol'
import type { ModelUsage } from '../model/chat-model.ts'

/** Limits of a run or a task; what is absent has no limit. */
export interface Budget {
  /** Tokens read and written together. */
  readonly maxTokens?: number
  /** In US dollars; needs prices for every model that is called. */
  readonly maxCostUsd?: number
  /** Working time in milliseconds; waiting for people does not count. */
  readonly maxDurationMs?: number
  readonly maxModelCalls?: number
  readonly maxToolCalls?: number
}

const LIMITS = [
  'maxTokens',
  'maxCostUsd',
  'maxDurationMs',
  'maxModelCalls',
  'maxToolCalls',
] as const satisfies readonly (keyof Budget)[]

/** The limits of `budget` that are no limit, one sentence each. */
export function findBudgetProblems(budget: Budget | undefined): readonly string[] {
  if (budget === undefined) return []
  return Object.entries(budget).flatMap(([name, value]: [string, unknown]) => {
    if (!LIMITS.some((limit) => limit === name)) {
      return [`budget has no limit "${name}". Available: [${LIMITS.join(', ')}]`]
    }
    if (typeof value === 'number' && value > 0) return []
    return [`budget.${name} must be a number > 0, got ${String(value)}`]
  })
}

/** Label of the budget of a run: when it is used up, no task starts. */
export const THE_RUN = 'the run'

export type CallKind = 'model' | 'tool'

/** Counts the usage of a run or a task and enforces its limits. The meter of a task counts for its run too. */
export class Meter {
  readonly #label: string
  readonly #budget: Budget
  readonly #elapsed: () => number
  readonly #parent: Meter | undefined
  #tokens = 0
  #costUsd = 0
  #modelCalls = 0
  #toolCalls = 0

  constructor(options: MeterOptions) {
    this.#label = options.label
    this.#budget = options.budget ?? {}
    this.#elapsed = options.elapsed
    this.#parent = options.parent
  }

  /** Whether this meter or one above limits cost. */
  get limitsCost(): boolean {
    return this.#budget.maxCostUsd !== undefined || this.#parent?.limitsCost === true
  }

  /**
   * Counts a call that begins.
   *
   * @throws {TuttiError} BUDGET_EXCEEDED, with the limit in its details, and counts nothing.
   */
  begin(kind: CallKind): void {
    this.check(kind)
    this.#begin(kind)
  }

  /** Throws as {@link begin} does, and counts nothing. */
  check(kind?: CallKind): void {
    this.#parent?.check(kind)
    const used: Required<Budget> = {
      maxTokens: this.#tokens,
      maxCostUsd: this.#costUsd,
      maxDurationMs: this.#elapsed(),
      maxModelCalls: kind === 'model' ? this.#modelCalls : -1,
      maxToolCalls: kind === 'tool' ? this.#toolCalls : -1,
    }
    for (const limit of LIMITS) {
      const max = this.#budget[limit]
      if (max !== undefined && used[limit] >= max) throw this.exceeded(limit, used[limit])
    }
  }

  /** The error of a limit that is reached. */
  exceeded(limit: keyof Budget, used: number): TuttiError {
    const max = this.#budget[limit]
    return new TuttiError(
      'BUDGET_EXCEEDED',
      `The budget of ${this.#label} is used up: ${limit} is ${max}, used ${used}`,
      { details: { limit, max, used, of: this.#label } },
    )
  }

  /** Counts what a model call has used; `length` is that of what it read and wrote, in characters. */
  countModelCall(
    usage: ModelUsage | undefined,
    cost: CostEstimate | undefined,
    length: () => number,
  ): void {
    this.countEarlierUsage(usage, cost, length)
    this.#parent?.countModelCall(usage, cost, length)
  }

  /** Counts a call that an earlier process has made, here and not above, without asking. */
  countEarlier(kind: CallKind): void {
    if (kind === 'model') this.#modelCalls += 1
    else this.#toolCalls += 1
  }

  /** Counts what a call has used that an earlier process has made, here and not above. */
  countEarlierUsage(
    usage: ModelUsage | undefined,
    cost: CostEstimate | undefined,
    length: () => number,
  ): void {
    this.#tokens +=
      usage === undefined
        ? Math.ceil(length() / CHARACTERS_PER_TOKEN)
        : usage.inputTokens + usage.outputTokens
    this.#costUsd += cost === undefined ? 0 : cost.inputCost + cost.outputCost
  }

  /** Counts what another agent has used that a tool asked. */
  countAgent(used: AgentUse): void {
    this.countEarlierAgent(used)
    this.#parent?.countAgent(used)
  }

  /** Counts what another agent has used that an earlier process asked, here and not above. */
  countEarlierAgent({ inputTokens, outputTokens, costUsd }: AgentUse): void {
    this.#tokens += inputTokens + outputTokens
    this.#costUsd += costUsd
  }

  /** Returns the least that is left here and above, at least 0. */
  remaining(): Remaining {
    const above = this.#parent?.remaining() ?? NO_LIMIT
    const { maxDurationMs = Infinity, maxCostUsd = Infinity, maxTokens = Infinity } = this.#budget
    const left = (max: number, used: number): number => Math.max(0, max - used)
    return {
      timeMs: Math.min(above.timeMs, left(maxDurationMs, this.#elapsed())),
      costUsd: Math.min(above.costUsd, left(maxCostUsd, this.#costUsd)),
      tokens: Math.min(above.tokens, left(maxTokens, this.#tokens)),
    }
  }

  #begin(kind: CallKind): void {
    this.countEarlier(kind)
    if (this.#parent !== undefined) this.#parent.#begin(kind)
  }
}

const NO_LIMIT: Remaining = { timeMs: Infinity, costUsd: Infinity, tokens: Infinity }

/** Usage that another agent reports. */
export interface AgentUse {
  readonly inputTokens: number
  readonly outputTokens: number
  /** In US dollars. */
  readonly costUsd: number
}

/** Rule of thumb for texts without a token count. */
export const CHARACTERS_PER_TOKEN = 4

export interface MeterOptions {
  /** Whose budget it is, as messages say it, such as `task "research"`. */
  readonly label: string
  readonly budget?: Budget | undefined
  /** Working time so far, in milliseconds. */
  readonly elapsed: () => number
  readonly parent?: Meter
}
