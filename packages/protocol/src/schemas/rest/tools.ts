/** Calling one tool of the catalog by hand. */
import Type from 'typebox'
import { CLOSED, DurationMs, JsonObject } from '../scalars.ts'

/** Body of `POST /api/tools/{name}/invoke`: text, or the object of a typed tool. Seed §4.8. */
export const InvokeToolBody = Type.Object(
  { input: Type.Union([Type.String(), JsonObject]) },
  CLOSED,
)
export type InvokeToolBody = Type.Static<typeof InvokeToolBody>

/** Answer of a tool that ran. FAILED is the tool's own word and still status 200. Seed §4.8. */
export const ToolInvocation = Type.Object({
  tool: Type.String(),
  status: Type.Enum(['SUCCESS', 'FAILED']),
  /** Present on SUCCESS. */
  output: Type.Optional(Type.String()),
  durationMs: DurationMs,
  /** Present on FAILED. AgentEnsemble REST. */
  errorMessage: Type.Optional(Type.String()),
  /** The result as a value, for tools that give one. Ours. */
  structured: Type.Optional(Type.Unknown()),
})
export type ToolInvocation = Type.Static<typeof ToolInvocation>
