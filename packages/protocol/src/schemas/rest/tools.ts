/** Direct calls of tools of the catalog. */
import Type from 'typebox'
import { CLOSED, DurationMs, JsonObject } from '../scalars.ts'

import type { Static } from '../../static.ts'

/** Body of `POST /api/tools/{name}/invoke`. */
export const InvokeToolBody = Type.Object(
  {
    /** Text, or the object of a typed tool. */
    input: Type.Union([Type.String(), JsonObject]),
  },
  CLOSED,
)
export type InvokeToolBody = Static<typeof InvokeToolBody>

/** Response of a tool call. A failure that the tool reports has the status FAILED, with HTTP status 200. */
export const ToolInvocation = Type.Object({
  /** Name of the tool. */
  tool: Type.String(),
  status: Type.Enum(['SUCCESS', 'FAILED']),
  /** Output of the tool; present with SUCCESS. */
  output: Type.Optional(Type.String()),
  /** Duration of the call in milliseconds. */
  durationMs: DurationMs,
  /** Error of the tool; present with FAILED. */
  errorMessage: Type.Optional(Type.String()),
  /** Result as a JSON value, for tools that return one. */
  structured: Type.Optional(Type.Unknown()),
})
export type ToolInvocation = Static<typeof ToolInvocation>
