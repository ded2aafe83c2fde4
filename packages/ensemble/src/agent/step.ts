/** Pure: decides what an agent does after a reply of its model. */
import { findUnfinishedReason, type UnfinishedReason } from './unfinished.ts'

import type { ModelReply, ModelRequest } from '../model/chat-model.ts'
import type { ToolCall } from '@tutti/core'

/** Next step of the conversation. */
export type AgentStep =
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'call_tools'; readonly calls: readonly ToolCall[] }
  /** The model ended its answer early; its tool calls are not made. */
  | { readonly kind: 'unfinished'; readonly reason: UnfinishedReason }

/** Whether the model may call tools in a turn; `none` requests the final answer. */
export type ToolChoice = ModelRequest['toolChoice']

/**
 * Returns the step after `reply`. A reply without tool calls is the answer, and so is any reply to a request
 * for the final answer. A reply that ended early is neither.
 */
export function decideStep(reply: ModelReply, toolChoice: ToolChoice): AgentStep {
  const reason = findUnfinishedReason(reply)
  if (reason !== undefined) return { kind: 'unfinished', reason }
  if (toolChoice === 'none' || reply.toolCalls.length === 0) {
    return { kind: 'answer', text: reply.text }
  }
  return { kind: 'call_tools', calls: assignUniqueIds(reply.toolCalls) }
}

/**
 * Numbers calls that share an id, as some models return them: idempotency keys and results need unique ids.
 */
function assignUniqueIds(calls: readonly ToolCall[]): readonly ToolCall[] {
  if (calls.length === 1) return calls
  const taken = new Set<string>()
  return calls.map((call) => {
    let id = call.id
    for (let number = 2; taken.has(id); number += 1) id = `${call.id}#${number}`
    taken.add(id)
    return id === call.id ? call : { ...call, id }
  })
}

/**
 * Returns whether the model may call tools in the turn with this 0-based index: in all but the one after
 * `maxIterations` turns.
 */
export function decideToolChoice(iterationIndex: number, maxIterations: number): ToolChoice {
  return iterationIndex < maxIterations ? 'auto' : 'none'
}
