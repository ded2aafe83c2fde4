/** Events for tests: the golden file of each type, with some fields changed. */
import { readFileSync } from 'node:fs'
import { decodeRunEvent, type RunEvent, type RunEventOf } from '../src/index.ts'

/**
 * Returns the event of `RunEvent.<type>.json` with these fields replaced; a field with the value undefined is removed. The
 * golden files are about task "researcher", number 1, in its first attempt.
 */
export function eventOf<T extends RunEvent['type']>(
  type: T,
  fields: { readonly [K in keyof RunEventOf<T>]?: RunEventOf<T>[K] | undefined } = {},
): RunEventOf<T> {
  const file = `../fixtures/valid/RunEvent.${type.replaceAll('_', '-')}.json`
  const golden: object = JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'))
  const entries = Object.entries({ ...golden, ...fields })
  const value = Object.fromEntries(entries.filter(([, field]) => field !== undefined))
  const decoded = decodeRunEvent(value)
  if (!decoded.ok) throw new TypeError(JSON.stringify(decoded.problems))
  // NOTE: the golden file of a type contains an event of this type, and tests do not change `type`.
  return decoded.value as RunEventOf<T>
}

/** Fields of the tests' second task. */
export const WRITER = { taskName: 'writer', taskIndex: 2, agentRole: 'Technical Writer' } as const

/** Returns the start of a run with two tasks; "researcher" is in its first attempt. */
export function startOfRun(): RunEvent[] {
  return [eventOf('run_queued'), eventOf('ensemble_started'), eventOf('task_started')]
}
