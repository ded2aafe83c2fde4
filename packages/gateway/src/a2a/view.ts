/**
 * Pure: an A2A task as a view of the state of its run.
 *
 *   `SUBMITTED ─▶ WORKING ⇄ INPUT_REQUIRED ─▶ COMPLETED | FAILED | CANCELED | REJECTED`
 *
 * GW-V1 The state is that of the run. While a review is open, it is INPUT_REQUIRED and the oldest open review is the
 *    question.
 * GW-V2 The output of the run's last planned task is the artifact, with the name of that task. A run that ended
 *    without it has the outputs of its other tasks as artifacts.
 * GW-V3 A review that a message has decided is closed, even before the log contains the decision.
 *
 * The view does not contain text of models and tool calls, because a task does not show them.
 */
import { applyRunEvent, emptyRunState } from '@tutti/protocol'
import { addEventUsage, NO_RUN_USAGE, type RunUsage } from '@tutti/protocol/internal'

import type { A2aTaskState } from './wire.ts'
import type { LoggedRunEvent, RunState } from '@tutti/protocol'
import type { ReviewState, TaskState } from '@tutti/protocol/internal'
import type { RunRecord } from '@tutti/runs/adapter'

/** A task as of one event of its run. */
export interface TaskView {
  readonly run: RunState
  /** Time of the last state change, in ISO 8601. */
  readonly changedAt: string
  /** Ids of reviews that messages have decided. */
  readonly decided: readonly string[]
  readonly usage: RunUsage
  /** `seq` of the first event after the view. */
  readonly nextSeq: number
}

/** Types of the events that a view folds, in addition to those of usage. */
export const VIEW_EVENTS = [
  'ensemble_started',
  'run_resumed',
  'delegation_started',
  'review_requested',
  'review_decided',
  'review_timed_out',
  'review_withdrawn',
  'directive_active',
  'task_completed',
  'run_cancelling',
  'ensemble_completed',
  'run_result',
] as const satisfies readonly LoggedRunEvent['type'][]

const FOLDED: ReadonlySet<string> = new Set(VIEW_EVENTS)

/** Returns the view of a run before its first event. */
export function firstView({ createdAt }: Pick<RunRecord, 'createdAt'>): TaskView {
  return {
    run: emptyRunState(),
    changedAt: new Date(createdAt).toISOString(),
    decided: [],
    usage: NO_RUN_USAGE,
    nextSeq: 0,
  }
}

/** Returns the view after the next event. */
export function advanceView(view: TaskView, event: LoggedRunEvent): TaskView {
  const next = { ...view, usage: addEventUsage(view.usage, event), nextSeq: event.seq + 1 }
  if (!FOLDED.has(event.type)) return next
  const folded = { ...next, run: dropOldOutputs(applyRunEvent(view.run, event), event) }
  return { ...folded, changedAt: findChangeTime(view, folded, event) ?? view.changedAt }
}

/** Returns the time at which an event changed the state; undefined if it did not, or has no time. */
function findChangeTime(
  before: TaskView,
  after: TaskView,
  event: LoggedRunEvent,
): string | undefined {
  switch (event.type) {
    case 'ensemble_started':
      return event.startedAt
    case 'run_cancelling':
      return event.requestedAt
    case 'ensemble_completed':
      return event.completedAt
    case 'review_requested':
      return openReviews(before).length === 0 ? openReviews(after)[0]?.requestedAt : undefined
    case 'review_decided':
    case 'review_withdrawn': {
      const isClosed = openReviews(after).length < openReviews(before).length
      const at = event.type === 'review_decided' ? event.decidedAt : event.withdrawnAt
      return isClosed ? at : undefined
    }
    default:
      return undefined
  }
}

/** Returns the view after a message has decided a review. */
export function withoutReview(view: TaskView, reviewId: string): TaskView {
  return { ...view, decided: [...view.decided, reviewId] }
}

/** Returns the open reviews, oldest first. */
export function openReviews({ run, decided }: Pick<TaskView, 'run' | 'decided'>): ReviewState[] {
  return run.reviews.filter(
    ({ status, reviewId }) => status === 'OPEN' && !decided.includes(reviewId),
  )
}

/** Returns the state of the task. */
export function toTaskState(view: Pick<TaskView, 'run' | 'decided'>): A2aTaskState {
  const { status, error, cancelMode, startedAt } = view.run
  switch (status) {
    case 'COMPLETED':
      return 'TASK_STATE_COMPLETED'
    case 'CANCELLED':
      return 'TASK_STATE_CANCELED'
    case 'REJECTED':
      return 'TASK_STATE_REJECTED'
    case 'FAILED':
      return error?.code === 'REQUEST_REJECTED' ? 'TASK_STATE_REJECTED' : 'TASK_STATE_FAILED'
    default:
      if (cancelMode !== undefined) return 'TASK_STATE_WORKING'
      if (openReviews(view).length > 0) return 'TASK_STATE_INPUT_REQUIRED'
      return startedAt === undefined ? 'TASK_STATE_SUBMITTED' : 'TASK_STATE_WORKING'
  }
}

/** Whether a task in this state has ended. */
export function isTerminal(state: A2aTaskState): boolean {
  return TERMINAL.includes(state)
}

const TERMINAL: readonly A2aTaskState[] = [
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]

/** Whether a task in this state has ended or asks a question. */
export function isSettled(state: A2aTaskState): boolean {
  return isTerminal(state) || state === 'TASK_STATE_INPUT_REQUIRED'
}

/** A task of the run with its output. */
export type DoneTask = TaskState & { readonly output: string }

/** Returns the tasks that have an output. */
export function doneTasks({ run }: Pick<TaskView, 'run'>): readonly DoneTask[] {
  return run.tasks.filter((task): task is DoneTask => task.output !== undefined)
}

/** Maximum size of the outputs that a view retains in addition to the newest, in characters. */
const MAX_OUTPUTS = 4_000_000

/** Drops the oldest outputs beyond {@link MAX_OUTPUTS} in total. */
function dropOldOutputs(run: RunState, event: LoggedRunEvent): RunState {
  if (event.type !== 'task_completed') return run
  let room = MAX_OUTPUTS
  const remembered = new Set(
    doneTasks({ run })
      .toSorted((a, b) => (b.completedAt ?? '').localeCompare(a.completedAt ?? ''))
      .filter(({ name, output }) => name === event.taskName || (room -= output.length) > 0)
      .map(({ name }) => name),
  )
  const hasRoom = run.tasks.every(
    ({ name, output }) => output === undefined || remembered.has(name),
  )
  if (hasRoom) return run
  const tasks = run.tasks.map((task) => {
    if (remembered.has(task.name)) return task
    const { output: _, structuredOutput: __, parts: ___, ...rest } = task
    return rest
  })
  return { ...run, tasks }
}
