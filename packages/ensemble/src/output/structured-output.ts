/**
 * Structured answers: instructions to the model, and the reader of its answers.
 *
 *   text ─find JSON─▶ pieces ─parse each by the schema─▶ the first that matches, else a problem
 *
 * ENS-O1 An answer is parsed like the input of a tool: it is coerced, defaults are filled in, unknown fields
 *    are dropped, and every problem is reported with its path.
 * ENS-O4 Where a text, number, boolean or null is allowed, the whole answer is tried last.
 * ENS-O5 Of several pieces that do not match, the problem of the longest is reported.
 * ENS-O6 A value must be JSON; a schema that converts it to something else is a configuration error.
 * ENS-O7 The model receives the author's complete schema, and the instruction to answer with JSON only.
 * ENS-O8 A schema whose limits exclude each other is refused when the task is created: every answer would be rejected.
 */
import { TuttiError } from '@tutti/core'
import {
  findContradictions,
  problemList,
  schemaReader,
  type Problem,
  type SchemaReader,
  type ToolSchema,
  type ValueOf,
} from '@tutti/core/internal'
import { previewOf } from '@tutti/protocol/internal'

import { findJsonInText, type JsonInText } from './json-in-text.ts'

/** Result of reading an answer. */
export type OutputReading<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problem: string }

/** Reader of the answers of one task by its schema. */
export interface OutputReader<Value = unknown> {
  /** JSON Schema, as the author defined it. */
  readonly schema: object
  /** Short name in `a-z`, `0-9` and `_`, from the title of the schema, else `output`. */
  readonly name: string
  /**
   * Returns the value in the text of a model, or a problem that the model can correct.
   *
   * @throws {TuttiError} CONFIG_INVALID if the schema converts the value to something that is not JSON.
   */
  read(text: string): Promise<OutputReading<Value>>
  /** Returns `value` as the schema parses it, or a problem. Throws the same as `read`. */
  readValue(value: unknown): Promise<OutputReading<Value>>
}

/**
 * Creates a reader of answers and compiles its schema.
 *
 * @throws {TypeError} naming every problem of the schema, and every limit that another one excludes.
 */
export function compileOutputReader<Schema extends ToolSchema>(
  schema: Schema,
): OutputReader<ValueOf<Schema>> {
  const action = 'Cannot use output schema:'
  const reader = schemaReader(schema, { action })
  const { jsonSchema } = reader
  const contradictions = findContradictions(jsonSchema)
  if (contradictions.length > 0) throw new TypeError(`${action} ${problemList(contradictions)}`)
  const name = createName(jsonSchema)
  const jsonOnly = <Value>(value: Value): OutputReading<Value> => toJsonReading(value, name)
  return {
    schema: jsonSchema,
    name,
    async read(text) {
      const found = findJsonInText(text)
      for (const piece of listCandidates(text, found, reader)) {
        const decoded = await reader.read(piece)
        if (decoded.ok) return jsonOnly(decoded.value)
      }
      return { ok: false, problem: await describeProblems(text, found, reader) }
    },
    async readValue(value) {
      const decoded = await reader.read(value)
      return decoded.ok
        ? jsonOnly(decoded.value)
        : { ok: false, problem: describeMismatch(decoded.problems) }
    },
  }
}

/** Returns the possible values of a text, the most likely one first. */
function listCandidates(
  text: string,
  { pieces }: JsonInText,
  { takesScalar }: Pick<SchemaReader<unknown>, 'takesScalar'>,
): readonly unknown[] {
  const values = pieces.map(({ value }) => value)
  return takesScalar ? [...values, text.trim()] : values
}

/** Returns the problem of the longest piece, as ENS-O5 requires. */
async function describeProblems(
  text: string,
  { pieces, broken }: JsonInText,
  { takesScalar, read }: SchemaReader<unknown>,
): Promise<string> {
  const [longest] = pieces.toSorted((a, b) => b.length - a.length)
  if (broken !== undefined && broken.length > (longest?.length ?? 0)) {
    return `Answer is not JSON: ${broken.reason}`
  }
  if (longest === undefined && !takesScalar) {
    return `Answer has no JSON, got ${previewOf(text.trim())}`
  }
  const decoded = await read(longest === undefined ? text.trim() : longest.value)
  return describeMismatch(decoded.ok ? [] : decoded.problems)
}

function describeMismatch(problems: readonly Problem[]): string {
  return `Answer does not match its schema: ${problemList(problems, 'answer')}`
}

/** Returns the value if it is JSON, as ENS-O6 requires. */
function toJsonReading<Value>(value: Value, name: string): OutputReading<Value> {
  try {
    const fault = findJsonFault(value)
    if (fault === undefined) return { ok: true, value }
    throw new TuttiError(
      'CONFIG_INVALID',
      `Cannot use output schema "${name}": it must produce JSON, but ${fault}`,
    )
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { ok: false, problem: 'Answer is nested too deeply' }
  }
}

/**
 * Maximum length of a name that providers accept. @see
 * https://platform.openai.com/docs/api-reference/chat/create
 */
const MAX_NAME_LENGTH = 64

function createName({ title }: { readonly title?: unknown }): string {
  const words = typeof title === 'string' ? (title.toLowerCase().match(/[a-z0-9]+/g) ?? []) : []
  return words.join('_').slice(0, MAX_NAME_LENGTH) || 'output'
}

/** Returns the body of the prompt section "Output Format". */
export function renderOutputInstructions(schema: object): string {
  const { $schema: _dialect, ...rest } = schema as { readonly $schema?: unknown }
  return [
    'Answer with one JSON value only: no text before or after it, and no code fence.',
    'It must match this JSON Schema:',
    JSON.stringify(rest),
  ].join('\n')
}

/** Number of a correction. */
export interface CorrectionCount {
  /** Counts from 1. */
  readonly attempt: number
  readonly maxAttempts: number
}

/** Returns the message that asks for a corrected answer. */
export function createCorrectionRequest(
  problem: string,
  { attempt, maxAttempts }: CorrectionCount,
): string {
  return [
    `Your last answer cannot be used. ${problem}.`,
    'Give the whole answer again, corrected: one JSON value only that matches the JSON Schema of the ' +
      'output, with no text before or after it and no code fence.',
    attempt < maxAttempts
      ? `This is correction ${attempt} of ${maxAttempts}.`
      : `This is the last of ${maxAttempts} corrections.`,
  ].join('\n')
}

/**
 * Returns the first part of a value that is not JSON, such as `/when is a Date`; undefined if the whole value
 * is JSON. An undefined field counts as missing.
 *
 * @throws {RangeError} if the value is nested more deeply than the call stack allows, or contains itself.
 */
export function findJsonFault(value: unknown, path = ''): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  if (typeof value === 'number' && Number.isFinite(value)) return undefined
  if (!isPlain(value)) return `${path === '' ? 'the value' : path} is ${describeKind(value)}`
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined && !Array.isArray(value)) continue
    const fault = findJsonFault(member, `${path}/${key}`)
    if (fault !== undefined) return fault
  }
  return undefined
}

function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return Array.isArray(value) || prototype === Object.prototype || prototype === null
}

function describeKind(value: unknown): string {
  if (typeof value === 'number' || value === undefined) return String(value)
  if (typeof value !== 'object') return `a ${typeof value}`
  const name = Object.prototype.toString.call(value).slice('[object '.length, -1)
  return name === 'Object' ? 'an object of a class' : `a ${name}`
}
