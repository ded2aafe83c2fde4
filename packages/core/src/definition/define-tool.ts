/**
 * Definition of tools. A typed tool declares its input with a schema: the types of its body are inferred from it, and the
 * body only gets valid input.
 *
 *   input ─read─▶ typed value ─approve─▶ body ─▶ text, value or result ─check output─▶ ToolResult
 */
import { decode } from '@tutti/protocol'

import { createInputReader, createOutputReader, type ValueReader } from '../input/input-reader.ts'
import { isStandardSchema } from '../input/standard-reader.ts'
import { createStandardSchema } from '../input/standard-schema.ts'
import { BareText, textReader } from '../input/text-reader.ts'
import { makeTool } from './make-tool.ts'
import { assertToolSettings, TOOL_SETTING_NAMES } from './tool-settings.ts'

import type Type from 'typebox'
import type { OptionNames } from '../known-options.ts'
import type { OutputCheck } from './tool-output.ts'
import type { ToolContext, TypedTool } from '../tool/tool.ts'
import type { ToolReturn } from './make-tool.ts'
import type { SourceOf, StandardToolSchema, ToolSchema, ValueOf } from '../tool/tool-schema.ts'
import type { ToolResult } from '../tool/tool-result.ts'
import type { ToolSettings } from './tool-settings.ts'

/** Definition of a typed tool. */
export interface ToolDefinition<
  Input extends ToolSchema,
  Output extends ToolSchema,
  Value = ValueOf<Input>,
  Given = SourceOf<Output>,
> extends ToolSettings<Value> {
  /** Schema of the arguments, an object: TypeBox, JSON Schema, Zod, Valibot or ArkType. */
  readonly input: Input
  /** Schema of the value that `execute` returns; needed when it returns more than text. */
  readonly output?: Output
  /**
   * Whether values are coerced where their meaning is clear: `"5"` to 5, `"true"` to true, one value to a list of one,
   * JSON text to the object or list, null to an absent field. @default true
   */
  readonly coerce?: boolean
  /**
   * Whether the body gets an integer beyond 2^53 as a `bigint`, also where `input` declares a number. For a body that
   * passes its input on as JSON with `formatExactJson`. @default false
   */
  readonly exactIntegers?: boolean
  /** Effect of a value that does not match `output`: a warning in the log, or a failed call. @default warn */
  readonly outputCheck?: OutputCheck
  /**
   * Runs the tool. Returns text, a {@link ToolResult}, or a value that matches `output`. An error that it throws
   * becomes a failed result for the model.
   */
  execute(input: Value, context: ToolContext<Value>): ToolReturn<Given> | Promise<ToolReturn<Given>>
}

/** Names of the options of a typed tool. */
export const TYPED_TOOL_NAMES = {
  ...TOOL_SETTING_NAMES,
  input: true,
  output: true,
  coerce: true,
  exactIntegers: true,
  outputCheck: true,
  execute: true,
} as const satisfies OptionNames<ToolDefinition<ToolSchema, ToolSchema>>

/** Names of the parts that a definition has when it is a changed copy of a tool. */
const TOOL_PART_NAMES = {
  kind: true,
  inputSchema: true,
  outputSchema: true,
  readInput: true,
  call: true,
  '~standard': true,
} as const satisfies OptionNames<
  Omit<TypedTool<never>, keyof ToolDefinition<ToolSchema, ToolSchema>>
>

/**
 * Creates a typed tool and compiles its schemas.
 *
 * @throws {TypeError} listing every problem of the definition.
 */
export function defineTool<
  const Input extends ToolSchema,
  const Output extends ToolSchema = Type.TString,
  Value = ValueOf<Input>,
  Given = SourceOf<Output>,
  Source = SourceOf<Input>,
>(
  definition: ToolDefinition<Input, Output, NoInfer<Value>, NoInfer<Given>>,
): TypedTool<Value, Given, Source> {
  assertToolSettings(definition, { ...TYPED_TOOL_NAMES, ...TOOL_PART_NAMES })
  const { name, input, output, coerce = true, exactIntegers = false } = definition
  const reader = createInputReader(input, { toolName: name, coerce, exactIntegers })
  return makeTool(definition, {
    kind: 'typed',
    reader,
    standard: resolveStandardSchema(input, reader),
    ...(output === undefined
      ? {}
      : {
          output: {
            reader: createOutputReader(output, { toolName: name }),
            check: definition.outputCheck ?? 'warn',
          },
        }),
    execute: (value, context) => definition.execute(value, context),
  })
}

/** A tool that takes a text, for `defineTextTool`. */
export interface TextToolDefinition extends ToolSettings<string> {
  execute(
    input: string,
    context: ToolContext<string>,
  ): string | ToolResult | Promise<string | ToolResult>
}

const TEXT_TOOL_NAMES = {
  ...TOOL_SETTING_NAMES,
  execute: true,
} as const satisfies OptionNames<TextToolDefinition>

/**
 * Creates a tool whose whole input is one string, such as an expression or a question.
 *
 * @throws {TypeError} listing every problem of the definition.
 */
export function defineTextTool(definition: TextToolDefinition): TypedTool<string> {
  assertToolSettings(definition, { ...TEXT_TOOL_NAMES, ...TOOL_PART_NAMES })
  return makeTool<string, string>(definition, {
    kind: 'text',
    reader: textReader,
    standard: createStandardSchema<string>(BareText, (value) => decode(BareText, value))[
      '~standard'
    ],
    execute: (value, context) => definition.execute(value, context),
  })
}

/** Returns the input as a Standard Schema: that of the library, or one that reads as the tool does. */
function resolveStandardSchema<Schema extends ToolSchema>(
  schema: Schema,
  { read }: ValueReader<ValueOf<Schema>>,
): StandardToolSchema<SourceOf<Schema>, ValueOf<Schema>>['~standard'] {
  const standard = isStandardSchema(schema) ? schema : createStandardSchema(schema, read)
  // NOTE: both read by this schema, so these are the types of its input and output.
  return standard['~standard'] as StandardToolSchema<SourceOf<Schema>, ValueOf<Schema>>['~standard']
}
