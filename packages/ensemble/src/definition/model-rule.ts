/** Rules by which a run switches the tier of its models by itself: what an author writes. */
import { findUnknownOptions, type OptionNames } from '@tutti/core'

/** Measurement that a rule compares. */
export type RuleMetric = 'errorRate' | 'latencyMs' | 'costUsd'

/** Switches the tier when a metric of the run passes a limit. */
export interface ModelRule {
  /**
   * `errorRate`: failed model calls as a share of the last `over` calls, from 0 to 1. `latencyMs`: mean time of the
   * last `over` answered calls, in milliseconds. `costUsd`: what the model calls of the run have cost so far.
   */
  readonly metric: RuleMetric
  /** The limit; the rule switches when the metric is above it. */
  readonly above: number
  /** Name of the tier to switch to: PRIMARY, FALLBACK, or one of the catalog. */
  readonly tier: string
  /** Calls that `errorRate` and `latencyMs` look at; before there are so many, the rule waits. @default 5 */
  readonly over?: number
}

/** Calls that a rule looks at by default. */
export const DEFAULT_OVER = 5

const RULE_NAMES = {
  metric: true,
  above: true,
  tier: true,
  over: true,
} as const satisfies OptionNames<ModelRule>

const METRICS: readonly RuleMetric[] = ['errorRate', 'latencyMs', 'costUsd']

/** Returns the problems of the rules, one sentence each. */
export function findRuleProblems(rules: readonly ModelRule[] = []): readonly string[] {
  return rules.flatMap((rule, place) => {
    const { metric, above, tier, over = DEFAULT_OVER } = rule
    const which = `modelRules[${place}]`
    const isShare = metric === 'errorRate'
    return [
      ...findUnknownOptions(rule, RULE_NAMES, which),
      ...(METRICS.includes(metric)
        ? []
        : [`${which}.metric must be one of ${METRICS.join(', ')}, got ${JSON.stringify(metric)}`]),
      ...(above >= 0 && (!isShare || above < 1)
        ? []
        : [`${which}.above must be a number >= 0${isShare ? ' and < 1' : ''}, got ${above}`]),
      ...(typeof tier === 'string' && tier.trim() !== ''
        ? []
        : [`${which}.tier must not be blank`]),
      ...(Number.isInteger(over) && over >= 1
        ? []
        : [`${which}.over must be an integer >= 1, got ${over}`]),
    ]
  })
}

/** Describes a rule, for events. */
export function ruleText({ metric, above, over = DEFAULT_OVER }: ModelRule): string {
  const calls = metric === 'costUsd' ? '' : ` over ${over} calls`
  return `${metric} above ${above}${calls}`
}
