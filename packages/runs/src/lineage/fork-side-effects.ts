/**
 * Finds the calls of a run that a fork of it might repeat.
 *
 * RUNS-E2 A fork repeats no side effect of its parent that cannot be repeated, unless the caller allows it.
 */
import { TuttiError } from '@tutti/core'
import { shortList, type ForkCallPreview } from '@tutti/protocol/internal'

import type { ForkSource } from './fork-log.ts'
import type { RunStep, StepOf } from '@tutti/ensemble/internal'

/** Returns the calls to non-idempotent tools that a fork might repeat; `given` tasks are not executed. */
export function findRepeatedCalls(
  { copied, rest }: Pick<ForkSource, 'copied' | 'rest'>,
  given: ReadonlySet<string>,
): readonly ForkCallPreview[] {
  return [...copied, ...rest]
    .filter((step) => step.kind === 'tool_begun')
    .filter((call) => !given.has(call.taskName) && !copied.some((step) => isEndOf(step, call)))
    .map(({ taskName, attempt, toolName }) => ({ taskName, attempt, toolName }))
}

/** Refuses a fork that might repeat calls. @throws {TuttiError} SIDE_EFFECTS naming the calls. */
export function assertNothingRepeated(runId: string, repeated: readonly ForkCallPreview[]): void {
  if (repeated.length === 0) return
  const calls = repeated.map(({ taskName, toolName }) => `${toolName} (task "${taskName}")`)
  throw new TuttiError(
    'SIDE_EFFECTS',
    `A fork of run ${runId} might repeat calls that must not be repeated: ${shortList([...new Set(calls)])}. ` +
      'Set allowSideEffects to allow it',
    { details: { calls: repeated } },
  )
}

function isEndOf(step: RunStep, call: StepOf<'tool_begun'>): boolean {
  return (
    step.kind === 'tool_ended' &&
    step.taskName === call.taskName &&
    step.attempt === call.attempt &&
    step.iterationIndex === call.iterationIndex &&
    step.position === call.position
  )
}
