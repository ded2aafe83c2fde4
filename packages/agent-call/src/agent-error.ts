/** Why an agent did not give an answer. */
import type { RunEventOf } from '@tutti/protocol'

/** What failed: see `agent_tool_error`. */
export type AgentFailureType = RunEventOf<'agent_tool_error'>['failure_type']

/** Facts about a failure. */
export interface AgentErrorOptions {
  readonly failureType: AgentFailureType
  /** Whether the same call may succeed when it is made again. */
  readonly retryable: boolean
  /** When the agent says to try again, in milliseconds from now. */
  readonly retryAfterMs?: number
  /** What the agent gave in spite of it, such as the outputs of a task that failed later. */
  readonly partial?: unknown
  readonly cause?: unknown
}

/** An agent could not be asked, or did not give an answer. */
export class AgentError extends Error {
  override readonly name = 'AgentError'
  readonly failureType: AgentFailureType
  readonly retryable: boolean
  readonly retryAfterMs: number | undefined
  readonly partial: unknown

  constructor(message: string, { cause, ...facts }: AgentErrorOptions) {
    super(message, cause === undefined ? undefined : { cause })
    this.failureType = facts.failureType
    this.retryable = facts.retryable
    this.retryAfterMs = facts.retryAfterMs
    this.partial = facts.partial
  }
}
