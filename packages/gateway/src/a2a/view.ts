/**
 * Pure: a task of A2A, out of the events of its run.
 *
 *   SUBMITTED ─▶ WORKING ⇄ INPUT_REQUIRED ─▶ COMPLETED | FAILED | CANCELED
 *
 * V1 The state is that of the run; while a gate is open it is INPUT_REQUIRED, and the oldest open gate is
 *    what is asked.
 * V2 What the last task of the run has given is the artifact, under the name of that task; a later output takes the
 *    place of an earlier one. A run that ended without it has as artifacts what its other tasks have given.
 * V3 A gate that is closed stays so, also when an older event that opens it comes again.
 * V4 Events in any batches give the same view, and events that say nothing of the task leave it as it is.
 */
import { addEventUsage, NO_RUN_USAGE, type RunUsage } from '../service/usage.ts'

import type { WirePart, A2aTaskState } from './wire.ts'
import type { LoggedRunEvent, RunEventOf } from '@tutti/protocol'
import type { RunRecord } from '@tutti/runs'

/** A review that waits for a decision. */
export type OpenReview = RunEventOf<'review_requested'>

/** What one task of the run has given. */
export interface TaskOutput {
  readonly taskName: string
  readonly text: string
  /** The same as a value, where the task has a schema for it. */
  readonly value?: unknown
  /** Files, URLs and data that a handler gave in place of both. */
  readonly parts?: readonly WirePart[]
}

/** Something that was said while the run went on. */
export type Turn =
  | { readonly by: 'agent'; readonly review: OpenReview }
  | { readonly by: 'user'; readonly id: string; readonly text: string }

/** A task as its events tell it. */
export interface TaskView {
  readonly state: A2aTaskState
  /** Since when, as its events say it. */
  readonly changedAt: string
  /** Why it failed. */
  readonly error?: string
  readonly reviews: readonly OpenReview[]
  readonly closedReviews: readonly string[]
  readonly outputs: readonly TaskOutput[]
  readonly turns: readonly Turn[]
  /** The task whose output is that of the run; undefined before it began. */
  readonly finalTask: string | undefined
  readonly usage: RunUsage
  /** The `seq` of the first event that it does not know yet. */
  readonly nextSeq: number
}

