/** The statuses of runs, without their schema. */

/** All statuses of runs; `RunStatus` says what they mean. */
export const RUN_STATUSES = [
  'ACCEPTED',
  'RUNNING',
  'CANCELLING',
  'WAITING_REVIEW',
  'WAITING_FOR_BUILD',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'REJECTED',
] as const

/** Statuses that a run never leaves. */
export const TERMINAL_RUN_STATUSES = [
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'REJECTED',
] as const satisfies readonly (typeof RUN_STATUSES)[number][]

/** Whether a run with this status has ended. */
export function isTerminalRunStatus(
  status: (typeof RUN_STATUSES)[number],
): status is (typeof TERMINAL_RUN_STATUSES)[number] {
  return TERMINAL_RUN_STATUSES.some((terminal) => terminal === status)
}
