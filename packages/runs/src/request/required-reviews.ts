/**
 * Pure: refuses requests that weaken the reviews of the operator.
 *
 * RUNS-R5 A request can add reviews and make them stricter. It cannot remove a review that the operator requires, let
 *    a timeout approve it, change its role, or replace its prompt. Such a request is refused.
 */
import type { Ensemble, ReviewSettings, Task } from '@tutti/ensemble'
import {
  DEFAULT_REVIEW_TIMEOUT_MS,
  listTaskTree,
  listWorkingTasks,
  reviewAfter,
  reviewAtMax,
  reviewSettingsOf,
  type ReviewDefaults,
} from '@tutti/ensemble/internal'
import { listAddedTasks } from '@tutti/protocol/basics'

import { locateOverride, overridePath, type NestedEnsemble } from './override-targets.ts'
import { Refusals } from './refusals.ts'
import { toReviewDefaults } from './review-setting.ts'

import type { BuiltRequest } from './build-ensemble.ts'
import type { RequestedRun } from '../domain/run-record.ts'
import type { ReviewPolicy, TaskReviewSetting } from '@tutti/protocol/internal'

/**
 * Checks that a request respects the reviews of the operator.
 *
 * @throws {TuttiError} BAD_REQUEST with every problem and its path.
 */
export function assertRequiredReviews(
  template: Ensemble,
  request: RequestedRun,
  parts: BuiltRequest,
): void {
  const refusals = new Refusals()
  refuseOptions(template, request, refusals)
  for (const { path, name, original = { name }, within, review, beforeReview } of listChanges(
    request,
    parts,
  )) {
    const { reviewPolicy, review: defaults = {} } = within ?? template
    const { lastTasks } = (within ?? parts.built).plan
    const after = reviewAfter(original, reviewPolicy, lastTasks)
    const before = reviewSettingsOf(original.beforeReview)
    const check = { defaults, refusals }
    refuseChange(review, after, { ...check, path: `${path}/review`, name })
    refuseChange(beforeReview, before, { ...check, path: `${path}/beforeReview`, name })
  }
  refusals.throwIfAny()
}

const STRICTNESS: Readonly<Record<ReviewPolicy, number>> = {
  NEVER: 0,
  AFTER_LAST_TASK: 1,
  AFTER_EVERY_TASK: 2,
}

function refuseOptions(
  { name, reviewPolicy, review = {}, tasks }: Ensemble,
  { options = {} }: RequestedRun,
  refusals: Refusals,
): void {
  const refuse = (path: string, message: string): void => {
    refusals.add('BAD_REQUEST', `/options/${path}`, () => `/options/${path} ${message}`)
  }
  const { reviewPolicy: policy = reviewPolicy, review: asked } = options
  if (STRICTNESS[policy] < STRICTNESS[reviewPolicy]) {
    refuse(
      'reviewPolicy',
      `must be at least ${reviewPolicy}, which the operator of ensemble "${name}" requires; got ${policy}`,
    )
  }
  if (asked === undefined) return
  const { timeoutMs, onTimeout, requiredRole } = toReviewDefaults(asked)
  const action = review.onTimeout ?? 'EXIT_EARLY'
  if (onTimeout === 'CONTINUE' && action !== 'CONTINUE') {
    refuse('review/onTimeout', `must not be CONTINUE: the operator has set ${action}`)
  }
  const actions = [action, ...tasks.flatMap(listTaskTree).flatMap(listTimeoutActions)]
  const leastMs = review.timeoutMs ?? DEFAULT_REVIEW_TIMEOUT_MS
  if (timeoutMs !== undefined && timeoutMs < leastMs && actions.includes('CONTINUE')) {
    refuse(
      'review/timeoutMs',
      `must be at least ${leastMs}, because a timeout approves the review; got ${timeoutMs}`,
    )
  }
  if (requiredRole !== undefined && requiredRole !== (review.requiredRole ?? requiredRole)) {
    refuse('review/requiredRole', `must be "${review.requiredRole}", which the operator has set`)
  }
}

