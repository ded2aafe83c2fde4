/** Errors of calls to agents: failures of the agent, terminations by the caller, and decisions of a reviewer. */
import { TuttiError } from '@tutti/core'
import { COMPLETE_MESSAGE } from '@tutti/core/internal'

import type { RunEventOf } from '@tutti/protocol'

/** Kind of failure; see `agent_tool_error`. */
export type AgentFailureType = RunEventOf<'agent_tool_error'>['failure_type']

/** Details of an {@link AgentError}. */
export interface AgentErrorOptions {
  readonly failureType: AgentFailureType
  /** Whether the same call may succeed when it is repeated. */
  readonly retryable: boolean
  /** Delay that the agent asks for before a retry, in milliseconds. */
  readonly retryAfterMs?: number
  /** Output that the agent gave despite the failure, such as the outputs of a task that failed later. */
  readonly partial?: unknown
  readonly cause?: unknown
}

/** An agent could not be called, or did not answer. */
export class AgentError extends Error {
  override readonly name = 'AgentError'
  readonly failureType: AgentFailureType
  readonly retryable: boolean
  readonly retryAfterMs: number | undefined
  readonly partial: unknown

  constructor(message: string, { cause, ...details }: AgentErrorOptions) {
    super(message, cause === undefined ? undefined : { cause })
    this.failureType = details.failureType
    this.retryable = details.retryable
    this.retryAfterMs = details.retryAfterMs
    this.partial = details.partial
  }

  /** The message has what the cause says. */
  get [COMPLETE_MESSAGE](): true {
    return true
  }
}

/** Reason of a termination; see `agent_tool_terminated`. */
export type TerminationReason = RunEventOf<'agent_tool_terminated'>['reason']

/** The caller ended the call to the agent: by a cancel, or because a limit was reached. */
export class Termination extends Error {
  override readonly name = 'Termination'
  readonly reason: TerminationReason
  /** Whether the same call may succeed when it is repeated. */
  readonly retryable: boolean

  constructor(reason: TerminationReason, message: string) {
    super(message)
    this.reason = reason
    this.retryable = reason === 'timeout' || reason === 'idle_timeout'
  }
}

/** Returns the termination for an abort from above: a cancel, or a limit of the task or the run. */
export function toTermination(abortReason: unknown): Termination {
  const code = TuttiError.isInstance(abortReason) ? abortReason.code : undefined
  if (code === 'BUDGET_EXCEEDED') {
    return new Termination('budget_exceeded', 'A budget outside the call was exhausted')
  }
  const isLate =
    code === 'TASK_TIMEOUT' ||
    (abortReason instanceof DOMException && abortReason.name === 'TimeoutError')
  if (isLate) return new Termination('timeout', 'A time limit outside the call was reached')
  return new Termination('cancelled', 'The call was cancelled')
}

const DECIDED: readonly string[] = ['EXIT_EARLY', 'TOOL_REJECTED', 'TOOL_CONFIGURATION']

/** Whether the error also applies to later calls: a reviewer or the tool's configuration decided. */
export function isDecided(error: unknown): error is TuttiError {
  return TuttiError.isInstance(error) && DECIDED.includes(error.code)
}
