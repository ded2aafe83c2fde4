/**
 * No I/O: folds the events of a run into whether it waits only for decisions.
 *
 * PROTO-W1 A run waits when a review is open and each of its running tasks only waits: the reviews and delegations of the
 *    task account for every call of its newest turn that has not ended.
 * PROTO-W2 The points at which a run waits follow from its log alone. Every reader finds the same ones, live or later.
 */
import type { RunEvent, RunEventOf } from '../schemas/run-event.ts'

/** Work of a running task. */
interface TaskWork {
  /** Whether the task waits for a model, or is about to. */
  readonly isThinking: boolean
  /** Ids of the newest turn's calls that have not ended. */
  readonly calls: ReadonlySet<string>
}

const THINKING: TaskWork = { isThinking: true, calls: new Set() }

/** Determines whether a run waits from its events, in order. */
export class RunWaits {
  readonly #running = new Map<string, TaskWork>()
  /** Id of a delegation → the task that delegates. */
  readonly #delegations = new Map<string, string>()
  #isEnding = false

  /** Whether a run with these open reviews waits only for decisions. */
  isWaiting(open: readonly Pick<RunEventOf<'review_requested'>, 'taskName'>[]): boolean {
    if (this.#isEnding || open.length === 0) return false
    return [...this.#running].every(([name, { isThinking, calls }]) => {
      const reviews = open.filter(({ taskName }) => taskName === name)
      const delegations = [...this.#delegations.values()].filter((taskName) => taskName === name)
      const waits = reviews.length + delegations.length
      return waits > 0 && !(isThinking && reviews.length === 0) && calls.size <= waits
    })
  }

  /** Takes the next event. */
  take(event: RunEvent): void {
    switch (event.type) {
      case 'task_started':
      case 'task_attempt_failed':
      case 'llm_iteration_started':
        this.#running.set(event.taskName, THINKING)
        return
      case 'llm_iteration_completed': {
        const calls = (event.toolRequests ?? []).map(({ id }, index) => id ?? String(index))
        this.#running.set(event.taskName, { isThinking: calls.length === 0, calls: new Set(calls) })
        return
      }
      case 'tool_called':
        this.#endCall(event)
        return
      case 'task_completed':
      case 'task_failed':
        this.#running.delete(event.taskName)
        return
      case 'delegation_started':
        this.#delegations.set(event.delegationId, event.taskName)
        return
      case 'delegation_completed':
      case 'delegation_failed':
        this.#delegations.delete(event.delegationId)
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
    const work = this.#running.get(taskName)
    if (work === undefined || parentToolCallId !== undefined || !work.calls.has(toolCallId)) return
    const calls = new Set([...work.calls].filter((id) => id !== toolCallId))
    this.#running.set(taskName, { isThinking: calls.size === 0, calls })
  }
}
