/**
 * Rules by which a run switches the tier of its models, based on the cost and the outcome of its model calls.
 *
 *   model call ends ─▶ observe ─▶ rules that are met ─▶ switch, recorded like that of a command
 *
 * ENS-S8 A rule switches at most once per run, after the call with which its metric passes its limit.
 * ENS-S9 The calls that a rule counts are recorded in steps, so that a resumed run switches at the same call.
 */
import { DEFAULT_OVER, type ModelRule } from '../definition/model-rule.ts'
import { sumCostUsd } from '../usage/usage.ts'

import type { RunStep } from '../ports/run-step.ts'

/** An ended model call, as rules count it. */
export type ObservedCall =
  | { readonly kind: 'answered'; readonly latencyMs: number; readonly costUsd: number | undefined }
  | { readonly kind: 'failed' }

/** A rule whose condition is met, with its index. */
export interface MetRule {
  readonly rule: ModelRule
  readonly index: number
}

/** Rules of one run, and the calls that they count. */
export class ModelRules {
  readonly #rules: readonly ModelRule[]
  /** Indexes of the rules that have switched. */
  readonly #used: number[] = []
  readonly #longest: number
  /** Last calls since the last switch, newest last; calls before a switch were made with another model. */
  #calls: ObservedCall[] = []
  #costUsd = 0

  constructor(rules: readonly ModelRule[] = []) {
    this.#rules = rules
    this.#longest = Math.max(0, ...rules.map(({ over = DEFAULT_OVER }) => over))
  }

  /** Whether there are no rules. */
  get isEmpty(): boolean {
    return this.#rules.length === 0
  }

  /** Counts a call. */
  observe(call: ObservedCall): void {
    this.#calls = [...this.#calls, call].slice(-2 * this.#longest)
    if (call.kind === 'answered') this.#costUsd += call.costUsd ?? 0
  }

  /** Records a switch, by a rule or by a command. */
  switched(index?: number): void {
    this.#calls = []
    if (index !== undefined) this.#used.push(index)
  }

  /** Counts the calls and switches of an earlier process. */
  restore(steps: readonly RunStep[]): void {
    for (const step of steps) {
      if (step.kind === 'model_failed') this.observe({ kind: 'failed' })
      if (step.kind === 'model_switched') this.switched(step.rule)
      if (step.kind === 'model_turn') {
        const { latencyMs, cost } = step
        this.observe({
          kind: 'answered',
          latencyMs,
          costUsd: cost === undefined ? undefined : sumCostUsd(cost),
        })
      }
    }
  }

  /** Returns the first rule that is met and has not switched yet; undefined if there is none. */
  next(): MetRule | undefined {
    for (const [index, rule] of this.#rules.entries()) {
      if (!this.#used.includes(index) && this.#isMet(rule)) return { rule, index }
    }
    return undefined
  }

  #isMet({ metric, above, over = DEFAULT_OVER }: ModelRule): boolean {
    switch (metric) {
      case 'costUsd':
        return this.#costUsd > above
      case 'errorRate': {
        const last = this.#calls.slice(-over)
        const failed = last.filter(({ kind }) => kind === 'failed').length
        return last.length === over && failed / over > above
      }
      case 'latencyMs': {
        const answered = this.#calls.flatMap((call) =>
          call.kind === 'answered' ? call.latencyMs : [],
        )
        const last = answered.slice(-over)
        return last.length === over && last.reduce((sum, ms) => sum + ms, 0) / over > above
      }
    }
  }
}
