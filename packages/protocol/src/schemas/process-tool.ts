/**
 * The subprocess protocol of process tools: one JSON object on stdin, one on stdout.
 * Remote tools seed, "JSON-over-stdio". What a program may get wrong and still be understood
 * (plain text, no `success`) is the business of `@tutti/remote-tools`.
 */
import Type from 'typebox'

/** What a process tool reads from stdin. */
export const ProcessToolRequest = Type.Object({ input: Type.String() })
export type ProcessToolRequest = Type.Static<typeof ProcessToolRequest>

/** What a process tool writes to stdout before it exits with code 0. */
export const ProcessToolResponse = Type.Object({
  /** Text for the model. The raw stdout stands in when it is absent. */
  output: Type.Optional(Type.String()),
  /** True when absent. */
  success: Type.Optional(Type.Boolean()),
  /** What went wrong, with `success: false`. */
  error: Type.Optional(Type.String()),
  /** The result as a value, for programs. */
  structured: Type.Optional(Type.Unknown()),
})
export type ProcessToolResponse = Type.Static<typeof ProcessToolResponse>
