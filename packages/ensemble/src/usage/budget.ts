/**
 * Hard limits on what a run or a task may use, checked before each call.
 *
 * ENS-B1 Every limit is checked before each model call and each tool call; the first check after a limit is
 *    reached stops the work and names the limit.
 * ENS-B2 Calls are counted when they begin, so that concurrent calls share what is left.
 * ENS-B6 The usage that an agent tool reports counts for its task and its run at once, also in another
 *    process.
 */
import { TuttiError } from '@tutti/core'
import { findExcessProblems, type Remaining } from '@tutti/core/internal'
import { addAmounts } from '@tutti/protocol/internal'

/** Limits of a run or a task; a missing field means no limit. */
export interface Budget {
  /** Maximum number of input and output tokens together. */
  readonly maxTokens?: number
  /** Maximum cost in US dollars; needs a price for every model. */
  readonly maxCostUsd?: number
  /** Maximum working time in milliseconds; waiting for people does not count. */
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

/** Returns the problems of `budget`, one text each. */
export function findBudgetProblems(budget: Budget | undefined): readonly string[] {
  if (budget === undefined) return []
  const problems = Object.entries(budget).flatMap(([name, value]: [string, unknown]) => {
    if (!LIMITS.some((limit) => limit === name)) {
      return [`budget has no limit "${name}". Available: [${LIMITS.join(', ')}]`]
    }
    if (typeof value === 'number' && value > 0) return []
    return [`budget.${name} must be a number > 0, got ${String(value)}`]
  })
  return [...problems, ...findExcessProblems(budget, 'budget')]
}

/** Returns the smaller value of each limit. */
export function mergeBudgets(one: Budget, other: Budget): Budget {
  const least: Record<string, number> = {}
  for (const [name, limit] of [...Object.entries(one), ...Object.entries(other)]) {
    least[name] = Math.min(limit, least[name] ?? Infinity)
  }
  return least
}

/** Label of the budget of a run. No task starts once it is exhausted. */
export const THE_RUN = 'the run'

export type CallKind = 'model' | 'tool'

/**
 * Counts the usage of a run or a task and enforces its limits. The meter of a task also counts for its run.
 */
export class Meter {
  readonly #label: string
  readonly #budget: Budget | undefined
  readonly #elapsed: () => number
  readonly #parent: Meter | undefined
  #tokens = 0
  #costUsd = 0
  #modelCalls = 0
  #toolCalls = 0

  constructor(options: MeterOptions) {
    this.#label = options.label
    this.#budget = options.budget
    this.#elapsed = options.elapsed
    this.#parent = options.parent
  }

  /** Whether this meter or one of its parents limits cost. */
  get limitsCost(): boolean {
    return this.#budget?.maxCostUsd !== undefined || this.#parent?.limitsCost === true
  }

  /**
   * Counts a call that begins.
   *
   * @throws {TuttiError} BUDGET_EXCEEDED, with the limit in its details; then the call is not counted.
   */
  begin(kind: CallKind): void {
    this.check(kind)
    this.#begin(kind)
  }

