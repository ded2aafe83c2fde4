/** Rules by which a run switches the tier of its models. */
import { findOptionProblems, type OptionNames } from '@tutti/core/internal'

/** Metric that a rule compares. */
export type RuleMetric = 'errorRate' | 'latencyMs' | 'costUsd'

/** Rule that switches the tier when a metric of the run exceeds a limit. */
export interface ModelRule {
  /**
   * `errorRate`: failed model calls as a share of the last `over` calls, from 0 to 1. `latencyMs`: mean latency of the
   * last `over` answered calls, in milliseconds. `costUsd`: cost of the run's model calls so far.
   */
  readonly metric: RuleMetric
  /** Limit of the metric; the rule switches when the metric is above it. */
  readonly above: number
  /** Name of the tier to switch to: PRIMARY, FALLBACK, or a tier of the catalog. */
  readonly tier: string
  /**
   * Number of calls that `errorRate` and `latencyMs` cover; the rule does not apply before that many.
   * @default 5
   */
  readonly over?: number
}

/** Default number of calls that a rule covers. */
export const DEFAULT_OVER = 5

const RULE_NAMES = {
  metric: true,
  above: true,
  tier: true,
  over: true,
} as const satisfies OptionNames<ModelRule>

const METRICS: readonly RuleMetric[] = ['errorRate', 'latencyMs', 'costUsd']

/** Returns the problems of the rules, one text each. */
export function findRuleProblems(rules: readonly ModelRule[] = []): readonly string[] {
  return rules.flatMap((rule, index) => {
    const { metric, above, tier, over = DEFAULT_OVER } = rule
    const which = `modelRules[${index}]`
    const isShare = metric === 'errorRate'
    return [
      ...findOptionProblems(rule, RULE_NAMES, which),
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

/** Returns the text of a rule, as events show it. */
export function describeRule({ metric, above, over = DEFAULT_OVER }: ModelRule): string {
  const calls = metric === 'costUsd' ? '' : ` over ${over} calls`
  return `${metric} above ${above}${calls}`
}
