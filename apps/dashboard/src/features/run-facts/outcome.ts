/** Pure: how a run ended, in words. */
import type { RunState } from '@tutti/protocol'

/** Why a run ended as it did, where its status alone does not say it. */
export function outcomeOf({
  status,
  error,
  exitReason,
}: Pick<RunState, 'status' | 'error' | 'exitReason'>): string | undefined {
  if (error !== undefined) return error.message
  if (exitReason === 'USER_EXIT_EARLY') return 'A reviewer ended it early'
  if (exitReason === 'TIMEOUT') return 'Its time was up'
  if (exitReason === 'ERROR' && status !== 'FAILED') return 'Something failed on the way'
  return undefined
}