  /** Checks the limits as {@link begin} does, without counting a call. */
  check(kind?: CallKind): void {
    this.#parent?.check(kind)
    if (this.#budget === undefined) return
    for (const limit of LIMITS) {
      const max = this.#budget[limit]
      if (max === undefined) continue
      const used = this.#used(limit, kind)
      if (used >= max) throw this.exceeded(limit, used)
    }
  }

  /**
   * Checks that `count` calls of a kind can begin, in addition to those that have begun.
   *
   * @throws {TuttiError} BUDGET_EXCEEDED, with the limit in its details.
   */
  assertRoom(kind: CallKind, count: number): void {
    this.#parent?.assertRoom(kind, count)
    const limit = kind === 'model' ? 'maxModelCalls' : 'maxToolCalls'
    const { [limit]: max = Infinity } = this.#budget ?? {}
    const used = this.#used(limit, kind)
    if (used + count <= max) return
    throw new TuttiError(
      'BUDGET_EXCEEDED',
      `The budget of ${this.#label} is too small for ${count} more ${kind} calls: ${limit} is ${max}, used ${used}`,
      { details: { limit, max, used, needed: count, of: this.#label } },
    )
  }

  /** Returns the error of an exhausted limit. */
  exceeded(limit: keyof Budget, used: number): TuttiError {
    const max = this.#budget?.[limit]
    return new TuttiError(
      'BUDGET_EXCEEDED',
      `The budget of ${this.#label} is used up: ${limit} is ${max}, used ${used}`,
      { details: { limit, max, used, of: this.#label } },
    )
  }

  /** Counts the usage of a model call or of an agent. */
  count(used: CountedUse): void {
    this.countEarlierUse(used)
    this.#parent?.count(used)
  }

  /** Counts a call of an earlier process, in this meter only and without checking limits. */
  countEarlier(kind: CallKind): void {
    if (kind === 'model') this.#modelCalls += 1
    else this.#toolCalls += 1
  }

  /** Counts usage of an earlier process, in this meter only. */
  countEarlierUse({ tokens, costUsd }: CountedUse): void {
    this.#tokens = addAmounts(this.#tokens, tokens)
    this.#costUsd = addAmounts(this.#costUsd, costUsd)
  }

  /** Returns the smallest remaining amounts of this meter and its parents, at least 0. */
  remaining(): Remaining {
    const above = this.#parent?.remaining() ?? NO_LIMIT
    const {
      maxDurationMs = Infinity,
      maxCostUsd = Infinity,
      maxTokens = Infinity,
    } = this.#budget ?? {}
    const left = (max: number, used: number): number => Math.max(0, max - used)
    return {
      timeMs: Math.min(above.timeMs, left(maxDurationMs, this.#elapsed())),
      costUsd: Math.min(above.costUsd, left(maxCostUsd, this.#costUsd)),
      tokens: Math.min(above.tokens, left(maxTokens, this.#tokens)),
    }
  }

  /** Returns the used amount of a limit. A limit on calls does not apply to calls of another kind. */
  #used(limit: keyof Budget, kind: CallKind | undefined): number {
    switch (limit) {
      case 'maxTokens':
        return this.#tokens
      case 'maxCostUsd':
        return this.#costUsd
      case 'maxDurationMs':
        return this.#elapsed()
      case 'maxModelCalls':
        return kind === 'model' ? this.#modelCalls : -1
      case 'maxToolCalls':
        return kind === 'tool' ? this.#toolCalls : -1
    }
  }

  #begin(kind: CallKind): void {
    this.countEarlier(kind)
    if (this.#parent !== undefined) this.#parent.#begin(kind)
  }
}

const NO_LIMIT: Remaining = { timeMs: Infinity, costUsd: Infinity, tokens: Infinity }

/** Usage that budgets count: every number is known. */
export interface CountedUse {
  /** Number of input and output tokens together. */
  readonly tokens: number
  /** Cost in US dollars; 0 if the price is unknown. */
  readonly costUsd: number
}

/** Usage that an agent tool reports. */
export interface AgentUse {
  readonly inputTokens: number
  readonly outputTokens: number
  /** Cost in US dollars. */
  readonly costUsd: number
}

/** Returns the usage of an agent as budgets count it. */
export function toCountedUse({ inputTokens, outputTokens, costUsd }: AgentUse): CountedUse {
  return { tokens: addAmounts(inputTokens, outputTokens), costUsd }
}

/** Estimated number of characters per token, for texts without a token count. */
export const CHARACTERS_PER_TOKEN = 4

export interface MeterOptions {
  /** Owner of the budget in messages, such as `task "research"`. */
  readonly label: string
  readonly budget?: Budget | undefined
  /** Returns the working time so far, in milliseconds. */
  readonly elapsed: () => number
  readonly parent?: Meter
}
