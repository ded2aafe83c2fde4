/** Pure: folds the events of a run into its tokens and cost, by direction. */
import { addAmounts } from '@tutti/protocol'

import { addEventUsage, NO_RUN_USAGE, type RunUsage } from './usage.ts'

import type { RunEvent } from '@tutti/protocol'

/** Tokens of a run so far; unknown numbers count as 0. */
export interface TokenUsage {
  readonly inputTokens: number
  readonly outputTokens: number
  /** Part of `inputTokens` that providers read from their caches. */
  readonly cachedInputTokens: number
  /** Part of `outputTokens` that models used to reason. */
  readonly reasoningTokens: number
  /** Total, with the cost. */
  readonly run: RunUsage
}

/** Tokens of a run that has not begun. */
export const NO_TOKEN_USAGE: TokenUsage = {
  inputTokens: 0,
  outputTokens: 0,
  cachedInputTokens: 0,
  reasoningTokens: 0,
  run: NO_RUN_USAGE,
}

/** Adds the tokens of an event. */
export function addTokenUsage(usage: TokenUsage, event: RunEvent): TokenUsage {
  const run = addEventUsage(usage.run, event)
  if (run === usage.run) return usage
  const [input, output, cached, reasoning] = readTokens(event)
  return {
    inputTokens: addAmounts(usage.inputTokens, input),
    outputTokens: addAmounts(usage.outputTokens, output),
    cachedInputTokens: addAmounts(usage.cachedInputTokens, cached),
    reasoningTokens: addAmounts(usage.reasoningTokens, reasoning),
    run,
  }
}

/** Returns the input, the output, the cached input and the reasoning tokens of an event. */
function readTokens(event: RunEvent): readonly [number, number, number, number] {
  switch (event.type) {
    case 'llm_iteration_completed': {
      const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 } = event
      const [input, output] = [Math.max(0, inputTokens), Math.max(0, outputTokens)]
      return [input, output, cachedInputTokens, reasoningTokens]
    }
    case 'agent_tool_progress':
    case 'agent_tool_turn':
    case 'agent_tool_completed':
    case 'agent_tool_terminated':
    case 'agent_tool_error':
      return [event.input_tokens ?? 0, event.output_tokens ?? 0, 0, 0]
    default:
      return [0, 0, 0, 0]
  }
}
