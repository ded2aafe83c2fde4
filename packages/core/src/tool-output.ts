/** Conversion of the return value of a tool body to the result of its call. */
import { formatInputFailure } from './input-failure.ts'
import { isPromise } from './is-promise.ts'
import { isToolResult, ToolResult } from './tool-result.ts'

import type { ValueReader } from './input/input-reader.ts'
import type { ToolContext } from './tool.ts'

/** Effect of a value that does not match the output schema: a warning in the log, or a failed call. */
export type OutputCheck = 'warn' | 'strict'

/** Rules for the output of a tool. */
export interface OutputRules {
  readonly reader: ValueReader<unknown>
  readonly check: OutputCheck
}

/** Tool and call of an output. */
export interface OutputOrigin {
  readonly name: string
  readonly context: ToolContext
  readonly output: OutputRules | undefined
}

/** Returns the result of a call whose body returned `value`: text, a result, or a value that becomes JSON text. */
export function toToolResult(
  value: unknown,
  origin: OutputOrigin,
): ToolResult | Promise<ToolResult> {
  const { output } = origin
  const result = toResult(value, output)
  if (output === undefined || !result.success) return result
  if (typeof value === 'string') return readTextOutput(value, output)
  return result.structured === undefined ? result : checkOutput(result, origin, output)
}

/** Reads text as the value itself where the output schema allows it, and else as text only. */
async function readTextOutput(text: string, { reader }: OutputRules): Promise<ToolResult> {
  const decoded = await reader.read(text)
  return decoded.ok ? ToolResult.success(text, text) : ToolResult.success(text)
}

function toResult(value: unknown, output: OutputRules | undefined): ToolResult {
  if (typeof value === 'string') return ToolResult.success(value)
  if (isToolResult(value) && !(output !== undefined && isDeclaredValue(value, output))) return value
  if (value === undefined || (value === null && output === undefined)) return ToolResult.success('')
  // `JSON.stringify` returns undefined for values such as functions.
  const text: string | undefined = JSON.stringify(value)
  return text === undefined ? ToolResult.success('') : ToolResult.success(text, value)
}

/** Whether a value that looks like a result is the declared output: the output schema has such fields. */
function isDeclaredValue(value: ToolResult, { reader }: OutputRules): boolean {
  if (ToolResult.isMade(value)) return false
  const { properties = {} } = reader.jsonSchema as { readonly properties?: object }
  return 'success' in properties && 'output' in properties
}

async function checkOutput(
  result: ToolResult,
  { name, context }: OutputOrigin,
  { reader, check }: OutputRules,
): Promise<ToolResult> {
  const reading = reader.read(result.structured)
  const decoded = isPromise(reading) ? await reading : reading
  if (decoded.ok) return result
  const message = formatInputFailure(name, decoded.problems, 'output')
  if (check === 'strict') return ToolResult.failure(message)
  try {
    const { problems } = decoded
    context.logger.warn('Tool output does not match its schema', { tool: name, problems })
  } catch {
    // A logger that throws must not lose the output.
  }
  return result
}
