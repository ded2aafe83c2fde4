/** Limits of delegation, and what is wrong with them. */

import { findUnknownOptions, type OptionNames } from '@tutti/core'

/** A request to delegate work to another agent. */
export interface DelegationRequest {
  readonly fromRole: string
  readonly toRole: string
  readonly taskDescription: string
  /** 1 for a delegation by a task of the plan. */
  readonly depth: number
}

/** Verdict of a policy: `true` allows the delegation, a text refuses it with a reason, an object changes it. */
export type DelegationVerdict =
  | true
  | string
  | { readonly toRole?: string; readonly taskDescription?: string }

/** Asked before each delegation, in order; the agent receives the first refusal. */
export type DelegationPolicy = (
  request: DelegationRequest,
) => DelegationVerdict | Promise<DelegationVerdict>

/** Limits of what agents may hand to one another in a run. */
export interface DelegationLimits {
  /** How deep delegations may nest. @default 3 */
  readonly maxDepth?: number
  /** Delegations of the whole run. @default no limit */
  readonly maxDelegations?: number
  /** Delegations to one worker: one number for all, or one for each role. @default no limit */
  readonly maxCallsPerWorker?: number | Readonly<Record<string, number>>
  /** Roles that may be delegated to. @default all */
  readonly allowedWorkers?: readonly string[]
  /** Roles that must have completed a delegation when the manager ends. */
  readonly requiredWorkers?: readonly string[]
  /** Roles by stage: all of a stage must have completed one before the next stage may begin. */
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

/** The name of the tool with which agents delegate. */
export const DELEGATE_TOOL = 'delegate_task'

/** How deep delegations nest when nothing else is said; AgentEnsemble's. */
export const DEFAULT_MAX_DELEGATION_DEPTH = 3

/** The problems of limits for an ensemble of these roles, one sentence each. */
export function findDelegationProblems(
  limits: DelegationLimits | undefined,
  roles: readonly string[],
): readonly string[] {
  if (limits === undefined) return []
  const { maxDepth = 1, maxDelegations = 1, maxCallsPerWorker = 1 } = limits
  const perWorker =
    typeof maxCallsPerWorker === 'number'
      ? { 'delegation.maxCallsPerWorker': maxCallsPerWorker }
      : prefixed('delegation.maxCallsPerWorker', maxCallsPerWorker)
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
    ...findUnknownOptions(limits, LIMIT_NAMES, 'delegation'),
    ...Object.entries(numbers)
      .filter(([, value]) => !(Number.isInteger(value) && value >= 1))
      .map(([name, value]) => `${name} must be an integer >= 1, got ${value}`),
    ...unknown.map(
      (role) => `delegation names an unknown role "${role}". Available: [${roles.join(', ')}]`,
    ),
  ]
}

function prefixed(
  prefix: string,
  record: Readonly<Record<string, number>>,
): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(record).map(([key, value]) => [`${prefix}.${key}`, value]),
  )
}
