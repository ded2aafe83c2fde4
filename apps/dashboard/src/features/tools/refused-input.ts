/** What the server found wrong with the input of a call, at the fields of the form. Pure. */
import { failureProblems } from '../../api/failure.ts'
import { valueAt } from '../../ui/schema-form/pointer.ts'

import type { ToolCall } from './tool-memory.ts'
import type { Problem } from '@tutti/protocol'

/** Where the body of a call holds its input. */
const INPUT = '/input'

/** The problems of the last call whose places still hold what they held then. */
export function refusedInput(call: ToolCall | undefined, value: unknown): readonly Problem[] {
  if (call?.outcome.kind !== 'failed') return []
  return failureProblems(call.outcome.error)
    .filter(({ path }) => path === INPUT || path.startsWith(`${INPUT}/`))
    .map((problem) => ({ ...problem, path: problem.path.slice(INPUT.length) }))
    .filter(({ path }) => isSame(valueAt(call.input, path), valueAt(value, path)))
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}
