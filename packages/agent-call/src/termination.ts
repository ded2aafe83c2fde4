/** Why a call to an agent was ended from here. */
import { TuttiError } from '@tutti/core'

import type { RunEventOf } from '@tutti/protocol'

/** See `agent_tool_terminated`. */
export type TerminationReason = RunEventOf<'agent_tool_terminated'>['reason']

/** A call that was ended from here. */
export class Termination extends Error {
  override readonly name = 'Termination'
  readonly reason: TerminationReason
  /** Whether the same call may succeed when it is made again. */
  readonly retryable: boolean

  constructor(reason: TerminationReason, message: string) {
    super(message)
    this.reason = reason
    this.retryable = reason === 'timeout' || reason === 'idle_timeout'
  }
}

/** The termination that follows from an abort from above: a cancel, or a limit of the task or the run. */
export function terminationOf(aborted: unknown): Termination {
  const code = TuttiError.isInstance(aborted) ? aborted.code : undefined
  if (code === 'BUDGET_EXCEEDED') {
    return new Termination('budget_exceeded', 'A budget above the call was used up')
  }
  const isLate =
    code === 'TASK_TIMEOUT' || (aborted instanceof DOMException && aborted.name === 'TimeoutError')
  if (isLate) return new Termination('timeout', 'A time limit above the call was reached')
  return new Termination('cancelled', 'The call was cancelled')
}
