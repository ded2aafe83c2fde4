/**
 * No I/O: folds the events of a run into whether it waits, and whether for decisions.
 *
 * PROTO-W1 A run waits when a review is open and each of its running tasks only waits: it has open reviews or delegations,
 *    which account for every call of its newest turn that has not ended. A delegated task runs from its delegation on. So a
 *    handler waits while the tasks that it added do, because the log does not show what else it does. It is
 *    WAITING_REVIEW if a caller can decide one of the reviews, otherwise WAITING.
 * PROTO-W2 The points at which a run waits follow from its log alone. Every reader finds the same ones, live or later.
 *
 * The cost of an event does not depend on the number of tasks, reviews and delegations.
 */
import { CALLER_REVIEW_KINDS, type WaitingRunStatus } from '../schemas/enums.ts'

import type { RunEvent, RunEventOf } from '../schemas/run-event.ts'

/** Work of a task, whether it runs or not. */
interface TaskWork {
  isRunning: boolean
  /** Ids of the newest turn's calls that have not ended. */
  calls: Set<string>
  /** Numbers of its open reviews and delegations. */
  reviews: number
  delegations: number
}

/** Determines whether a run waits from its events, in order. */
export class RunWaits {
  readonly #tasks = new Map<string, TaskWork>()
  /** Names of the running tasks that do not only wait. */
  readonly #busy = new Set<string>()
  /** Id of an open review, or of a delegation → its task. */
  readonly #reviews = new Map<string, string>()
  readonly #delegations = new Map<string, string>()
  /** Ids of the open reviews that a caller can decide. Events decide the others. */
  readonly #decidable = new Set<string>()
  #isEnding = false

  /** Status of a run that waits; undefined for any other run. */
  get status(): WaitingRunStatus | undefined {
    if (this.#isEnding || this.#reviews.size === 0 || this.#busy.size > 0) return undefined
    return this.#decidable.size > 0 ? 'WAITING_REVIEW' : 'WAITING'
  }

  /** Takes the next event. */
  take(event: RunEvent): void {
    switch (event.type) {
      case 'task_started':
      case 'task_attempt_failed':
      case 'llm_iteration_started':
        this.#work(event.taskName, { isRunning: true, calls: new Set() })
        return
      case 'llm_iteration_completed': {
        const calls = (event.toolRequests ?? []).map(({ id }, index) => id ?? String(index))
        this.#work(event.taskName, { isRunning: true, calls: new Set(calls) })
        return
      }
      case 'tool_called':
        this.#endCall(event)
        return
      case 'task_completed':
      case 'task_failed':
        this.#work(event.taskName, { isRunning: false })
        return
      case 'delegation_started':
        this.#open('delegations', this.#delegations, [event.delegationId, event.taskName])
        this.#work(event.workerTask, { isRunning: true })
        return
      case 'delegation_completed':
      case 'delegation_failed':
        this.#close('delegations', this.#delegations, event.delegationId)
        if (event.workerTask !== undefined) this.#work(event.workerTask, { isRunning: false })
        return
      case 'review_requested':
        if (CALLER_REVIEW_KINDS.includes(event.kind)) this.#decidable.add(event.reviewId)
        this.#open('reviews', this.#reviews, [event.reviewId, event.taskName])
        return
      case 'review_decided':
      case 'review_timed_out':
      case 'review_withdrawn':
        this.#decidable.delete(event.reviewId)
        this.#close('reviews', this.#reviews, event.reviewId)
        return
      case 'run_cancelling':
      case 'ensemble_completed':
      case 'run_result':
        this.#isEnding = true
        return
      default:
        return
    }
  }

  #endCall({ taskName, toolCallId, parentToolCallId }: RunEventOf<'tool_called'>): void {
    const work = this.#tasks.get(taskName)
    if (work === undefined || parentToolCallId !== undefined) return
    if (work.calls.delete(toolCallId)) this.#work(taskName, {})
  }

  #open(
    kind: 'reviews' | 'delegations',
    open: Map<string, string>,
    [id, taskName]: readonly [string, string],
  ): void {
    this.#close(kind, open, id)
    open.set(id, taskName)
    this.#work(taskName, { [kind]: this.#get(taskName)[kind] + 1 })
  }

  #close(kind: 'reviews' | 'delegations', open: Map<string, string>, id: string): void {
    const taskName = open.get(id)
    if (taskName === undefined) return
    open.delete(id)
    this.#work(taskName, { [kind]: this.#get(taskName)[kind] - 1 })
  }

  #get(taskName: string): TaskWork {
    const idle = { isRunning: false, calls: new Set<string>() }
    return this.#tasks.get(taskName) ?? { ...idle, reviews: 0, delegations: 0 }
  }

  #work(taskName: string, change: Partial<TaskWork>): void {
    const work = { ...this.#get(taskName), ...change }
    const { isRunning, calls, reviews, delegations } = work
    const isDone = !isRunning && reviews + delegations === 0
    if (isDone) this.#tasks.delete(taskName)
    else this.#tasks.set(taskName, work)
    const waits = reviews + delegations
    const onlyWaits = waits > 0 && calls.size <= waits
    if (isRunning && !onlyWaits) this.#busy.add(taskName)
    else this.#busy.delete(taskName)
  }
}
