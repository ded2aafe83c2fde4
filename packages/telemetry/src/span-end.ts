/** Pure: how a span says what went wrong. */
import { limitText } from '@tutti/core'

import { TUTTI } from './attributes.ts'

import type { SpanEnd } from './open-span.ts'

/** Characters of the message of an error. */
const MAX_MESSAGE = 1_024

/** Codes that say what somebody wanted, and not that something went wrong. */
const INTENDED: ReadonlySet<string> = new Set(['CANCELLED', 'EXIT_EARLY'])

/** What went wrong, as an event says it. */
export interface Failure {
  readonly code: string
  readonly reason?: string | undefined
}

/** The end that a failure makes; a cancel is no error. */
export function toFailedEnd(
  endMs: number,
  { code, reason }: Failure,
  redact: (text: string) => string,
): SpanEnd {
  const attributes = { [TUTTI.code]: code }
  if (INTENDED.has(code)) return { endMs, attributes }
  const message = reason === undefined ? undefined : limitText(redact(reason), MAX_MESSAGE)
  return { endMs, attributes, error: { type: code, message } }
}
