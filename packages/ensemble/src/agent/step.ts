/** Pure: what an agent does after a reply of its model. */
import { unfinishedReason, type UnfinishedReason } from './unfinished.ts'

import type { ModelReply } from '../model/chat-model.ts'
import type { ToolCall } from '@tutti/core'

/** The next step of the conversation. */
export type AgentStep =
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'call_tools'; readonly calls: readonly ToolCall[] }
  /** The model ended its answer early; its tool calls are not made. */
  | { readonly kind: 'unfinished'; readonly reason: UnfinishedReason }

/** How the next model call is made. */
export type TurnKind = 'open' | 'final'

/**
 * The step after `reply`. A reply without tool calls is the answer; so is any reply to a turn that
 * asked for the final answer. A reply that ended early is neither.
 */
export function stepAfter(reply: ModelReply, turn: TurnKind): AgentStep {
  const reason = unfinishedReason(reply)
  if (reason !== undefined) return { kind: 'unfinished', reason }
  if (turn === 'final' || reply.toolCalls.length === 0) return { kind: 'answer', text: reply.text }
  return { kind: 'call_tools', calls: withOwnIds(reply.toolCalls) }
}

/** Calls that share an id, as some models give them, with a number behind it: keys and results go by it. */
function withOwnIds(calls: readonly ToolCall[]): readonly ToolCall[] {
  if (calls.length === 1) return calls
  const taken = new Set<string>()
  return calls.map((call) => {
    let id = call.id
    for (let number = 2; taken.has(id); number += 1) id = `${call.id}#${number}`
    taken.add(id)
    return id === call.id ? call : { ...call, id }
  })
}

/** The kind of the turn with this 0-based index: after `maxIterations` open turns comes the final one. */
export function turnKind(iterationIndex: number, maxIterations: number): TurnKind {
  return iterationIndex < maxIterations ? 'open' : 'final'
}
