/** State of one model turn and of its tool calls. */
import type { FinishReason } from '../schemas/enums.ts'
import type { LlmIterationCompleted, LlmMessage } from '../schemas/events/agent-events.ts'

/** Turn of an agent: a model call that returns text or requests tools, and the calls of those tools. */
export interface TurnState {
  /** Number of the turn, from 0 in each attempt. */
  readonly iterationIndex: number
  /** Alias of the model that was last called in this turn. */
  readonly model: string
  /** Status of the model call; the tools of a completed turn can still run. */
  readonly status: 'RUNNING' | 'COMPLETED' | 'FAILED'
  /** Answer received so far. */
  readonly text: string
  /** Present while the last call of this turn is a failed one, whose text is void. */
  readonly isWithdrawn?: true
  /** Readable reasoning received so far; absent when there is none. */
  readonly reasoning?: string
  /** Present when the reasoning was too long, and `reasoning` is only its start. */
  readonly reasoningTruncated?: true
  /** Last messages that the model got, at most 20. */
  readonly messages: readonly LlmMessage[]
  /** Number of all messages that the model got. */
  readonly totalMessageCount: number
  /** Time of the last model call in this turn; absent in logs without it. */
  readonly startedAt?: string
  /** Time at which the answer was complete; absent in logs without it. Failures have their own time. */
  readonly completedAt?: string
  /** Present when the call is completed. */
  readonly responseType?: LlmIterationCompleted['responseType']
  /** Reason why the answer ended; absent while the call runs. */
  readonly finishReason?: FinishReason
  /** Text of the provider about a refusal or a blocked answer. */
  readonly refusal?: string
  /** Calls that the model requested, in its order, followed by other calls. */
  readonly toolCalls: readonly ToolCallState[]
  /** Present when the call is completed; -1 when not known. */
  readonly inputTokens?: number
  /** Present when the call is completed; -1 when not known. */
  readonly outputTokens?: number
  /** Part of `inputTokens` that was read from a cache; absent when the provider does not report it. */
  readonly cachedInputTokens?: number
  /** Part of `outputTokens` that the model used to reason; absent when the provider does not report it. */
  readonly reasoningTokens?: number
  /** Present when the call is completed. */
  readonly latencyMs?: number
  /** Estimated cost in US dollars; absent when not known. */
  readonly costUsd?: number
  /** Present on a turn that a fork has copied. Its usage is that of the parent. */
  readonly isCopied?: true
  /** Failed model calls of this turn, in order. */
  readonly failures: readonly TurnFailure[]
}

/** Failed model call of a turn, as in `llm_iteration_failed`. */
export interface TurnFailure {
  readonly model: string
  readonly reason: string
  readonly code: string
  readonly latencyMs: number
  readonly failedAt: string
  /** Milliseconds until the same model is called again; absent when it is not. */
  readonly retryInMs?: number
  /** Milliseconds to wait that the provider asked for. */
  readonly retryAfterMs?: number
  /** Alias of the fallback that is called next; absent when there is none. */
  readonly nextModel?: string
}

/** Call of a tool, or a step of one. */
export interface ToolCallState {
  readonly id: string
  readonly name: string
  /** Arguments as the model wrote them; null when not known. */
  readonly arguments: string | null
  readonly status: 'RUNNING' | 'SUCCEEDED' | 'FAILED'
  /** Text that the model receives; present when the call has ended. */
  readonly result?: string | null
  /** Result as a JSON value, null when there is none; present when the call has ended. */
  readonly structured?: unknown
  /** Duration in milliseconds; present when the call has ended. */
  readonly durationMs?: number
  /**
   * Time at which the call began; absent in logs without it. While the call runs, the earliest known time: the answer
   * of its turn, the resume by another process, or the first progress of a step.
   */
  readonly startedAt?: string
  /** Time at which the call ended; absent when it was interrupted, and in logs without it. */
  readonly completedAt?: string
  /** Latest progress that the tool reported. */
  readonly progress?: { readonly message: string; readonly fraction?: number }
  /** Calls that this call made, in the order in which they ended. */
  readonly steps: readonly ToolCallState[]
  /** Present on a step. */
  readonly parentToolCallId?: string
}
