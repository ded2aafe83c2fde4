/**
 * Subprocess protocol of process tools: one JSON object on stdin, one on stdout.
 *
 * `@tutti/remote-tools` also accepts output that deviates from it, such as plain text or a missing `success`.
 */
import Type from 'typebox'

import type { Static } from '../static.ts'

/** JSON object that a process tool reads from stdin. */
export const ProcessToolRequest = Type.Object({
  /** Input of the tool, as the model wrote it. */
  input: Type.String(),
})
export type ProcessToolRequest = Static<typeof ProcessToolRequest>

/** JSON object that a process tool writes to stdout before it exits with code 0. */
export const ProcessToolResponse = Type.Object({
  /** Text for the model. The raw stdout is used when it is absent. */
  output: Type.Optional(Type.String()),
  /** True when absent. */
  success: Type.Optional(Type.Boolean()),
  /** Reason of the failure; used with `success: false`. */
  error: Type.Optional(Type.String()),
  /** Result as a JSON value, for programs. */
  structured: Type.Optional(Type.Unknown()),
})
export type ProcessToolResponse = Static<typeof ProcessToolResponse>
