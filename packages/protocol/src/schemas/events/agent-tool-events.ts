/**
 * Events of a tool that asks another agent. Names and fields in snake case are those of the agent-as-tool
 * seed (JamJet's event log); the others place the call in its run.
 *
 * G1 A try of a call begins with `agent_tool_invoked` and ends with exactly one of `agent_tool_completed`,
 *    `agent_tool_terminated` (it was ended from here) and `agent_tool_error` (it failed).
 * G2 What a call has used is said once, by the first event after it was used: the sum over the events of a
 *    run is what its calls have used.
 */
import Type from 'typebox'
import { CostUsd, Count, DurationMs } from '../scalars.ts'
import { taskPosition } from './positions.ts'

const agentCall = {
  agentRole: Type.String(),
  ...taskPosition,
  iterationIndex: Count,
  toolCallId: Type.String(),
  toolName: Type.String(),
  /** Milliseconds since 1970. */
  timestamp_ms: Count,
  /** Which try of the call it is, from 0. */
  retry_index: Count,
  /** What was used since the event before, in US dollars; absent when nothing, or not known. */
  cost_usd: Type.Optional(CostUsd),
  /** The same in tokens read. */
  input_tokens: Type.Optional(Count),
  /** The same in tokens written. */
  output_tokens: Type.Optional(Count),
}

/** What a try has brought, at its end. */
const attemptTotals = {
  latency_ms: DurationMs,
  /** Chunks that arrived. */
  chunks_received: Count,
  /** Turns that were answered. */
  total_turns: Count,
}

/** How an agent is asked: one request and one answer, a stream of chunks, or turn after turn. */
export const AgentToolMode = Type.Enum(['sync', 'streaming', 'conversational'])
export type AgentToolMode = Type.Static<typeof AgentToolMode>

/** What an agent is spoken to in; `tasks` is the seed's own `/tasks` wire. */
export const AgentToolProtocol = Type.Enum(['a2a', 'tasks', 'local', 'mcp', 'ensemble'])
export type AgentToolProtocol = Type.Static<typeof AgentToolProtocol>

/** A request is sent to an agent. Agent-as-tool seed. */
export const AgentToolInvoked = Type.Object({
  type: Type.Literal('agent_tool_invoked'),
  ...agentCall,
  /** Where the agent is, without secrets. */
  agent_uri: Type.String(),
  mode: AgentToolMode,
  protocol: AgentToolProtocol,
  /** SHA-256 of the compact JSON of the input with its keys in order, in hex. */
  input_hash: Type.String(),
})
export type AgentToolInvoked = Type.Static<typeof AgentToolInvoked>

/** A chunk arrived. Agent-as-tool seed. */
export const AgentToolProgress = Type.Object({
  type: Type.Literal('agent_tool_progress'),
  ...agentCall,
  /** From 0. */
  chunk_index: Count,
  chunk: Type.Unknown(),
  /** What the try has cost so far, in US dollars, as far as the agent says it. */
  accumulated_cost_usd: CostUsd,
})
export type AgentToolProgress = Type.Static<typeof AgentToolProgress>

/** A turn of a conversation was sent, or answered. JamJet's event log. */
export const AgentToolTurn = Type.Object({
  type: Type.Literal('agent_tool_turn'),
  ...agentCall,
  /** From 0. */
  turn: Count,
  direction: Type.Enum(['outbound', 'inbound']),
  /** What was sent; present with `outbound`. */
  input: Type.Optional(Type.Unknown()),
  /** What came back; present with `inbound`. */
  output: Type.Optional(Type.Unknown()),
})
export type AgentToolTurn = Type.Static<typeof AgentToolTurn>

/** The agent has answered. Agent-as-tool seed. */
export const AgentToolCompleted = Type.Object({
  type: Type.Literal('agent_tool_completed'),
  ...agentCall,
  ...attemptTotals,
  output: Type.Unknown(),
  /** What the try has cost, in US dollars, as far as the agent says it. */
  total_cost: CostUsd,
})
export type AgentToolCompleted = Type.Static<typeof AgentToolCompleted>

/** The call was ended from here, and the agent told so. Agent-as-tool seed. */
export const AgentToolTerminated = Type.Object({
  type: Type.Literal('agent_tool_terminated'),
  ...agentCall,
  ...attemptTotals,
  /** `budget_exceeded` and `idle_timeout` are the seed's. */
  reason: Type.Enum(['budget_exceeded', 'idle_timeout', 'timeout', 'cancelled']),
  /** In one sentence. */
  error: Type.String(),
  accumulated_cost_usd: CostUsd,
  /** What had arrived; null when nothing. */
  partial_output: Type.Unknown(),
  /** Whether the same call may succeed when it is made again. */
  retryable: Type.Boolean(),
})
export type AgentToolTerminated = Type.Static<typeof AgentToolTerminated>

/** The agent could not be asked, or did not give an answer. Agent-as-tool seed. */
export const AgentToolError = Type.Object({
  type: Type.Literal('agent_tool_error'),
  ...agentCall,
  ...attemptTotals,
  error: Type.String(),
  /** What failed: the connection, the status it answered with, what it said, or the agent itself. */
  failure_type: Type.Enum([
    'unreachable',
    'http_error',
    'connection_lost',
    'invalid_response',
    'agent_failed',
    'input_required',
    'configuration',
  ]),
  accumulated_cost_usd: CostUsd,
  /** What had arrived; null when nothing. */
  partial_output: Type.Unknown(),
  retryable: Type.Boolean(),
})
export type AgentToolError = Type.Static<typeof AgentToolError>