function listTimeoutActions(task: Task): readonly (string | undefined)[] {
  const { review, beforeReview } = task
  const reviews = [reviewSettingsOf(review), reviewSettingsOf(beforeReview), reviewAtMax(task)]
  return reviews.map((one) => one?.onTimeout)
}

/** The reviews of one task that a request sets. */
interface ReviewChange {
  readonly path: string
  readonly name: string
  /** The task of the operator's ensemble; absent for a task of the request. */
  readonly original?: Pick<Task, 'name' | 'review' | 'beforeReview'> | undefined
  /** The sub-ensemble of the task; absent for a task of the plan. */
  readonly within?: NestedEnsemble | undefined
  readonly review: TaskReviewSetting | undefined
  readonly beforeReview: TaskReviewSetting | undefined
}

function listChanges(
  { tasks, taskOverrides = {} }: RequestedRun,
  { built, originals }: BuiltRequest,
): readonly ReviewChange[] {
  const names = built.tasks.map(({ name }) => name)
  const defined = (tasks ?? []).flatMap((body, index) => {
    const path = `/tasks/${index}`
    const name = names[index] ?? ''
    return [
      { path, name, review: body.review, beforeReview: body.beforeReview },
      ...listAddedTasks(body).map(({ path: at, task }) => ({
        path: `${path}${at}`,
        name: task.name ?? name,
        review: task.review,
        beforeReview: task.beforeReview,
      })),
    ]
  })
  const overridden = Object.entries(taskOverrides).flatMap(([key, { review, beforeReview }]) => {
    const target = locateOverride(originals, key)
    if (typeof target === 'function') return []
    const { task, within } = target
    // A task of the request has the reviews of its caller, but its sub-ensemble those of the operator.
    const isOwn = tasks !== undefined && within === undefined
    const [working = task] = listWorkingTasks(task)
    const original = isOwn ? undefined : working
    return { path: overridePath(key), name: task.name, original, within, review, beforeReview }
  })
  return [...defined, ...overridden]
}

interface ChangeCheck {
  readonly defaults: ReviewDefaults
  readonly refusals: Refusals
  readonly path: string
  readonly name: string
}

/** Refuses changes that weaken a review that the operator requires. */
function refuseChange(
  asked: TaskReviewSetting | undefined,
  required: ReviewSettings | undefined,
  { defaults, refusals, path, name }: ChangeCheck,
): void {
  if (asked === undefined || asked === 'required' || required === undefined) return
  const refuse = (field: string, message: string): void => {
    refusals.add('BAD_REQUEST', `${path}${field}`, () => `${path}${field} ${message}`)
  }
  if (asked === 'skip') {
    refuse('', `must not be "skip": the operator requires a review of task "${name}"`)
    return
  }
  const { onTimeout = 'EXIT_EARLY', requiredRole, timeoutMs } = { ...defaults, ...required }
  const { timeoutMs: askedMs = Infinity } = toReviewDefaults(asked)
  const leastMs = timeoutMs ?? DEFAULT_REVIEW_TIMEOUT_MS
  if (asked.onTimeout === 'CONTINUE' && onTimeout !== 'CONTINUE') {
    refuse('/onTimeout', `must not be CONTINUE: the operator has set ${onTimeout}`)
  }
  if (onTimeout === 'CONTINUE' && askedMs < leastMs) {
    refuse(
      '/timeoutMs',
      `must be at least ${leastMs}, because a timeout approves the review; got ${askedMs}`,
    )
  }
  if (requiredRole !== undefined && (asked.requiredRole ?? requiredRole) !== requiredRole) {
    refuse('/requiredRole', `must be "${requiredRole}", which the operator has set`)
  }
  if (asked.prompt !== undefined && required.prompt !== undefined) {
    refuse('/prompt', "must not replace the operator's prompt")
  }
}
