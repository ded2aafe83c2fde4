/** Pure: what an agent does after a reply of its model. */
import type { ModelReply } from '../model/chat-model.ts'
import type { ToolCall } from '@tutti/core'

/** What comes next in the conversation. */
export type AgentStep =
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'call_tools'; readonly calls: readonly ToolCall[] }

/** How the next model call is made. */
export type TurnKind = 'open' | 'final'

/**
 * The step after `reply`. A reply without tool calls is the answer; so is any reply to a turn that
 * asked for the final answer.
 */
export function stepAfter(reply: ModelReply, turn: TurnKind): AgentStep {
  if (turn === 'final' || reply.toolCalls.length === 0) return { kind: 'answer', text: reply.text }
  return { kind: 'call_tools', calls: reply.toolCalls }
}

/** The kind of the turn with this 0-based index: after `maxIterations` open turns comes the final one. */
export function turnKind(iterationIndex: number, maxIterations: number): TurnKind {
  return iterationIndex < maxIterations ? 'open' : 'final'
}
