import { TuttiError } from '@tutti/core'

/** Codes of reasons for a stop that replace CANCELLED. */
const REASONS: ReadonlySet<string> = new Set([
  'TASK_TIMEOUT',
  'BUDGET_EXCEEDED',
  'FENCED',
  'INTERRUPTED',
  'REPLAY_MISMATCH',
])

/** Codes of reasons for which a process may no longer work on a run, or cannot record its work. */
const LOSSES: ReadonlySet<string> = new Set([
  'FENCED',
  'INTERRUPTED',
  'STORE_UNAVAILABLE',
  'STORE_REFUSED',
  'RUN_TOO_LARGE',
])

/** Whether the process may no longer work on the run for this reason. */
export function isLoss(reason: unknown): boolean {
  return TuttiError.isInstance(reason) && LOSSES.has(reason.code)
}

/**
 * Returns the error of stopped work: the reason of the signal, such as TASK_TIMEOUT or BUDGET_EXCEEDED, else
 * CANCELLED. `what` begins the message, such as `Model call`.
 */
export function stoppedError(
  signal: AbortSignal,
  what: string,
  { cause, abandoned = false }: { readonly cause?: unknown; readonly abandoned?: boolean } = {},
): TuttiError {
  const reason: unknown = signal.reason
  const left = abandoned ? `${what} was abandoned: it ignored its signal` : undefined
  if (TuttiError.isInstance(reason) && REASONS.has(reason.code)) {
    if (left === undefined) return reason
    return new TuttiError(reason.code, `${reason.message}; ${left}`, {
      cause: reason,
      retryable: reason.retryable,
      ...(reason.details === undefined ? {} : { details: reason.details }),
    })
  }
  return new TuttiError(
    'CANCELLED',
    left ?? `${what} was cancelled`,
    cause === undefined ? {} : { cause },
  )
}
