/** Types of ended runs, and their decoder. */
import { decode, ROUTES, type RunDetail } from '@tutti/protocol'
import type { Decoded, RunOutcome, RunOutput } from '@tutti/protocol/internal'

/** A run that has ended. */
export type EndedRun = RunDetail & { readonly status: RunOutcome }

/** A run that has ended, with the outputs of its tasks. */
export type RunEnd = EndedRun & {
  /** The output of each task, in the order of the tasks. */
  readonly outputs: readonly RunOutput[]
  /** Reason of the failure: one of `FAILURE_CODES`, or a newer code. */
  readonly code?: string | undefined
}

/** Decodes a run whose status must be a final one. */
export function decodeEndedRun(value: unknown): Decoded<EndedRun> {
  const decoded = decode(ROUTES.getRun.response, value)
  if (!decoded.ok) return decoded
  const { status } = decoded.value
  if (status === 'COMPLETED' || status === 'FAILED' || status === 'CANCELLED') {
    return { ok: true, value: { ...decoded.value, status } }
  }
  const message = `must be COMPLETED, FAILED or CANCELLED, got "${status}"`
  return { ok: false, problems: [{ path: '/status', message }] }
}
