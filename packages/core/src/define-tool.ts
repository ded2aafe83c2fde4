/**
 * Defining tools. A typed tool declares its input with a schema: the types of its body are inferred
 * from it, and the body only ever sees input that fits.
 *
 *   input ─read─▶ typed value ─approve─▶ body ─▶ text, value or result ─check output─▶ ToolResult
 */
import { decode } from '@tutti/protocol'

import { createInputReader, createOutputReader, type ValueReader } from './input/input-reader.ts'
import { isStandardSchema } from './input/standard-reader.ts'
import { createStandardSchema } from './input/standard-schema.ts'
import { BareText, textReader } from './input/text-reader.ts'
import { makeTool } from './make-tool.ts'
import { assertToolSettings, TOOL_SETTING_NAMES } from './tool-settings.ts'

import type Type from 'typebox'
import type { OptionNames } from './known-options.ts'
import type { OutputCheck } from './tool-output.ts'
import type { ToolContext, TypedTool } from './tool.ts'
import type { ToolReturn } from './make-tool.ts'
import type { SourceOf, StandardToolSchema, ToolSchema, ValueOf } from './tool-schema.ts'
import type { ToolResult } from './tool-result.ts'
import type { ToolSettings } from './tool-settings.ts'

/** What the author of a typed tool writes. */
export interface ToolDefinition<
  Input extends ToolSchema,
  Output extends ToolSchema,
  Value = ValueOf<Input>,
  Given = SourceOf<Output>,
> extends ToolSettings<Value> {
  /** Schema of the arguments, an object: TypeBox, JSON Schema, Zod, Valibot or ArkType. */
  readonly input: Input
  /** Schema of the value that `execute` returns, when it returns more than text. */
  readonly output?: Output
  /**
   * Whether slips of form are mended where the meaning is plain: `"5"` for 5, `"true"` for true, one
   * value for a list of one, JSON text for the object or list it spells, null for a field that may be
   * left out. @default true
   */
  readonly coerce?: boolean
  /** What a value that does not match `output` means: a warning in the log, or a failed call. @default warn */
  readonly outputCheck?: OutputCheck
  /**
   * Does the work. Returns text, a {@link ToolResult}, or a value that matches `output`; what it
   * throws becomes a failed result that the model sees.
   */
  execute(input: Value, context: ToolContext<Value>): ToolReturn<Given> | Promise<ToolReturn<Given>>
}

/** The options that a typed tool has. */
export const TYPED_TOOL_NAMES = {
  ...TOOL_SETTING_NAMES,
  input: true,
  output: true,
  coerce: true,
  outputCheck: true,
  execute: true,
} as const satisfies OptionNames<ToolDefinition<ToolSchema, ToolSchema>>

/** The parts that a definition has when it is a copy of a tool with changes. */
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
 * Makes a typed tool. Its schemas are compiled here, once.
 *
 * @throws {TypeError} naming everything of the definition that does not fit.
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
  const { name, input, output, coerce = true } = definition
  const reader = createInputReader(input, { toolName: name, coerce })
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

/** What the author of a text tool writes. */
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
 * Makes a tool whose whole input is one string, such as an expression or a question.
 *
 * @throws {TypeError} naming everything of the definition that does not fit.
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

/** The input as a Standard Schema: the library's own, or one that reads as the tool does. */
function resolveStandardSchema<Schema extends ToolSchema>(
  schema: Schema,
  { read }: ValueReader<ValueOf<Schema>>,
): StandardToolSchema<SourceOf<Schema>, ValueOf<Schema>>['~standard'] {
  const standard = isStandardSchema(schema) ? schema : createStandardSchema(schema, read)
  // NOTE: both read by this schema, and these are the types of what it takes and gives.
  return standard['~standard'] as StandardToolSchema<SourceOf<Schema>, ValueOf<Schema>>['~standard']
}
