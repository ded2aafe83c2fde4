/** Pure: describes what caused a cancel. */
import type { CancelCause } from '@tutti/protocol/internal'

const REASONS: Readonly<Record<CancelCause, string | undefined>> = {
  CALLER: undefined,
  CLIENT_LEFT: 'its client left',
  DEADLINE: 'its deadline passed',
  LIMIT: 'it exceeded the cost or tokens that its caller allows',
  SERVER: undefined,
}

/** Returns a sentence about a cancelled run, for the caller of a foreign protocol. */
export function describeCancel(cancel: { readonly cause: CancelCause } | undefined): string {
  const reason = cancel === undefined ? undefined : REASONS[cancel.cause]
  return reason === undefined ? 'The run was cancelled' : `The run was cancelled: ${reason}`
}
