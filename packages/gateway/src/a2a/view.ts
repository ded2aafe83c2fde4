/**
 * No I/O: an A2A task as a view of the state of its run.
 *
 *   `SUBMITTED ─▶ WORKING ⇄ INPUT_REQUIRED ─▶ COMPLETED | FAILED | CANCELED | REJECTED`
 *
 * GW-V1 The state is that of the run. While a review is open, it is INPUT_REQUIRED and the oldest open review is the
 *    question.
 * GW-V2 The output of the run's last planned task is the artifact, with the name of that task. A run that ended
 *    without it has the outputs of its other tasks as artifacts, except those of counted tasks (GW-GP1) and of agents after a
 *    handoff, whose answers belong to the task that was handed off.
 * GW-V3 A review that a message has decided is closed, even before the log contains the decision.
 * GW-V4 The cost of an event does not depend on the number of tasks, reviews and outputs. The event that lists the plan costs
 *    as much as the plan has tasks.
 *
 * The view does not contain text of models and tool calls, because a task does not show them.
 */
import { RunStateFold, type LoggedRunEvent, type RunFacts, type RunState } from '@tutti/protocol'
import {
  CALLER_REVIEW_KINDS,
  addEventUsage,
  NO_RUN_USAGE,
  type ReviewState,
  type RunUsage,
  type TaskOutput,
} from '@tutti/protocol/internal'

import { GroupProgress, type GroupNote } from '../runs/group-progress.ts'

import type { A2aTaskState } from './wire.ts'
import type { RunRecord } from '@tutti/runs/adapter'

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
  'task_failed',
  'run_cancelling',
  'ensemble_completed',
  'run_result',
] as const satisfies readonly LoggedRunEvent['type'][]

const FOLDED: ReadonlySet<string> = new Set(VIEW_EVENTS)

/** A task as of the newest event of its run. */
export class TaskView {
  readonly #run = new RunStateFold()
  readonly #groups = new GroupProgress()
  readonly #outputs = new RetainedOutputs()
  /** Ids of the open reviews, oldest first. */
  readonly #open = new Set<string>()
  /** Names of the tasks that continue the conversation of another task after a handoff. */
  readonly #receivers = new Set<string>()
  /** Ids of reviews that messages have decided. */
  readonly #decided = new Set<string>()
  #end: RunState['status'] | undefined
  #changedAt: string
  #usage = NO_RUN_USAGE
  #nextSeq = 0

  /** Begins before the first event of the run. */
  constructor({ createdAt }: Pick<RunRecord, 'createdAt'>) {
    this.#changedAt = new Date(createdAt).toISOString()
  }

  /** Fields of the run as a whole. */
  get facts(): RunFacts {
    return this.#run.facts
  }

  /** Status of a run that has ended. */
  get end(): RunState['status'] | undefined {
    return this.#end
  }

  /** Time of the last state change, in ISO 8601. */
  get changedAt(): string {
    return this.#changedAt
  }

  get usage(): RunUsage {
    return this.#usage
  }

  /** `seq` of the first event after the view. */
  get nextSeq(): number {
    return this.#nextSeq
  }

  /** All reviews, directives and delegations so far. Reading them copies what has changed since the last time. */
  get history(): Pick<RunState, 'reviews' | 'directives' | 'delegations'> {
    return this.#run.state
  }

  /** Oldest open review; undefined if there is none. */
  get question(): ReviewState | undefined {
    for (const reviewId of this.#open) {
      if (!this.#decided.has(reviewId)) return this.#run.findReview(reviewId)
    }
    return undefined
  }

  /** Open reviews, oldest first. */
  get openReviews(): readonly ReviewState[] {
    return [...this.#open].flatMap((reviewId) =>
      this.#decided.has(reviewId) ? [] : (this.#run.findReview(reviewId) ?? []),
    )
  }

  /** Output of the run's last planned task; undefined while it has none. */
  get output(): TaskOutput | undefined {
    return this.#outputs.find(this.facts.outputTask)
  }

  /** Outputs of all tasks that are not only counted, in the order of the tasks. */
  get outputs(): readonly TaskOutput[] {
    const indexOf = ({ taskName }: TaskOutput): number => this.#run.findTask(taskName)?.index ?? 0
    return this.#outputs.list.toSorted((one, other) => indexOf(one) - indexOf(other))
  }

  /** Whether the task continues the conversation of another task, which has its output. */
  isReceiver(taskName: string): boolean {
    return this.#receivers.has(taskName)
  }

  /** Takes the next event of the run. Returns a note if the event is about a counted task. */
  take(event: LoggedRunEvent): GroupNote | undefined {
    const group = this.#groups.take(event)
    this.#usage = addEventUsage(this.#usage, event)
    this.#nextSeq = event.seq + 1
    if (!FOLDED.has(event.type)) return group
    const hadQuestion = this.question !== undefined
    const wasOpen = 'reviewId' in event && this.#isOpen(event.reviewId)
    this.#fold(event)
    this.#changedAt = this.#findChangeTime(event, { hadQuestion, wasOpen }) ?? this.#changedAt
    return group
  }

  /** Closes a review that a message has decided. */
  decide(reviewId: string): void {
    this.#decided.add(reviewId)
  }

  #fold(event: LoggedRunEvent): void {
    switch (event.type) {
      case 'task_completed':
        if (!this.#groups.isCounted(event.taskName) && !this.isReceiver(event.taskName)) {
          this.#outputs.add(toOutput(event))
        }
        return
      case 'delegation_started':
        if (event.handoff !== undefined) this.#receivers.add(event.workerTask)
        break
      case 'task_failed':
        return
      case 'run_resumed':
        // A task that other code had removed is pending again.
        for (const { name } of event.addedTasks ?? []) this.#outputs.remove(name)
        break
      case 'run_result':
        this.#end = event.status
        this.#addResult(event)
        break
      default:
    }
    this.#run.take(event)
    if ('reviewId' in event) this.#readReview(event.reviewId)
  }

