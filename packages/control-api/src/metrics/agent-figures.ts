/** Counts what tools that ask other agents tell of them. */
import type { Instruments } from './instruments.ts'
import type { LoggedRunEvent } from '@tutti/protocol'

/** Counts what an event says that other agents did and used. */
export function countAgents(
  { agentCalls, agentTokens, agentCost }: Instruments,
  event: LoggedRunEvent,
): void {
  switch (event.type) {
    case 'agent_tool_invoked':
    case 'agent_tool_progress':
    case 'agent_tool_turn':
    case 'agent_tool_completed':
    case 'agent_tool_terminated':
    case 'agent_tool_error': {
      const { toolName: tool, cost_usd, input_tokens, output_tokens } = event
      if (cost_usd !== undefined) agentCost.add({ tool }, cost_usd)
      if (input_tokens !== undefined) agentTokens.add({ tool, direction: 'input' }, input_tokens)
      if (output_tokens !== undefined) {
        agentTokens.add({ tool, direction: 'output' }, output_tokens)
      }
      const outcome = agentOutcome(event)
      if (outcome !== undefined) agentCalls.add({ tool, outcome })
      return
    }
    default:
  }
}

/** How a try ended; undefined when it did not. */
function agentOutcome(event: LoggedRunEvent): string | undefined {
  if (event.type === 'agent_tool_completed') return 'completed'
  if (event.type === 'agent_tool_terminated') return event.reason
  return event.type === 'agent_tool_error' ? event.failure_type : undefined
}
