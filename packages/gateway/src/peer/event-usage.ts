/** Pure: what an event of a run says was used by a model call, or by another agent that a tool asked. */
import type { RunEvent } from '@tutti/protocol'

/** What was used since the event before. */
export interface EventUsage {
  /** In US dollars; absent when not known. */
  readonly costUsd?: number
  /** Read and written; those that are not known count as none. */
  readonly tokens: number
}

/** The usage that an event tells of; undefined when it tells of none. */
export function eventUsage(event: RunEvent): EventUsage | undefined {
  switch (event.type) {
    case 'llm_iteration_completed': {
      const { costUsd, inputTokens, outputTokens } = event
      const tokens = Math.max(0, inputTokens) + Math.max(0, outputTokens)
      return { tokens, ...(costUsd === undefined ? {} : { costUsd }) }
    }
    case 'agent_tool_progress':
    case 'agent_tool_turn':
    case 'agent_tool_completed':
    case 'agent_tool_terminated':
    case 'agent_tool_error': {
      const { cost_usd: costUsd, input_tokens: read = 0, output_tokens: written = 0 } = event
      const tokens = read + written
      if (costUsd === undefined && tokens === 0) return undefined
      return { tokens, ...(costUsd === undefined ? {} : { costUsd }) }
    }
    default:
      return undefined
  }
}
