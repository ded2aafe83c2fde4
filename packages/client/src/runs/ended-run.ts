/** A run that has ended: its type, and how it is read. */
import {
  decode,
  ROUTES,
  type Decoded,
  type RunDetail,
  type RunOutcome,
  type RunOutput,
} from '@tutti/protocol'

/** A run that has ended. */
export type EndedRun = RunDetail & { readonly status: RunOutcome }

/** How a run ended, with all outputs of its tasks. */
export type RunEnd = EndedRun & {
  /** The output of each task, in the order of the tasks. */
  readonly outputs: readonly RunOutput[]
  /** Why it failed: one of `FAILURE_CODES`, as open text. */
  readonly code?: string | undefined
}

/** Decodes a run that must have ended. */
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
