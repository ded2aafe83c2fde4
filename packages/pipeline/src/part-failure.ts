/** What stands in place of the result of a part that failed, when the others are to go on. */
import { isJsonObject, type Static, type TSchema, Type } from '@tutti/core'
import { embedSchema } from './schema/embed-schema.ts'

import type { AgentTool } from '@tutti/core'
import type { PipelineErrorStrategy } from './error-strategy.ts'

/** A part of `parallel` or `mapEach` that failed: why, in place of its result. */
export const PartFailure = Type.Object({ error: Type.String() })
export type PartFailure = Static<typeof PartFailure>

/** What one part gives: its output, or its failure where failures do not stop the others. */
export type PartOutput<Output, Strategy extends PipelineErrorStrategy> =
  | Output
  | (Strategy extends 'CONTINUE_ON_FAILURE' ? PartFailure : never)

/** Whether the result of a part is its failure: an object whose one field is `error`, a text. */
export function isPartFailure(value: unknown): value is PartFailure {
  return (
    isJsonObject(value) && typeof value['error'] === 'string' && Object.keys(value).length === 1
  )
}

/** The failure with that message. */
export function partFailure(error: string): PartFailure {
  return { error }
}

/** Schema of what one part gives, for its place at `path` of another schema. */
export function partSchema(
  { outputSchema = Type.String() }: AgentTool,
  errorStrategy: PipelineErrorStrategy,
  path: readonly string[],
): TSchema {
  if (errorStrategy === 'FAIL_FAST') return embedSchema(outputSchema, path)
  return Type.Union([embedSchema(outputSchema, [...path, 'anyOf', '0']), PartFailure])
}
