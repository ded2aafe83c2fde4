/** Settings of reviews: which tasks are reviewed, and how long a review waits. */
import { findChoiceProblems, findOptionProblems, type OptionNames } from '@tutti/core/internal'

import { ReviewTimeoutAction, type ReviewPolicy } from '@tutti/protocol/internal'

/** Default time limit of a review in milliseconds, the same as for tools. */
export const DEFAULT_REVIEW_TIMEOUT_MS = 300_000

/** Default number of times that a reviewer can reject the same task. */
export const DEFAULT_MAX_REVISIONS = 5

/** Settings of one review of a task. */
export interface ReviewSettings {
  /** Question to the reviewer. */
  readonly prompt?: string
  /** Time limit in milliseconds; Infinity waits forever. @default 300000 */
  readonly timeoutMs?: number
  /** Action at the time limit. @default EXIT_EARLY */
  readonly onTimeout?: ReviewTimeoutAction
  /** Role that the reviewer must have. A server checks it against the roles of API keys. */
  readonly requiredRole?: string
  /** Number of times that REJECT repeats the task; the next one fails it. @default 5 */
  readonly maxRevisions?: number
}

const SETTING_NAMES = {
  prompt: true,
  timeoutMs: true,
  onTimeout: true,
  requiredRole: true,
  maxRevisions: true,
} as const satisfies OptionNames<ReviewSettings>

const DEFAULTS_NAMES = {
  timeoutMs: true,
  onTimeout: true,
  requiredRole: true,
} as const satisfies OptionNames<ReviewDefaults>

/** Defaults for the reviews of tasks and tools. */
export type ReviewDefaults = Pick<ReviewSettings, 'timeoutMs' | 'onTimeout' | 'requiredRole'>

/**
 * Review of a task: `true` uses the defaults; `false` disables the review that the ensemble's policy would
 * add.
 */
export type ReviewSetting = boolean | ReviewSettings

/**
 * Returns the review after a task, by its own setting, else by the policy; undefined if there is none.
 *
 * @param lastTasks tasks whose output the run can have.
 */
export function reviewAfter(
  task: { readonly name: string; readonly review?: ReviewSetting },
  policy: ReviewPolicy,
  lastTasks: readonly string[],
): ReviewSettings | undefined {
  if (task.review !== undefined) return reviewSettingsOf(task.review)
  if (policy === 'AFTER_EVERY_TASK') return {}
  return policy === 'AFTER_LAST_TASK' && lastTasks.includes(task.name) ? {} : undefined
}

/** Returns the settings of a review; undefined if there is none. */
export function reviewSettingsOf(setting: ReviewSetting | undefined): ReviewSettings | undefined {
  if (setting === undefined || setting === false) return undefined
  return setting === true ? {} : setting
}

/** Returns the problems of a setting, one text each. */
export function findReviewProblems(
  name: string,
  setting: ReviewSetting | undefined,
): readonly string[] {
  if (setting === undefined || typeof setting === 'boolean') return []
  if (typeof setting !== 'object' || setting === null) {
    return [`${name} must be true, false or an object, got ${String(setting)}`]
  }
  const { maxRevisions = 0 } = setting
  const problems = [
    ...findOptionProblems(setting, SETTING_NAMES, name),
    ...findDefaultsProblems(name, setting),
  ]
  if (!(Number.isInteger(maxRevisions) && maxRevisions >= 0)) {
    problems.push(`${name}.maxRevisions must be an integer >= 0, got ${maxRevisions}`)
  }
  return problems
}

/** Returns the problems of review defaults, one text each. */
export function findDefaultsProblems(name: string, defaults: ReviewDefaults): readonly string[] {
  const { timeoutMs = 1, onTimeout, requiredRole = 'any' } = defaults
  const problems = [...findChoiceProblems(`${name}.onTimeout`, onTimeout, ReviewTimeoutAction.enum)]
  if (!(timeoutMs > 0)) problems.push(`${name}.timeoutMs must be > 0, got ${timeoutMs}`)
  if (typeof requiredRole !== 'string' || requiredRole.trim() === '') {
    problems.push(`${name}.requiredRole must be a name, got ${JSON.stringify(requiredRole)}`)
  }
  return problems
}

/** Returns the problems of the review defaults of an ensemble, one text each. */
export function findEnsembleReviewProblems(defaults: ReviewDefaults = {}): readonly string[] {
  return [
    ...findOptionProblems(defaults, DEFAULTS_NAMES, 'review'),
    ...findDefaultsProblems('review', defaults),
  ]
}
