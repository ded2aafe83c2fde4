/**
 * Defining tools. A typed tool declares its input with a schema: the types of its body are inferred
 * from it, and the body only ever sees input that fits.
 *
 *   input ─read─▶ typed value ─approve─▶ body ─▶ text, value or result ─check output─▶ ToolResult
 */
import Type from 'typebox'

import { inputFailure } from './input-failure.ts'
import { inputReader, outputReader, type ValueReader } from './input/input-reader.ts'
import { isStandardSchema } from './input/standard-reader.ts'
import { toStandardSchema } from './input/standard-schema.ts'
import { textReader } from './input/text-reader.ts'
import { isPromise } from './is-promise.ts'
import { toToolResult } from './tool-output.ts'
import { settleTool, type ApprovalSettings, type ToolSettings } from './tool-settings.ts'
import { ToolResult } from './tool-result.ts'

import type { OutputCheck, OutputRules } from './tool-output.ts'
import type { ToolContext } from './tool-context.ts'
import type { SourceOf, StandardToolSchema, ToolSchema, ValueOf } from './tool-schema.ts'
import type { TypedTool } from './tool.ts'

/** What the author of a typed tool writes. */
export interface ToolDefinition<
  Input extends ToolSchema,
  Output extends ToolSchema,
> extends ToolSettings<ValueOf<Input>> {
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
  execute(
    input: ValueOf<Input>,
    context: ToolContext<ValueOf<Input>>,
  ): ToolReturn<SourceOf<Output>> | Promise<ToolReturn<SourceOf<Output>>>
}

/** What a tool body may return. */
export type ToolReturn<Output = string> = string | ToolResult | Output

/**
 * Makes a typed tool. Its schemas are compiled here, once.
 *
 * @throws {TypeError} naming everything of the definition that does not fit.
 */
export function defineTool<
  const Input extends ToolSchema,
  const Output extends ToolSchema = Type.TString,
>(definition: ToolDefinition<Input, Output>): TypedTool<ValueOf<Input>, SourceOf<Output>> {
  const { name, input, output, coerce = true } = definition
  return makeTool(definition, {
    kind: 'typed',
    reader: inputReader(input, { toolName: name, coerce }),
    standard: () => standardOf(input, coerce),
    ...(output === undefined
      ? {}
      : {
          output: {
            reader: outputReader(output, { toolName: name }),
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

/**
 * Makes a tool whose whole input is one string, such as an expression or a question.
 *
 * @throws {TypeError} naming everything of the definition that does not fit.
 */
export function defineTextTool(definition: TextToolDefinition): TypedTool<string> {
  return makeTool<string, string>(definition, {
    kind: 'text',
    reader: textReader,
    standard: () => standardOf(Type.String(), true),
    execute: (value, context) => definition.execute(value, context),
  })
}

interface ToolParts<Input, Output> {
  readonly kind: TypedTool<Input>['kind']
  readonly reader: ValueReader<Input>
  readonly output?: OutputRules
  /** The input as a Standard Schema; asked for once, if at all. */
  standard(): StandardToolSchema<Input>['~standard']
  execute(
    input: Input,
    context: ToolContext<Input>,
  ): ToolReturn<Output> | Promise<ToolReturn<Output>>
}

function makeTool<Input, Output>(
  settings: ToolSettings<Input>,
  { kind, reader, output, standard, execute }: ToolParts<Input, Output>,
): TypedTool<Input, Output> {
  let ownStandard: StandardToolSchema<Input>['~standard'] | undefined
  const settled = settleTool(settings)
  const { name } = settled
  const approval = approvalOf(settings)
  return {
    ...settled,
    kind,
    inputSchema: reader.jsonSchema,
    ...(output === undefined ? {} : { outputSchema: output.reader.jsonSchema }),
    readInput: (input) => reader.read(input),
    get '~standard'() {
      ownStandard ??= standard()
      return ownStandard
    },
    async execute(input, context) {
      return execute(input, context)
    },
    async call(input, context) {
      const reading = reader.read(input)
      const decoded = isPromise(reading) ? await reading : reading
      if (!decoded.ok) return ToolResult.failure(inputFailure(name, decoded.problems))
      // NOTE: a context reads the edits of a reviewer with this tool's own reader; that is the type.
      const typed = context as ToolContext<Input>
      const value =
        approval === undefined
          ? decoded.value
          : await approvedInput(approval, { name, input: decoded.value, context: typed })
      const returning = execute(value, typed)
      const returned = isPromise(returning) ? await returning : returning
      return toToolResult(returned, { name, context, output })
    },
  }
}

function standardOf<Schema extends ToolSchema>(
  schema: Schema,
  coerce: boolean,
): StandardToolSchema<ValueOf<Schema>>['~standard'] {
  const standard = isStandardSchema(schema) ? schema : toStandardSchema(schema, { coerce })
  // NOTE: both read by this schema, and ValueOf is the type of what is read.
  return standard['~standard'] as StandardToolSchema<ValueOf<Schema>>['~standard']
}

function approvalOf<Input>(settings: ToolSettings<Input>): ApprovalSettings<Input> | undefined {
  const { requireApproval = false } = settings
  if (typeof requireApproval === 'object') return requireApproval
  return requireApproval ? {} : undefined
}

interface ToApprove<Input> {
  readonly name: string
  readonly input: Input
  readonly context: ToolContext<Input>
}

/** Characters of the input that a reviewer is shown, as in AgentEnsemble. */
const SHOWN_INPUT_LENGTH = 200

/** The input that a reviewer agreed to: the model's, or an edited one. */
async function approvedInput<Input>(
  settings: ApprovalSettings<Input>,
  { name, input, context }: ToApprove<Input>,
): Promise<Input> {
  const description = settings.describe?.(input) ?? describeCall(name, input)
  const decision = await context.requestApproval(description, settings)
  return decision.action === 'EDIT' ? decision.input : input
}

function describeCall(name: string, input: unknown): string {
  const text = typeof input === 'string' ? input : (JSON.stringify(input) ?? '')
  const shown = text.length > SHOWN_INPUT_LENGTH ? `${text.slice(0, SHOWN_INPUT_LENGTH)}…` : text
  return `Call tool: ${name}\nInput: ${shown}`
}
