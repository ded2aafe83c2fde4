/** The outcome of a try that brought no answer. Pure. */
import { errorMessage } from '@tutti/core/internal'
import {
  AgentError,
  isDecided,
  Termination,
  type AgentFailureType,
  type TerminationReason,
} from './agent-error.ts'

import type { BareReport } from './try-usage.ts'

/** A try that brought no answer. */
export interface FailedTry {
  readonly kind: 'failed'
  readonly message: string
  readonly failure: TerminationReason | AgentFailureType
  readonly retryable: boolean
  readonly retryAfterMs: number | undefined
  /** Output that had arrived; null when there was none. */
  readonly partial: unknown
  readonly chunksReceived: number
  readonly costUsd: number
}

/** Output that arrived before the failure. */
export interface Arrived extends Pick<FailedTry, 'partial' | 'chunksReceived' | 'costUsd'> {
  /** Index of the last turn that was sent. */
  readonly turnIndex: number
}

/** Converts an error to a failure. */
export function toFailedTry(error: unknown, { turnIndex, ...arrived }: Arrived): FailedTry {
  const what = errorMessage(error)
  const message = turnIndex === 0 ? what : `Turn ${turnIndex + 1} failed: ${what}`
  const facts = { kind: 'failed', ...arrived, message } as const
  if (error instanceof Termination) {
    const { reason: failure, retryable } = error
    return { ...facts, failure, retryable, retryAfterMs: undefined }
  }
  if (error instanceof AgentError) {
    const { failureType: failure, retryable, retryAfterMs, partial = arrived.partial } = error
    return { ...facts, partial, failure, retryable, retryAfterMs }
  }
  const failure = isDecided(error) ? 'cancelled' : 'agent_failed'
  return { ...facts, failure, retryable: false, retryAfterMs: undefined }
}

/** Fields of every final event. */
export interface TryTotals {
  readonly latency_ms: number
  readonly chunks_received: number
  readonly total_turns: number
}

/** Returns the final event of a failure. */
export function failureReport(failed: FailedTry, totals: TryTotals): BareReport {
  const { message, failure, retryable, partial, costUsd } = failed
  const facts = {
    ...totals,
    error: message,
    accumulated_cost_usd: costUsd,
    partial_output: partial,
    retryable,
  }
  return isTermination(failure)
    ? { type: 'agent_tool_terminated', reason: failure, ...facts }
    : { type: 'agent_tool_error', failure_type: failure, ...facts }
}

const TERMINATIONS: readonly string[] = [
  'budget_exceeded',
  'idle_timeout',
  'timeout',
  'cancelled',
] satisfies readonly TerminationReason[]

function isTermination(failure: FailedTry['failure']): failure is TerminationReason {
  return TERMINATIONS.includes(failure)
}

/** Failures after which the agent no longer works. */
const STOPPED: readonly AgentFailureType[] = ['unreachable', 'http_error', 'agent_failed']

/** Whether the agent may still be working after this error. */
export function mayBeWorking(error: unknown): boolean {
  return !(error instanceof AgentError && STOPPED.includes(error.failureType))
}
