/** Pure: the status of a run as the wire calls it. */
import type { RunStatus } from '@tutti/protocol'

/** The states of a task that this wire knows. */
export type TaskStatus = 'working' | 'input-required' | 'completed' | 'failed' | 'canceled'

const STATUSES: Readonly<Record<RunStatus, TaskStatus>> = {
  ACCEPTED: 'working',
  RUNNING: 'working',
  WAITING_REVIEW: 'input-required',
  CANCELLING: 'working',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'canceled',
  REJECTED: 'failed',
}

/** The state of the task that a run is. */
export function taskStatus(status: RunStatus): TaskStatus {
  return STATUSES[status]
}
