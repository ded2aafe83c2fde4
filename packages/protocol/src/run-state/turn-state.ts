/** What is known of one model turn and of its tool calls. */
import type { FinishReason } from '../schemas/enums.ts'
import type { LlmIterationCompleted, LlmMessage } from '../schemas/events/agent-events.ts'

/** One turn of an agent: a model call that gives text or asks for tools, and those tools. */
export interface TurnState {
  /** Counts from 0 in each attempt. */
  readonly iterationIndex: number
  /** Alias of the model that was called last in this turn. */
  readonly model: string
  /** How the model call stands; the tools of a completed turn may still run. */
  readonly status: 'RUNNING' | 'COMPLETED' | 'FAILED'
  /** The answer as far as it is there. */
  readonly text: string
  /** The last messages that the model was shown, 20 at most. */
  readonly messages: readonly LlmMessage[]
  /** How many messages the model was shown in all. */
  readonly totalMessageCount: number
  /** When the model was called last in this turn; absent when the log does not say it. */
  readonly startedAt?: string
  /** When the answer was whole; absent when the log does not say it. A failure has its own instant. */
  readonly completedAt?: string
  /** Present when the call is completed. */
  readonly responseType?: LlmIterationCompleted['responseType']
  /** Finish reason of the answer; absent while the call runs and in logs of earlier versions. */
  readonly finishReason?: FinishReason
  /** Text of the provider about a refusal or a blocked answer. */
  readonly refusal?: string
  /** What the model asked for, in its order; what it did not ask for comes after. */
  readonly toolCalls: readonly ToolCallState[]
  /** Present when the call is completed; -1 when not known. */
  readonly inputTokens?: number
  /** Present when the call is completed; -1 when not known. */
  readonly outputTokens?: number
  /** Those of `inputTokens` that were read from a cache; absent when the provider does not say. */
  readonly cachedInputTokens?: number
  /** Present when the call is completed. */
  readonly latencyMs?: number
  /** In US dollars; absent when not known. */
  readonly costUsd?: number
  /** Calls of this turn that failed, in order. */
  readonly failures: readonly TurnFailure[]
}

/** One failed model call of a turn, as `llm_iteration_failed` says it. */
export interface TurnFailure {
  readonly model: string
  readonly reason: string
  readonly code: string
  readonly latencyMs: number
  readonly failedAt: string
  /** Present when the same model is called again, after this wait. */
  readonly retryInMs?: number
  /** Wait that the provider asked for. */
  readonly retryAfterMs?: number
  /** Present when a fallback is called next: its alias. */
  readonly nextModel?: string
}

/** One call of a tool, or a step of one. */
export interface ToolCallState {
  readonly id: string
  readonly name: string
  /** Raw text of the model; null when not known. */
  readonly arguments: string | null
  readonly status: 'RUNNING' | 'SUCCEEDED' | 'FAILED'
  /** The text given to the model; present when the call ended. */
  readonly result?: string | null
  /** The result as a value, null when there is none; present when the call ended. */
  readonly structured?: unknown
  /** Present when the call ended. */
  readonly durationMs?: number
  /**
   * When it began; absent when the log does not say it. While it runs, the earliest that is known: when
   * its turn was answered, another process took the run up, or a step told first how far it is.
   */
  readonly startedAt?: string
  /** When it ended; absent when it was cut off, or the log does not say it. */
  readonly completedAt?: string
  /** What the tool said last of how far it is. */
  readonly progress?: { readonly message: string; readonly fraction?: number }
  /** Calls that this call made, in the order in which they ended. */
  readonly steps: readonly ToolCallState[]
  /** Present on a step. */
  readonly parentToolCallId?: string
}
