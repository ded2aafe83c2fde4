/** Pure: where a run stands, from what is known of it. */
import { isTerminalRunStatus, type RunStatus } from '../schemas/enums.ts'
import type { RunState } from './run-state.ts'

/**
 * The status of a run. WAITING_REVIEW when a gate is open and every running task waits at one, or waits
 * for workers it delegated to that do; a task between two attempts goes on by itself and waits for nobody.
 */
export function statusOf(state: RunState): RunStatus {
  if (isTerminalRunStatus(state.status)) return state.status
  if (state.cancelMode !== undefined) return 'CANCELLING'
  if (state.startedAt === undefined && state.epoch === undefined) return 'ACCEPTED'
  return waitsForReview(state) ? 'WAITING_REVIEW' : 'RUNNING'
}

function waitsForReview({ gates, tasks, delegations }: RunState): boolean {
  const atGate = new Set(
    gates.flatMap(({ status, taskName }) => (status === 'OPEN' ? [taskName] : [])),
  )
  if (atGate.size === 0) return false
  const running = new Set(tasks.flatMap(({ name, status }) => (status === 'RUNNING' ? [name] : [])))
  const busy = (name: string | undefined): boolean =>
    name !== undefined && (running.has(name) || atGate.has(name))
  const waits = (name: string): boolean => {
    if (atGate.has(name)) return true
    // A worker that runs is judged itself.
    const open = delegations.filter((one) => one.taskName === name && one.status === 'RUNNING')
    return open.length > 0 && open.every(({ workerTask }) => busy(workerTask))
  }
  return tasks.every(
    ({ name, status, error }) =>
      (status !== 'RUNNING' || waits(name)) && (status !== 'FAILED' || error?.willRetry !== true),
  )
}
