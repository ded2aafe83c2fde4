/** Pure: parses `key=value` and `task.field=value` arguments. */
import { CommandError } from '../command-error.ts'

/** A key and its value. */
export type Pair = readonly [key: string, value: string]

/**
 * Splits a text at the first `=`. The value is not changed.
 *
 * @throws {CommandError} USAGE, naming `option`.
 */
export function parsePair(text: string, option: string): Pair {
  const at = text.indexOf('=')
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
  throw new CommandError('USAGE', `${option} must be key=value, got "${text}"`)
}

/** Override of one field of a task. */
export interface TaskField {
  readonly task: string
  /** Path of the field: `model`, or `tools` and `add`. */
  readonly path: readonly string[]
  readonly value: unknown
}

const TEXT_FIELDS = ['description', 'expectedOutput', 'model', 'additionalContext']

/** Matches the known fields by name, because task names may contain dots, and values anything. */
const TASK_FIELD =
  /^(?<task>.+?)\.(?<field>description|expectedOutput|model|additionalContext|maxIterations|tools\.add|tools\.remove)=(?<value>.*)$/s

/**
 * Parses `task.field=value`. Names of tools are separated by commas.
 *
 * @throws {CommandError} USAGE, listing the known fields.
 */
export function parseTaskField(text: string): TaskField {
  const { task, field, value } = TASK_FIELD.exec(text)?.groups ?? {}
  if (task === undefined || field === undefined || value === undefined) {
    const fields = [...TEXT_FIELDS, 'maxIterations', 'tools.add', 'tools.remove'].join(', ')
    throw new CommandError('USAGE', `--override must be task.field=value, got "${text}"`, [
      `Fields: ${fields}`,
    ])
  }
  if (TEXT_FIELDS.includes(field)) return { task, path: [field], value }
  if (field !== 'maxIterations') {
    const tools = value.split(',').map((tool) => tool.trim())
    return { task, path: field.split('.'), value: tools.filter((tool) => tool !== '') }
  }
  if (/^[1-9]\d*$/.test(value)) return { task, path: [field], value: Number(value) }
  throw new CommandError(
    'USAGE',
    `--override ${task}.${field} must be a whole number from 1, got "${value}"`,
  )
}
