/** The statuses of runs, without their schema. */

/** All statuses of runs; `RunStatus` says what they mean. */
export const RUN_STATUSES = [
  'ACCEPTED',
  'RUNNING',
  'CANCELLING',
  'WAITING_REVIEW',
  'WAITING',
  'WAITING_FOR_BUILD',
  'COMPLETED',
  'FAILED',
  'CANCELLED',
  'REJECTED',
] as const

/** Statuses of a run in which every task that could continue waits; `RunStatus` says what for. */
export const WAITING_RUN_STATUSES = [
  'WAITING_REVIEW',
  'WAITING',
] as const satisfies readonly (typeof RUN_STATUSES)[number][]

/** Status of a run in which every task that could continue waits. */
export type WaitingRunStatus = (typeof WAITING_RUN_STATUSES)[number]

/** Whether every task that could continue waits in a run with this status. */
export function isWaitingRunStatus(status: string | undefined): status is WaitingRunStatus {
  return WAITING_RUN_STATUSES.some((waiting) => waiting === status)
}

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
