/** Limits of delegation, and the check of their definition. */

import { findExcessProblems, findOptionProblems, type OptionNames } from '@tutti/core/internal'

/** A request to delegate work to another agent. */
export interface DelegationRequest {
  readonly fromRole: string
  readonly toRole: string
  readonly taskDescription: string
  /** Depth of the delegation; 1 for one by a task of the plan. */
  readonly depth: number
}

/**
 * Verdict of a policy: `true` allows the delegation, a text rejects it with this reason, an object changes
 * it.
 */
export type DelegationVerdict =
  | true
  | string
  | { readonly toRole?: string; readonly taskDescription?: string }

/**
 * Policy that decides on a delegation. All policies are called in order before each delegation; the agent
 * receives the first rejection.
 */
export type DelegationPolicy = (
  request: DelegationRequest,
) => DelegationVerdict | Promise<DelegationVerdict>

/** Limits of the delegations in one run of an ensemble. */
export interface DelegationLimits {
  /** Maximum depth of nested delegations. @default 3 */
  readonly maxDepth?: number
  /** Maximum number of delegations. @default no limit */
  readonly maxDelegations?: number
  /** Maximum number of delegations to one worker: one number for all, or one per role. @default no limit */
  readonly maxCallsPerWorker?: number | Readonly<Record<string, number>>
  /**
   * Roles that agents may delegate to; the role of a task without an agent is its name. @default all, except that only a
   * manager may delegate to tasks without an agent
   */
  readonly allowedWorkers?: readonly string[]
  /** Roles to which the manager must have completed a delegation before it ends. */
  readonly requiredWorkers?: readonly string[]
  /** Roles by stage. A stage may begin when a delegation to each role of the earlier stages has completed. */
  readonly requiredStages?: readonly (readonly string[])[]
  readonly policies?: readonly DelegationPolicy[]
}

const LIMIT_NAMES = {
  maxDepth: true,
  maxDelegations: true,
  maxCallsPerWorker: true,
  allowedWorkers: true,
  requiredWorkers: true,
  requiredStages: true,
  policies: true,
} as const satisfies OptionNames<DelegationLimits>

/** Name of the tool with which agents delegate. */
export const DELEGATE_TOOL = 'delegate_task'

/** Default maximum depth of nested delegations. */
export const DEFAULT_MAX_DELEGATION_DEPTH = 3

/** Returns the problems of limits for an ensemble with these roles, one text each. */
export function findDelegationProblems(
  limits: DelegationLimits | undefined,
  roles: readonly string[],
): readonly string[] {
  if (limits === undefined) return []
  const { maxDepth = 1, maxDelegations = 1, maxCallsPerWorker = 1 } = limits
  const perWorker =
    typeof maxCallsPerWorker === 'number'
      ? { 'delegation.maxCallsPerWorker': maxCallsPerWorker }
      : addPrefix('delegation.maxCallsPerWorker', maxCallsPerWorker)
  const numbers = {
    'delegation.maxDepth': maxDepth,
    'delegation.maxDelegations': maxDelegations,
    ...perWorker,
  }
  const named = [
    ...(limits.allowedWorkers ?? []),
    ...(limits.requiredWorkers ?? []),
    ...(limits.requiredStages ?? []).flat(),
    ...(typeof maxCallsPerWorker === 'number' ? [] : Object.keys(maxCallsPerWorker)),
  ]
  const unknown = [...new Set(named.filter((role) => !roles.includes(role)))]
  return [
    ...findOptionProblems(limits, LIMIT_NAMES, 'delegation'),
    ...Object.entries(numbers)
      .filter(([, value]) => !(Number.isInteger(value) && value >= 1))
      .map(([name, value]) => `${name} must be an integer >= 1, got ${value}`),
    ...findExcessProblems(perWorker),
    ...unknown.map(
      (role) => `delegation names an unknown role "${role}". Available: [${roles.join(', ')}]`,
    ),
  ]
}

function addPrefix(
  prefix: string,
  record: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [`${prefix}.${key}`, value]),
  )
}