  /** Adds the output of a run that a reviewer ended early, which can be that of a counted task. */
  #addResult({ outputTask, outputs }: Extract<LoggedRunEvent, { type: 'run_result' }>): void {
    if (outputTask === undefined || this.#outputs.find(outputTask) !== undefined) return
    const result = outputs.find(({ taskName }) => taskName === outputTask)
    if (result !== undefined) this.#outputs.add({ taskName: outputTask, output: result.output })
  }

  #readReview(reviewId: string): void {
    const review = this.#run.findReview(reviewId)
    if (review?.status === 'OPEN' && CALLER_REVIEW_KINDS.includes(review.kind))
      this.#open.add(reviewId)
    else this.#open.delete(reviewId)
  }

  #isOpen(reviewId: string): boolean {
    return this.#open.has(reviewId) && !this.#decided.has(reviewId)
  }

  /** Returns the time at which an event changed the state; undefined if it did not, or has no time. */
  #findChangeTime(
    event: LoggedRunEvent,
    { hadQuestion, wasOpen }: { readonly hadQuestion: boolean; readonly wasOpen: boolean },
  ): string | undefined {
    switch (event.type) {
      case 'ensemble_started':
        return event.startedAt
      case 'run_cancelling':
        return event.requestedAt
      case 'ensemble_completed':
        return event.completedAt
      case 'review_requested':
        return hadQuestion ? undefined : this.question?.requestedAt
      case 'review_decided':
        return wasOpen && !this.#isOpen(event.reviewId) ? event.decidedAt : undefined
      case 'review_withdrawn':
        return wasOpen && !this.#isOpen(event.reviewId) ? event.withdrawnAt : undefined
      default:
        return undefined
    }
  }
}

function toOutput(event: Extract<LoggedRunEvent, { type: 'task_completed' }>): TaskOutput {
  const { taskName, output, structuredOutput, parts } = event
  return {
    taskName,
    output,
    ...(structuredOutput === undefined ? {} : { structuredOutput }),
    ...(parts === undefined ? {} : { parts }),
  }
}

/** Returns the state of the task. */
export function toTaskState(view: Pick<TaskView, 'end' | 'facts' | 'question'>): A2aTaskState {
  const { error, cancelMode, startedAt } = view.facts
  switch (view.end) {
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
      if (view.question !== undefined) return 'TASK_STATE_INPUT_REQUIRED'
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

/** Maximum size of the outputs that a view retains in addition to the newest, in characters. */
const MAX_OUTPUTS = 4_000_000

/** Outputs of tasks, without the oldest ones beyond {@link MAX_OUTPUTS} in total. */
class RetainedOutputs {
  /** Outputs by task, oldest first. */
  readonly #outputs = new Map<string, TaskOutput>()
  #size = 0

  get list(): readonly TaskOutput[] {
    return [...this.#outputs.values()]
  }

  find(taskName: string | undefined): TaskOutput | undefined {
    return taskName === undefined ? undefined : this.#outputs.get(taskName)
  }

  add(output: TaskOutput): void {
    this.remove(output.taskName)
    for (const [oldest] of this.#outputs) {
      if (this.#size < MAX_OUTPUTS) break
      this.remove(oldest)
    }
    this.#outputs.set(output.taskName, output)
    this.#size += output.output.length
  }

  remove(taskName: string): void {
    this.#size -= this.#outputs.get(taskName)?.output.length ?? 0
    this.#outputs.delete(taskName)
  }
}
