/**
 * Defining tools. A typed tool declares its input with TypeBox: the types of its body are inferred
 * from it, and the body only ever sees input that fits.
 */
import { decode, type Problem } from '@tutti/protocol'
import Type, { type Static, type TSchema } from 'typebox'

import { isToolResult, ToolResult } from './tool-result.ts'

import type { AgentTool, ToolContext } from './tool.ts'

/** Default limit of one tool call: long enough for a web request, short enough to notice a hang. */
export const DEFAULT_TOOL_TIMEOUT_MS = 30_000

/** What the author of a typed tool writes. */
export interface ToolDefinition<Input extends TSchema, Output extends TSchema> {
  /** Name the model calls it by: letters, digits, `_` and `-`, at most 64 of them. */
  readonly name: string
  /** What it does, written for the model. */
  readonly description: string
  /** Schema of the arguments, an object. */
  readonly input: Input
  /** Schema of the value that `execute` returns, when it returns more than text. */
  readonly output?: Output
  /** Limit of one call in milliseconds, above 0; Infinity is none. @default 30000 */
  readonly timeoutMs?: number
  /** Whether a call whose outcome is unknown may be made again. @default true */
  readonly idempotent?: boolean
  /**
   * Does the work. Returns text, a {@link ToolResult}, or a value that matches `output`; what it
   * throws becomes a failed result that the model sees.
   */
  execute(
    input: Static<Input>,
    context: ToolContext,
  ): ToolReturn<Output> | Promise<ToolReturn<Output>>
}

/** What a tool body may return. */
export type ToolReturn<Output extends TSchema> = string | ToolResult | Static<Output>

/** A tool whose input and output types are known to the compiler. */
export interface TypedTool<Input extends TSchema, Output extends TSchema> extends AgentTool {
  readonly inputSchema: Input
  readonly outputSchema?: Output
  execute(input: Static<Input>, context: ToolContext): Promise<ToolReturn<Output>>
}

/**
 * Makes a typed tool.
 *
 * @throws {TypeError} when the name, the description or the time limit does not fit.
 */
export function defineTool<
  const Input extends TSchema,
  const Output extends TSchema = Type.TString,
>(definition: ToolDefinition<Input, Output>): TypedTool<Input, Output> {
  checkDefinition(definition)
  const { name, description, input: inputSchema, output: outputSchema } = definition
  return {
    name,
    description,
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    timeoutMs: definition.timeoutMs ?? DEFAULT_TOOL_TIMEOUT_MS,
    idempotent: definition.idempotent ?? true,
    async execute(input, context) {
      return definition.execute(input, context)
    },
    async call(input, context) {
      const decoded = decode(inputSchema, input)
      if (!decoded.ok) return ToolResult.failure(inputFailure(name, decoded.problems))
      return toResult(await definition.execute(decoded.value, context))
    },
  }
}

/** What the author of a text tool writes. */
export interface TextToolDefinition {
  readonly name: string
  readonly description: string
  /** Limit of one call in milliseconds, above 0; Infinity is none. @default 30000 */
  readonly timeoutMs?: number
  /** Whether a call whose outcome is unknown may be made again. @default true */
  readonly idempotent?: boolean
  execute(input: string, context: ToolContext): string | ToolResult | Promise<string | ToolResult>
}

/** Schema of every text tool: one required string named `input`. */
export const TextToolInput = Type.Object({ input: Type.String() })

/**
 * Makes a tool whose whole input is one string, such as an expression or a question.
 *
 * @throws {TypeError} when the name, the description or the time limit does not fit.
 */
export function defineTextTool(
  definition: TextToolDefinition,
): TypedTool<typeof TextToolInput, Type.TString> {
  return defineTool({
    ...definition,
    input: TextToolInput,
    execute: ({ input }, context) => definition.execute(input, context),
  })
}

function checkDefinition({
  name,
  description,
  timeoutMs,
}: Pick<TextToolDefinition, 'name' | 'description' | 'timeoutMs'>): void {
  if (typeof name !== 'string' || !/^[A-Za-z0-9_-]{1,64}$/.test(name)) {
    throw new TypeError(
      `Cannot define tool ${JSON.stringify(name)}: a name is 1 to 64 letters, digits, "_" or "-"`,
    )
  }
  if (typeof description !== 'string' || description.trim() === '') {
    throw new TypeError(`Cannot define tool "${name}": description must not be blank`)
  }
  if (timeoutMs !== undefined && !(timeoutMs > 0)) {
    throw new TypeError(`Cannot define tool "${name}": timeoutMs must be > 0, got ${timeoutMs}`)
  }
}

function inputFailure(name: string, problems: readonly Problem[]): string {
  const list = problems.map(({ path, message }) => `${path === '' ? 'input' : path} ${message}`)
  return `Invalid input for "${name}": ${list.join('; ')}`
}

function toResult(value: unknown): ToolResult {
  if (typeof value === 'string') return ToolResult.success(value)
  if (isToolResult(value)) return value
  if (value === undefined || value === null) return ToolResult.success('')
  // Not every value is JSON: a function, for one, has no text.
  const text: string | undefined = JSON.stringify(value)
  return text === undefined ? ToolResult.success('') : ToolResult.success(text, value)
}
