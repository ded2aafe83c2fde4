/** Pure: `key=value` and `task.field=value` of a command line. */
import { CommandError } from '../command-error.ts'

/** A key and its value. */
export type Pair = readonly [key: string, value: string]

/**
 * Splits at the first `=`; the value stays as it is.
 *
 * @throws {CommandError} USAGE, naming `option`.
 */
export function pairOf(text: string, option: string): Pair {
  const at = text.indexOf('=')
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)]
  throw new CommandError('USAGE', `${option} must be key=value, got "${text}"`)
}

/** A field of one task that a request changes. */
export interface TaskField {
  readonly task: string
  /** Where the value goes: `model`, or `tools` and `add`. */
  readonly path: readonly string[]
  readonly value: unknown
}

const TEXT_FIELDS = ['description', 'expectedOutput', 'model', 'additionalContext']

/** The names of the task come first, as they may hold dots and the value anything. */
const TASK_FIELD =
  /^(?<task>.+?)\.(?<field>description|expectedOutput|model|additionalContext|maxIterations|tools\.add|tools\.remove)=(?<value>.*)$/s

/**
 * Reads `task.field=value`. Names of tools have commas between them.
 *
 * @throws {CommandError} USAGE, naming the fields that there are.
 */
export function taskFieldOf(text: string): TaskField {
  const { task, field, value } = TASK_FIELD.exec(text)?.groups ?? {}
  if (task === undefined || field === undefined || value === undefined) {
    const fields = [...TEXT_FIELDS, 'maxIterations', 'tools.add', 'tools.remove'].join(', ')
    throw new CommandError('USAGE', `--override must be task.field=value, got "${text}"`, [
      `The fields: ${fields}`,
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
