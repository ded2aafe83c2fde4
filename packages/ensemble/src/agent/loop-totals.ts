/** What the conversation of one agent has used so far. */
import { NO_TOKENS, type TokenCount } from '../tokens.ts'

/** Tokens and tool calls of a task, as its results and those of its run count them. */
export interface TaskUsage extends TokenCount {
  readonly toolCallCount: number
}

/** Counts while a loop runs; who starts the loop owns it, and can read it however the loop ends. */
export class LoopTotals {
  iterations = 0
  llmLatencyMs = 0
  toolExecutionTimeMs = 0
  toolCallCount = 0
  tokens: TokenCount = NO_TOKENS

  /** What counts in results. */
  usage(): TaskUsage {
    return { ...this.tokens, toolCallCount: this.toolCallCount }
  }
}