/** Types of the events that a view is made of, but for those of usage. */
export const VIEW_EVENTS = [
  'ensemble_started',
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

/** The view of a run of which no event is known yet. */
export function firstView({ createdAt }: Pick<RunRecord, 'createdAt'>): TaskView {
  return {
    state: 'TASK_STATE_SUBMITTED',
    changedAt: new Date(createdAt).toISOString(),
    reviews: [],
    closedReviews: [],
    outputs: [],
    turns: [],
    finalTask: undefined,
    usage: NO_RUN_USAGE,
    nextSeq: 0,
  }
}

/** Whether the task changes no more. */
export function isTerminal({ state }: Pick<TaskView, 'state'>): boolean {
  return TERMINAL.includes(state)
}

const TERMINAL: readonly A2aTaskState[] = [
  'TASK_STATE_COMPLETED',
  'TASK_STATE_FAILED',
  'TASK_STATE_CANCELED',
  'TASK_STATE_REJECTED',
]

/** Whether whoever waits for the task has something to do, or nothing to wait for. */
export function isSettled(view: Pick<TaskView, 'state'>): boolean {
  return isTerminal(view) || view.state === 'TASK_STATE_INPUT_REQUIRED'
}

/** The view after one more event. */
export function viewAfter(view: TaskView, event: LoggedRunEvent): TaskView {
  const usage = addEventUsage(view.usage, event)
  return { ...changed(view, event), usage, nextSeq: event.seq + 1 }
}

function changed(view: TaskView, event: LoggedRunEvent): TaskView {
  switch (event.type) {
    case 'ensemble_started': {
      const finalTask = event.tasks.at(-1)?.name
      return { ...working(view, event.startedAt), finalTask }
    }
    case 'review_requested':
      return withReview(view, event)
    case 'review_decided': {
      const said: Turn = { by: 'user', id: `${event.reviewId}-answer`, text: decisionText(event) }
      const turns = [...view.turns, said]
      return withoutReview({ ...view, turns }, event.reviewId, event.decidedAt)
    }
    case 'review_timed_out':
      return withoutReview(view, event.reviewId)
    case 'review_withdrawn':
      return withoutReview(view, event.reviewId, event.withdrawnAt)
    case 'directive_active': {
      const said: Turn = { by: 'user', id: event.directiveId, text: event.content ?? '' }
      return { ...view, turns: [...view.turns, said] }
    }
    case 'task_completed':
      return { ...view, outputs: withOutput(view.outputs, event) }
    case 'run_cancelling':
      return working(view, event.requestedAt)
    case 'ensemble_completed':
      return { ...view, changedAt: event.completedAt }
    case 'run_result':
      return ended(view, event)
    default:
      return view
  }
}

function working(view: TaskView, changedAt: string): TaskView {
  return { ...view, state: 'TASK_STATE_WORKING', changedAt }
}

function withReview(view: TaskView, review: OpenReview): TaskView {
  const { reviewId, requestedAt } = review
  if (view.closedReviews.includes(reviewId)) return view
  const at = view.reviews.findIndex((open) => open.reviewId === reviewId)
  // Asked again after a crash: the same question, with the time that is left.
  if (at !== -1) return { ...view, reviews: view.reviews.with(at, review) }
  return {
    ...view,
    state: 'TASK_STATE_INPUT_REQUIRED',
    changedAt: view.reviews.length === 0 ? requestedAt : view.changedAt,
    reviews: [...view.reviews, review],
    turns: [...view.turns, { by: 'agent', review }],
  }
}

/** The view when a gate is closed, at an instant that may not be known. */
export function withoutReview(
  view: TaskView,
  reviewId: string,
  closedAt: string = view.changedAt,
): TaskView {
  const reviews = view.reviews.filter((one) => one.reviewId !== reviewId)
  const closedReviews = [...view.closedReviews, reviewId]
  if (reviews.length === view.reviews.length) return { ...view, closedReviews }
  const rest = { ...view, reviews, closedReviews, changedAt: closedAt }
  return reviews.length > 0 || isTerminal(view) ? rest : { ...rest, state: 'TASK_STATE_WORKING' }
}

function withOutput(
  outputs: readonly TaskOutput[],
  event: RunEventOf<'task_completed'>,
): readonly TaskOutput[] {
  const output = toOutput(event)
  const others = outputs.filter(({ taskName }) => taskName !== output.taskName)
  let room = MAX_OUTPUTS - output.text.length
  const fitting = others.toReversed().filter(({ text }) => (room -= text.length) > 0)
  return [...fitting.toReversed(), output]
}

/** Size of the outputs that a view keeps besides the newest, in characters; of those that do not fit the oldest go. */
const MAX_OUTPUTS = 4_000_000

/** What a task of the run has given, out of the event that says it. */
export function toOutput({
  taskName,
  output: text,
  structuredOutput: value,
  parts,
}: RunEventOf<'task_completed'>): TaskOutput {
  return {
    taskName,
    text,
    ...(value === undefined ? {} : { value }),
    ...(parts === undefined ? {} : { parts }),
  }
}

const OUTCOMES = {
  COMPLETED: 'TASK_STATE_COMPLETED',
  FAILED: 'TASK_STATE_FAILED',
  CANCELLED: 'TASK_STATE_CANCELED',
} as const satisfies Readonly<Record<RunEventOf<'run_result'>['status'], A2aTaskState>>

function ended(view: TaskView, { status, code, error }: RunEventOf<'run_result'>): TaskView {
  const isRejected = status === 'FAILED' && code === 'REQUEST_REJECTED'
  const state = isRejected ? 'TASK_STATE_REJECTED' : OUTCOMES[status]
  return { ...view, state, reviews: [], ...(error === undefined ? {} : { error }) }
}

function decisionText({ decision, feedback, revisedOutput }: RunEventOf<'review_decided'>): string {
  if (decision === 'EDIT') return revisedOutput ?? ''
  return feedback === undefined ? decision : `${decision}: ${feedback}`
}
