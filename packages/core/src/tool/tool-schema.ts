/**
 * Schemas with which a tool can be defined: TypeBox, plain JSON Schema, or any library that implements Standard Schema with
 * JSON Schema (Zod, Valibot, ArkType).
 */
import type { Static } from '@tutti/protocol/internal'
import type { TSchema } from 'typebox'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'

/** Schema that can validate a value and convert itself to JSON Schema. */
export interface StandardToolSchema<Input = unknown, Output = Input> {
  readonly '~standard': StandardSchemaV1.Props<Input, Output> &
    StandardJSONSchemaV1.Props<Input, Output>
}

/** Schema of the input or output of a tool. */
export type ToolSchema = TSchema | StandardToolSchema

/** Type of a validated value, as a tool body gets it. */
export type ValueOf<Schema extends ToolSchema> =
  Schema extends StandardToolSchema<infer _, infer Output> ? Output : Static<Schema>

/** Type of a value before validation, as a tool body returns it. */
export type SourceOf<Schema extends ToolSchema> =
  Schema extends StandardToolSchema<infer Input, infer _> ? Input : Static<Schema>
