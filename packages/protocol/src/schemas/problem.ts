/** One part of a value that does not match its schema. */
import Type from 'typebox'

import type { Static } from '../static.ts'

/** One validation problem. An invalid value can have several. */
export const Problem = Type.Object({
  /** JSON pointer (RFC 6901) to the part, such as `/inputs/topic`; empty for the whole value. */
  path: Type.String(),
  /** Readable description, such as `must be a string, got 42`. */
  message: Type.String(),
  /** Description of a valid value; absent when there is nothing to add. */
  expected: Type.Optional(Type.String()),
  /** Received value, truncated when long; absent when it is missing. */
  received: Type.Optional(Type.Unknown()),
})
export type Problem = Static<typeof Problem>
