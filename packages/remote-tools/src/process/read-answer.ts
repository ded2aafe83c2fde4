/**
 * From what a program wrote to the result of its call. A program is understood when it follows the
 * protocol loosely: plain text, no `success`, values where texts are due.
 */
import { isJsonObject, ToolResult } from '@tutti/core'

/** What else is known of an answer. */
export interface ProcessAnswerOptions {
  /** Whether the tool declares the schema of its output, so that values matter beside their text. */
  readonly declaresOutput: boolean
}

/** The result that `text` stands for, all that a program wrote to stdout before it exited with code 0. */
export function readProcessAnswer(text: string, options: ProcessAnswerOptions): ToolResult {
  if (text === '') return ToolResult.success('')
  const value = parsed(text)
  if (isJsonObject(value)) return readAnswerObject(value, { ...options, text })
  return options.declaresOutput ? ToolResult.success(text, value) : ToolResult.success(text)
}

/** An answer that is an object, and the text that stands in for its `output`. */
export interface AnswerObjectOptions extends ProcessAnswerOptions {
  readonly text: string
}

/** The result that an object with the fields of the protocol stands for. */
export function readAnswerObject(
  answer: Readonly<Record<string, unknown>>,
  { text, declaresOutput }: AnswerObjectOptions,
): ToolResult {
  const structured = structuredOf(answer, declaresOutput)
  if (isFalse(answer['success'])) {
    const error = textOf(answer['error']) ?? ''
    const failure = ToolResult.failure(
      error.trim() === '' ? 'Process returned success=false' : error,
    )
    return structured === undefined ? failure : Object.assign(failure, { structured })
  }
  return ToolResult.success(textOf(answer['output']) ?? text, structured)
}

const FIELDS = ['output', 'success', 'error', 'structured']

/** The value of an answer: its own, else an `output` that is more than text, else all of it. */
function structuredOf(answer: Readonly<Record<string, unknown>>, declaresOutput: boolean): unknown {
  const { structured, output } = answer
  if (structured !== undefined && structured !== null) return structured
  if (output !== undefined && output !== null) {
    return declaresOutput || typeof output === 'object' ? output : undefined
  }
  return declaresOutput && !FIELDS.some((field) => field in answer) ? answer : undefined
}

/** Whether `success` says no: false, 0 or "false". Anything else, and nothing, says yes. */
function isFalse(success: unknown): boolean {
  if (typeof success === 'string') return success.trim().toLowerCase() === 'false'
  return success === false || success === 0
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The JSON value that `text` spells, if it does. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
