/**
 * Events of a tool that calls another agent. Fields in snake case are those of an established event log; the others place the
 * call in its run.
 *
 * PROTO-G1 An attempt of a call begins with `agent_tool_invoked` and ends with exactly one of `agent_tool_completed`,
 *    `agent_tool_terminated` (ended by this run) and `agent_tool_error` (failed).
 * PROTO-G2 Usage is reported once, by the first event after it: the sum over the events of a run is the usage of its
 *    calls.
 */
import Type from 'typebox'
import { CostUsd, Count, DurationMs } from '../scalars.ts'
import { taskPosition } from './positions.ts'

import type { Static } from '../../static.ts'

const agentCall = {
  /** Role of the calling agent. */
  agentRole: Type.String(),
  ...taskPosition,
  /** Number of the turn, from 0 in each attempt. */
  iterationIndex: Count,
  /** The model's id of the call. */
  toolCallId: Type.String(),
  toolName: Type.String(),
  /** Time in milliseconds since 1970. */
  timestamp_ms: Count,
  /** Attempt of the call, from 0. */
  retry_index: Count,
  /** Cost since the previous event, in US dollars; absent when zero or not known. */
  cost_usd: Type.Optional(CostUsd),
  /** Tokens read since the previous event; absent when zero or not known. */
  input_tokens: Type.Optional(Count),
  /** Tokens written since the previous event; absent when zero or not known. */
  output_tokens: Type.Optional(Count),
}

/** Totals of an attempt, at its end. */
const attemptTotals = {
  /** Duration of the attempt in milliseconds. */
  latency_ms: DurationMs,
  /** Number of chunks received. */
  chunks_received: Count,
  /** Number of turns that were answered. */
  total_turns: Count,
}

/**
 * Mode of a call to another agent: one request and one answer, a stream of chunks, or a conversation of several turns.
 */
export const AgentToolMode = Type.Enum(['sync', 'streaming', 'conversational'])
export type AgentToolMode = Static<typeof AgentToolMode>

/** Protocol of a call to another agent; `tasks` is the `/tasks` wire. */
export const AgentToolProtocol = Type.Enum(['a2a', 'tasks', 'local', 'mcp', 'ensemble'])
export type AgentToolProtocol = Static<typeof AgentToolProtocol>

/** A request is sent to another agent. */
export const AgentToolInvoked = Type.Object({
  type: Type.Literal('agent_tool_invoked'),
  ...agentCall,
  /** Address of the agent, without secrets. */
  agent_uri: Type.String(),
  mode: AgentToolMode,
  protocol: AgentToolProtocol,
  /** SHA-256 in hex of the input's compact JSON, with sorted keys. */
  input_hash: Type.String(),
})
export type AgentToolInvoked = Static<typeof AgentToolInvoked>

/** A chunk arrived from another agent. */
export const AgentToolProgress = Type.Object({
  type: Type.Literal('agent_tool_progress'),
  ...agentCall,
  /** Number of the chunk, from 0. */
  chunk_index: Count,
  /** Content of the chunk. */
  chunk: Type.Unknown(),
  /** Cost of the attempt so far, in US dollars, as reported by the agent. */
  accumulated_cost_usd: CostUsd,
})
export type AgentToolProgress = Static<typeof AgentToolProgress>

/** A turn of a conversation with another agent was sent or answered. */
export const AgentToolTurn = Type.Object({
  type: Type.Literal('agent_tool_turn'),
  ...agentCall,
  /** Number of the turn, from 0. */
  turn: Count,
  /** Whether the turn was sent or answered. */
  direction: Type.Enum(['outbound', 'inbound']),
  /** Content that was sent; present with `outbound`. */
  input: Type.Optional(Type.Unknown()),
  /** Answer; present with `inbound`. */
  output: Type.Optional(Type.Unknown()),
})
export type AgentToolTurn = Static<typeof AgentToolTurn>

/** Another agent answered. */
export const AgentToolCompleted = Type.Object({
  type: Type.Literal('agent_tool_completed'),
  ...agentCall,
  ...attemptTotals,
  /** Answer of the agent. */
  output: Type.Unknown(),
  /** Cost of the attempt, in US dollars, as reported by the agent. */
  total_cost: CostUsd,
})
export type AgentToolCompleted = Static<typeof AgentToolCompleted>

/** The run ended a call to another agent and notified the agent. */
export const AgentToolTerminated = Type.Object({
  type: Type.Literal('agent_tool_terminated'),
  ...agentCall,
  ...attemptTotals,
  /** Reason why the call was ended. */
  reason: Type.Enum(['budget_exceeded', 'idle_timeout', 'timeout', 'cancelled']),
  /** Description in one sentence. */
  error: Type.String(),
  /** Cost of the attempt so far, in US dollars, as reported by the agent. */
  accumulated_cost_usd: CostUsd,
  /** Output received so far; null when none. */
  partial_output: Type.Unknown(),
  /** Whether a retry of the same call may succeed. */
  retryable: Type.Boolean(),
})
export type AgentToolTerminated = Static<typeof AgentToolTerminated>

/** A call to another agent failed. */
export const AgentToolError = Type.Object({
  type: Type.Literal('agent_tool_error'),
  ...agentCall,
  ...attemptTotals,
  /** Description in one sentence. */
  error: Type.String(),
  /**
   * Cause of the failure: the connection, the HTTP status, an invalid response, the agent itself, a required input, or
   * the configuration.
   */
  failure_type: Type.Enum([
    'unreachable',
    'http_error',
    'connection_lost',
    'invalid_response',
    'agent_failed',
    'input_required',
    'configuration',
  ]),
  /** Cost of the attempt so far, in US dollars, as reported by the agent. */
  accumulated_cost_usd: CostUsd,
  /** Output received so far; null when none. */
  partial_output: Type.Unknown(),
  /** Whether a retry of the same call may succeed. */
  retryable: Type.Boolean(),
})
export type AgentToolError = Static<typeof AgentToolError>

/** The event types of this file, in the order of the union. */
export const AGENT_TOOL_EVENTS = [
  AgentToolInvoked,
  AgentToolProgress,
  AgentToolTurn,
  AgentToolCompleted,
  AgentToolTerminated,
  AgentToolError,
] as const
