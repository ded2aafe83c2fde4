/** Conversion of the return value of a tool body to the result of its call. */
import {
  formatExactJson,
  hasBigInt,
  parseExactJson,
  toPlainJson,
  type Problem,
} from '@tutti/protocol/internal'

import { errorMessage } from '../errors.ts'
import { formatInputFailure } from '../input-failure.ts'
import { roundIntegers } from '../input/integers.ts'
import { toJsonForm } from '../json-form.ts'
import { isToolResult, ToolResult } from '../tool/tool-result.ts'

import type { ValueReader } from '../input/input-reader.ts'
import type { LogFields } from '../logger.ts'
import type { ToolContext } from '../tool/tool.ts'

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

/**
 * Returns the result of a call whose body returned `value`: text, a result, or a value that becomes JSON text. A value
 * without a JSON form is a failure, and so is an error that the body returned.
 */
export function toToolResult(
  value: unknown,
  origin: OutputOrigin,
): ToolResult | Promise<ToolResult> {
  const { name, output } = origin
  if (typeof value === 'string')
    return output === undefined ? ToolResult.success(value) : toTextResult(value, origin)
  if (isToolResult(value) && !(output !== undefined && isDeclaredValue(value, output))) {
    return toCheckedResult(value, origin)
  }
  if (value instanceof Error) return ToolResult.failure(errorMessage(value))
  if (value === undefined || (value === null && output === undefined))
    return toEmptyResult(value, origin)
  const form = toJsonForm(value)
  const text = form.ok ? formatExactJson(form.value) : undefined
  if (!form.ok || text === undefined) {
    const problem = form.ok ? 'the value has no JSON form' : form.problem
    return ToolResult.failure(`Tool "${name}" returned no JSON: ${problem}`)
  }
  return checkOutput(ToolResult.success(text, form.value), { checked: value, origin })
}

/** Reads text as the value itself where the output schema allows it, and else as text only. */
async function toTextResult(text: string, origin: OutputOrigin): Promise<ToolResult> {
  const { output } = origin
  const plain = ToolResult.success(text)
  if (output === undefined) return plain
  const decoded = await output.reader.read(text)
  if (decoded.ok) return ToolResult.success(text, text)
  if (output.check !== 'strict') return plain
  const value = parseJsonText(text)
  if (value === undefined) return failOutput(origin, decoded.problems)
  return checkOutput(ToolResult.success(text, value), { checked: value, origin })
}

function parseJsonText(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    return undefined
  }
}

/** Returns the result of a body that returned nothing, which the strict check accepts only where the schema does. */
function toEmptyResult(
  value: undefined | null,
  origin: OutputOrigin,
): ToolResult | Promise<ToolResult> {
  const empty = ToolResult.success('')
  return origin.output?.check === 'strict' ? checkOutput(empty, { checked: value, origin }) : empty
}

/** Checks the value of a result that the body made; the strict check reads the text of a result without a value. */
function toCheckedResult(
  result: ToolResult,
  origin: OutputOrigin,
): ToolResult | Promise<ToolResult> {
  const { name, output, context } = origin
  if (result.structured === undefined) {
    return result.success && output?.check === 'strict'
      ? toTextResult(result.output, origin)
      : result
  }
  const form = toJsonForm(result.structured)
  if (!form.ok) {
    logWarning(context, 'Structured result has no JSON form', { tool: name, problem: form.problem })
    return result
  }
  const converted = form.value === result.structured ? result : withStructured(result, form.value)
  if (!result.success) return toPlainResult(converted)
  return checkOutput(converted, { checked: result.structured, origin })
}

/** Returns the result with a structured value that has no `bigint`. */
function toPlainResult(result: ToolResult): ToolResult {
  return hasBigInt(result.structured)
    ? withStructured(result, toPlainJson(result.structured))
    : result
}

/** Returns a copy of a result with another structured value. */
function withStructured(result: ToolResult, structured: unknown): ToolResult {
  const copy = result.success ? ToolResult.success('') : ToolResult.failure('')
  return Object.assign(copy, result, { structured })
}

/** Whether a value that looks like a result is the declared output: the output schema has such fields. */
function isDeclaredValue(value: ToolResult, { reader }: OutputRules): boolean {
  if (ToolResult.isMade(value)) return false
  const { properties = {} } = reader.jsonSchema as { readonly properties?: object }
  return 'success' in properties && 'output' in properties
}

/** A value to check against the schema of the output. */
interface Checked {
  /** The value as the body returned it. */
  readonly checked: unknown
  readonly origin: OutputOrigin
}

function checkOutput(
  result: ToolResult,
  { checked, origin }: Checked,
): ToolResult | Promise<ToolResult> {
  const { output } = origin
  const plain = toPlainResult(result)
  return output === undefined ? plain : checkValue(plain, { checked, origin }, output)
}

/** Checks a value against the schema. Integers beyond 2^53 are checked as the nearest number. */
async function checkValue(
  result: ToolResult,
  { checked, origin }: Checked,
  { reader, check }: OutputRules,
): Promise<ToolResult> {
  const exact = await reader.read(checked)
  const decoded =
    exact.ok || !hasBigInt(checked) ? exact : await reader.read(roundIntegers(checked))
  if (decoded.ok) return result
  const { problems } = decoded
  if (check === 'strict') return failOutput(origin, problems)
  const { name, context } = origin
  logWarning(context, 'Tool output does not match its schema', { tool: name, problems })
  return result
}

function failOutput({ name }: OutputOrigin, problems: readonly Problem[]): ToolResult {
  return ToolResult.failure(formatInputFailure(name, problems, 'output'))
}

/** Logs a warning. A logger that throws must not lose the output. */
function logWarning({ logger }: ToolContext, message: string, fields: LogFields): void {
  try {
    logger.warn(message, fields)
  } catch {
    // The output is worth more than the warning.
  }
}
