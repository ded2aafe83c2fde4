/** The value of a failed part when the other parts continue. */
import { type Static, type TSchema, Type } from '@tutti/core'
import { isJsonObject } from '@tutti/core/internal'
import { embedSchema } from './schema/embed-schema.ts'

import type { AgentTool } from '@tutti/core'
import type { PipelineErrorStrategy } from './error-strategy.ts'

/** Value of a failed part of `parallel` or `mapEach`, in place of its result. */
export const PartFailure = Type.Object({ error: Type.String() })
export type PartFailure = Static<typeof PartFailure>

/** Value of one part: its output, or its failure if failures do not stop the others. */
export type PartOutput<Output, Strategy extends PipelineErrorStrategy> =
  | Output
  | (Strategy extends 'CONTINUE_ON_FAILURE' ? PartFailure : never)

/** Whether the value of a part is a failure: an object whose only field is `error`, a string. */
export function isPartFailure(value: unknown): value is PartFailure {
  return (
    isJsonObject(value) && typeof value['error'] === 'string' && Object.keys(value).length === 1
  )
}

/** Creates a failure with this message. */
export function createPartFailure(error: string): PartFailure {
  return { error }
}

/** Creates the schema of the value of one part, for embedding at `path` in another schema. */
export function createPartSchema(
  { outputSchema = Type.String() }: AgentTool,
  errorStrategy: PipelineErrorStrategy,
  path: readonly string[],
): TSchema {
  if (errorStrategy === 'FAIL_FAST') return embedSchema(outputSchema, path)
  return Type.Union([embedSchema(outputSchema, [...path, 'anyOf', '0']), PartFailure])
}
