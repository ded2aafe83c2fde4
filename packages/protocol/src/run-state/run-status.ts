/** Status of a run, derived from its state. */
import { isTerminalRunStatus, toWaitingStatus, type RunStatus } from '../schemas/enums.ts'
import type { RunState } from './run-state.ts'

/**
 * Returns the status of a run. A run waits when a review is open, and every running task waits for a review or for
 * delegated work that does; a task between two attempts does not wait.
 */
export function deriveStatus(state: RunState): RunStatus {
  if (isTerminalRunStatus(state.status)) return state.status
  if (state.cancelMode !== undefined) return 'CANCELLING'
  if (state.startedAt === undefined && state.epoch === undefined) return 'ACCEPTED'
  const open = state.reviews.filter(({ status }) => status === 'OPEN')
  return waitsForReviews(state, open) ? toWaitingStatus(open.map(({ kind }) => kind)) : 'RUNNING'
}

function waitsForReviews({ tasks, delegations }: RunState, open: RunState['reviews']): boolean {
  const atReview = new Set(open.map(({ taskName }) => taskName))
  if (atReview.size === 0) return false
  const running = new Set(tasks.flatMap(({ name, status }) => (status === 'RUNNING' ? [name] : [])))
  const busy = (name: string | undefined): boolean =>
    name !== undefined && (running.has(name) || atReview.has(name))
  const waits = (name: string): boolean => {
    if (atReview.has(name)) return true
    // A running worker is checked separately.
    const open = delegations.filter((one) => one.taskName === name && one.status === 'RUNNING')
    return open.length > 0 && open.every(({ workerTask }) => busy(workerTask))
  }
  return tasks.every(
    ({ name, status, error }) =>
      (status !== 'RUNNING' || waits(name)) && (status !== 'FAILED' || error?.willRetry !== true),
  )
}
