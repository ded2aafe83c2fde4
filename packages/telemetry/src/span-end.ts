/** Pure: ends of spans that failed. */
import { limitText } from '@tutti/core/internal'

import { TUTTI } from './attributes.ts'

import type { SpanEnd } from './open-span.ts'

/** Maximum number of characters of an error message. */
const MAX_MESSAGE = 1_024

/** Codes of intended ends, which are not errors. */
const INTENDED: ReadonlySet<string> = new Set(['CANCELLED', 'EXIT_EARLY'])

/** Failure in an event. */
export interface Failure {
  readonly code: string
  readonly reason?: string | undefined
}

/** Returns the end of failed work; a cancel is not an error. */
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
