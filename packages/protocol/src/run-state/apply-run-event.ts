/**
 * State of a run, derived from its events.
 *
 * PROTO-S1 No I/O: the same events give the same state, and a returned state never changes.
 * PROTO-S2 Parts that an event does not change are shared with the previous state; an event without effect returns the
 *    same state.
 * PROTO-S3 Tolerant: an event with an unknown type, task, review or attempt has no effect and does not throw.
 * PROTO-S4 After `run_resumed`, and after a failed model call, a turn that begins again replaces the earlier one, so
 *    that no token, tool call or cost counts twice.
 * PROTO-S5 The cost of a token does not depend on the length of the text.
 * PROTO-S6 An event of the last turn of an attempt, as nearly all are, does not read earlier turns.
 * PROTO-S7 In a {@link RunStateFold}, the cost of an event does not depend on the number of tasks, except for events that
 *    concern all of them: the plan, a resume, a fork, and a switch of the model. A state that is read copies the lists that
 *    have changed, and sums up the tasks.
 */
import type { RunEvent } from '../schemas/run-event.ts'
import { applyToDelegations } from './delegations.ts'
import { applyToDirectives, type DirectiveEvent } from './directives.ts'
import { ListEditor } from './lists.ts'
import { applyToReviews, findReview, type ReviewState } from './reviews.ts'
import { applyToRun } from './run-level.ts'
import { emptyRunState, type RunState } from './run-state.ts'
import { deriveStatus } from './run-status.ts'
import { findTask, type TaskState } from './task-state.ts'
import { applyToTasks, isQuietEvent } from './tasks.ts'
import { sumTotals } from './usage.ts'

/** Returns the state of a run after all of these events, which belong to one run and are in order. */
export function runStateAfter(events: Iterable<RunEvent>): RunState {
  const fold = new RunStateFold()
  for (const event of events) fold.take(event)
  return fold.state
}

/**
 * Returns the state after one more event, with or without its position in the log. It copies the list of tasks: for many
 * events of a run with thousands of tasks, use a {@link RunStateFold}.
 */
export function applyRunEvent(state: RunState, event: RunEvent): RunState {
  const fold = new RunStateFold(state)
  fold.take(event)
  return fold.state
}

/** Folds the events of a run, in order, into its state. No I/O. */
export class RunStateFold {
  readonly #lists = new ListEditor()
  /** State that was read last. */
  #read: RunState
  /** Newest state. Its lists change in place, and its status and totals may be outdated, until it is read. */
  #newest: RunState
  #isOutdated = false

  /** Begins after the events of a state. @default emptyRunState() */
  constructor(state: RunState = emptyRunState()) {
    this.#read = state
    this.#newest = state
  }

  /** Applies the next event, with or without its position in the log. */
  take(event: RunEvent): void {
    const changed = applyToState(this.#newest, event, this.#lists)
    if (changed === this.#newest) return
    this.#newest = changed
    if (!isQuietEvent(event)) this.#isOutdated = true
  }

  /** State after all events so far. It never changes; without further effects, it is the same object. */
  get state(): RunState {
    if (this.#newest === this.#read) return this.#read
    if (this.#isOutdated) this.#newest = updateDerived(this.#newest, this.#read)
    this.#isOutdated = false
    this.#lists.share()
    this.#read = this.#newest
    return this.#read
  }

  /** Fields of the run as a whole after all events so far, which take no time to read. They never change. */
  get facts(): RunFacts {
    return this.#newest
  }

  /** Returns a task as of all events so far; undefined if there is none of this name. */
  findTask(name: string): TaskState | undefined {
    return findTask(this.#newest.tasks, name)
  }

  /** Returns a review as of all events so far; undefined if there is none with this id. */
  findReview(reviewId: string): ReviewState | undefined {
    return findReview(this.#newest.reviews, reviewId)
  }
}

/** A state without its lists, and without what is derived from them. */
export type RunFacts = Omit<
  RunState,
  'status' | 'totals' | 'tasks' | 'reviews' | 'directives' | 'delegations' | 'changedFiles'
>

function applyToState(state: RunState, event: RunEvent, lists: ListEditor): RunState {
  switch (event.type) {
    case 'run_queued':
    case 'run_resumed':
    case 'run_forked':
    case 'run_cancelling':
    case 'ensemble_started':
    case 'file_changed':
    case 'model_switched':
    case 'ensemble_completed':
    case 'run_result':
      return applyToRun(state, event, lists)
    case 'task_started':
    case 'task_input':
    case 'task_completed':
    case 'task_attempt_failed':
    case 'task_failed':
    case 'task_skipped':
    case 'metrics_snapshot':
    case 'llm_iteration_started':
    case 'reasoning':
    case 'token':
    case 'llm_iteration_completed':
    case 'llm_iteration_failed':
    case 'tool_progress':
    case 'tool_called':
    case 'agent_tool_invoked':
    case 'agent_tool_progress':
    case 'agent_tool_turn':
    case 'agent_tool_completed':
    case 'agent_tool_terminated':
    case 'agent_tool_error':
      return applyToTasks(state, event, lists)
    case 'delegation_started':
    case 'delegation_completed':
    case 'delegation_failed':
      return applyToDelegations(state, event, lists)
    case 'review_requested':
    case 'review_decided':
    case 'review_timed_out':
    case 'review_withdrawn':
      return applyToReviews(state, event, lists)
    case 'directive_active':
    case 'directive_delivered': {
      const directed = applyToDirectives(state, event, lists)
      const profile = findAppliedProfile(event)
      return profile === undefined ? directed : { ...directed, profile }
    }
    default:
      return state
  }
}

function updateDerived(state: RunState, before: RunState): RunState {
  const status = deriveStatus(state)
  if (!hasNewUsage(state.tasks, before.tasks)) return { ...state, status }
  const totals = sumTotals(state.tasks)
  const { totalTokens, totalToolCalls, costUsd } = state.totals
  const isSame =
    totals.totalTokens === totalTokens &&
    totals.totalToolCalls === totalToolCalls &&
    totals.costUsd === costUsd
  return { ...state, status, totals: isSame ? state.totals : totals }
}

/** Whether totals may have changed: most events do not change the usage of any task, but a new attempt does. */
function hasNewUsage(tasks: RunState['tasks'], before: RunState['tasks']): boolean {
  if (tasks === before) return false
  return tasks.some((task, index) => {
    const known = before[index]
    return task !== known && task.usage !== known?.usage
  })
}

/** Returns the profile that the event applies to the whole run. */
function findAppliedProfile(event: DirectiveEvent): string | undefined {
  if (event.type !== 'directive_active' || event.action !== 'APPLY_PROFILE') return undefined
  return event.to === undefined ? event.value : undefined
}
