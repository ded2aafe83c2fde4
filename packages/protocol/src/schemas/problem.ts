/** What is wrong with one place of a value that does not fit its schema. */
import Type from 'typebox'

/** One problem of a value. A body with several wrong places has several of these. */
export const Problem = Type.Object({
  /** JSON pointer (RFC 6901) to the place, such as `/inputs/topic`; empty for the whole value. */
  path: Type.String(),
  /** What is wrong, ready to be shown: `must be a string, got 42`. */
  message: Type.String(),
  /** What would have fitted, in words, where there is something to say. */
  expected: Type.Optional(Type.String()),
  /** What came, cut when long; absent when nothing came. */
  received: Type.Optional(Type.Unknown()),
})
export type Problem = Type.Static<typeof Problem>
