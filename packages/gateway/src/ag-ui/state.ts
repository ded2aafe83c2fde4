/**
 * Pure: the state of a run as AG-UI clients see it.
 *
 * GW-Y1 The state has the key `tutti` with the status of the run, its tasks, its usage and its open reviews. Other keys
 *    are those of the client's state: they are returned unchanged, and agents do not get them.
 * GW-Y2 A stream has one snapshot before any other state, then deltas (JSON Patch). Applied in order, they give the
 *    state that a new snapshot would have.
 */
import { applyRunEvent, type LoggedRunEvent, type RunState } from '@tutti/protocol'
import type { RunUsage } from '@tutti/protocol/internal'

import type { PatchOperation } from './wire.ts'

/** Types of the events that change the state of a run. Others would only retain the text of models. */
const STATE_EVENTS: ReadonlySet<string> = new Set([
  'run_queued',
  'run_resumed',
  'run_cancelling',
  'ensemble_started',
  'delegation_started',
  'delegation_completed',
  'delegation_failed',
  'review_requested',
  'review_decided',
  'review_timed_out',
  'review_withdrawn',
  'task_started',
  'task_completed',
  'task_attempt_failed',
  'task_failed',
  'task_skipped',
  'ensemble_completed',
  'run_result',
] satisfies readonly LoggedRunEvent['type'][])

/** Key of the run in the state. */
const KEY = 'tutti'

export interface AguiRunState {
  /** Id of the run, with which the control API finds it. */
  readonly runId: string
  readonly ensemble: string
  readonly status: RunState['status']
  readonly tasks: readonly AguiTaskState[]
  readonly usage: { readonly tokens: number; readonly costUsd?: number }
  /** Open reviews, oldest first. */
  readonly reviews: readonly AguiReviewState[]
}

export interface AguiTaskState {
  readonly name: string
  readonly agentRole: string
  readonly status: RunState['tasks'][number]['status']
  /** From 1; 0 before the first attempt. */
  readonly attempt: number
}

/** Open review. */
export interface AguiReviewState {
  readonly reviewId: string
  readonly taskName: string
  readonly timing: RunState['reviews'][number]['timing']
}

/** Fields of a state that the events of the run do not contain. */
export type AguiRunIdentity = Pick<AguiRunState, 'runId' | 'ensemble'>

/** Returns the state of a run. */
export function toAguiState(
  identity: AguiRunIdentity,
  { status, tasks, reviews }: Pick<RunState, 'status' | 'tasks' | 'reviews'>,
  { tokens, knownCostUsd }: Pick<RunUsage, 'tokens' | 'knownCostUsd'>,
): AguiRunState {
  return {
    ...identity,
    status,
    tasks: tasks.map((task) => {
      const { name, agentRole, attempt } = task
      return { name, agentRole, status: task.status, attempt }
    }),
    usage: { tokens, ...(knownCostUsd === undefined ? {} : { costUsd: knownCostUsd }) },
    reviews: reviews.flatMap(({ reviewId, taskName, timing, status: reviewStatus }) =>
      reviewStatus === 'OPEN' ? [{ reviewId, taskName, timing }] : [],
    ),
  }
}

/** Returns the state of a run after an event, without the outputs of its tasks. */
export function foldState(run: RunState, event: LoggedRunEvent): RunState {
  if (!STATE_EVENTS.has(event.type)) return run
  if (event.type !== 'task_completed') return applyRunEvent(run, event)
  const { structuredOutput: _, parts: __, ...rest } = event
  return applyRunEvent(run, { ...rest, output: '' })
}

/** Returns the snapshot that adds a run to the state of a client. */
export function toSnapshot(given: unknown, state: AguiRunState): Readonly<Record<string, unknown>> {
  const isObject = typeof given === 'object' && given !== null && !Array.isArray(given)
  return { ...(isObject ? given : {}), [KEY]: state }
}

/** Returns the operations that change one state of a run to another; empty when they are equal. */
export function diffStates(before: AguiRunState, after: AguiRunState): readonly PatchOperation[] {
  const operations: PatchOperation[] = []
  const replace = (field: 'status' | 'usage' | 'reviews'): void => {
    operations.push({ op: 'replace', path: `/${KEY}/${field}`, value: after[field] })
  }
  if (before.status !== after.status) replace('status')
  if (!isSameUsage(before.usage, after.usage)) replace('usage')
  if (!isSameReviews(before.reviews, after.reviews)) replace('reviews')
  operations.push(...diffTasks(before.tasks, after.tasks))
  return operations
}

function diffTasks(
  before: AguiRunState['tasks'],
  after: AguiRunState['tasks'],
): readonly PatchOperation[] {
  const path = `/${KEY}/tasks`
  // Tasks are never removed from a run.
  return after.flatMap((task, index): readonly PatchOperation[] => {
    const known = before[index]
    if (known === undefined) return [{ op: 'add', path: `${path}/-`, value: task }]
    if (isSameTask(known, task)) return []
    return [{ op: 'replace', path: `${path}/${index}`, value: task }]
  })
}

function isSameUsage(one: AguiRunState['usage'], other: AguiRunState['usage']): boolean {
  return one.tokens === other.tokens && one.costUsd === other.costUsd
}

/** Whether the same reviews are open. The other fields of a review never change. */
function isSameReviews(
  one: readonly AguiReviewState[],
  other: readonly AguiReviewState[],
): boolean {
  const isKnown = ({ reviewId }: AguiReviewState, index: number): boolean =>
    reviewId === other[index]?.reviewId
  return one.length === other.length && one.every(isKnown)
}

function isSameTask(one: AguiTaskState, other: AguiTaskState): boolean {
  return (
    one.status === other.status &&
    one.attempt === other.attempt &&
    one.name === other.name &&
    one.agentRole === other.agentRole
  )
}
