/**
 * Converts the output of a program to the result of its call. The protocol is read loosely: plain text, a missing
 * `success`, and values in place of text are accepted.
 */
import { ToolResult } from '@tutti/core'
import { formatExactJson, isJsonObject, parseExactJson } from '@tutti/core/internal'

/** Returns whether a text is an object with a field of the protocol. */
export function isProtocolAnswer(text: string): boolean {
  const value = parseAnswerJson(text)
  return isJsonObject(value) && FIELDS.some((field) => field in value)
}

/** Options of reading an answer. */
export interface ProcessAnswerOptions {
  /** Whether the tool declares the schema of its output and so needs values in addition to text. */
  readonly declaresOutput: boolean
}

/** Converts the whole stdout of a program that exited with code 0 to a result. */
export function readProcessAnswer(text: string, options: ProcessAnswerOptions): ToolResult {
  if (text === '') return ToolResult.success('')
  const value = parseAnswerJson(text)
  if (isJsonObject(value)) return readAnswerObject(value, { ...options, text })
  return options.declaresOutput ? ToolResult.success(text, value) : ToolResult.success(text)
}

/** Options of reading an object, with the text that replaces a missing `output`. */
export interface AnswerObjectOptions extends ProcessAnswerOptions {
  readonly text: string
}

/** Converts an object with the fields of the protocol to a result. */
export function readAnswerObject(
  answer: Readonly<Record<string, unknown>>,
  { text, declaresOutput }: AnswerObjectOptions,
): ToolResult {
  const structured = readStructured(answer, declaresOutput)
  if (isFalse(answer['success'])) {
    const error = toText(answer['error']) ?? ''
    const failure = ToolResult.failure(
      error.trim() === '' ? 'Process returned success=false' : error,
    )
    return structured === undefined ? failure : Object.assign(failure, { structured })
  }
  return ToolResult.success(toText(answer['output']) ?? text, structured)
}

const FIELDS = ['output', 'success', 'error', 'structured']

/** Returns the value of an answer: `structured`, else an `output` that is not only text, else the whole object. */
function readStructured(
  answer: Readonly<Record<string, unknown>>,
  declaresOutput: boolean,
): unknown {
  const { structured, output } = answer
  if (structured !== undefined && structured !== null) return structured
  if (output !== undefined && output !== null) {
    return declaresOutput || typeof output === 'object' ? output : undefined
  }
  return declaresOutput && !FIELDS.some((field) => field in answer) ? answer : undefined
}

/** Returns whether `success` means failure: false, 0 or "false". Any other value, or none, means success. */
function isFalse(success: unknown): boolean {
  if (typeof success === 'string') return success.trim().toLowerCase() === 'false'
  return success === false || success === 0
}

function toText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : formatExactJson(value)
}

/** Parses JSON with exact integers; returns undefined for invalid text. */
export function parseAnswerJson(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    return undefined
  }
}
