/**
 * The schemas that a tool can be written with: TypeBox, plain JSON Schema, or any library that speaks
 * Standard Schema with JSON Schema (Zod, Valibot, ArkType).
 */
import type { Static, TSchema } from 'typebox'
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'

/** A schema that can both check a value and say itself as JSON Schema. */
export interface StandardToolSchema<Input = unknown, Output = Input> {
  readonly '~standard': StandardSchemaV1.Props<Input, Output> &
    StandardJSONSchemaV1.Props<Input, Output>
}

/** A schema of the input or output of a tool. */
export type ToolSchema = TSchema | StandardToolSchema

/** The type of a value that has been checked against the schema, as a tool body gets it. */
export type ValueOf<Schema extends ToolSchema> =
  Schema extends StandardToolSchema<infer _, infer Output> ? Output : Static<Schema>

/** The type of a value that can be given to the schema to check, as a tool body returns it. */
export type SourceOf<Schema extends ToolSchema> =
  Schema extends StandardToolSchema<infer Input, infer _> ? Input : Static<Schema>
