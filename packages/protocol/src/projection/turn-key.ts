import type { RunEventOf } from '../schemas/run-event.ts'

/** Position of a model turn. */
export type TurnPosition = Pick<
  RunEventOf<'tool_called'>,
  'taskIndex' | 'attempt' | 'iterationIndex'
>

/** Returns the key of a turn, unique in its run. */
export function toTurnKey({ taskIndex, attempt, iterationIndex }: TurnPosition): string {
  return `${taskIndex}.${attempt}.${iterationIndex}`
}
