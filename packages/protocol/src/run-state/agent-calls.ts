/** Calls of one attempt to other agents. */
import { addAmounts } from '../amounts.ts'
import { readEventUsage } from '../run-usage.ts'
import type { AgentToolInvoked } from '../schemas/events/agent-tool-events.ts'
import type { RunEventOf } from '../schemas/run-event.ts'
import { toInstant } from './instants.ts'
import type { AgentUsage } from './usage.ts'

/** Event of a call to another agent. */
export type AgentCallEvent = RunEventOf<
  | 'agent_tool_invoked'
  | 'agent_tool_progress'
  | 'agent_tool_turn'
  | 'agent_tool_completed'
  | 'agent_tool_terminated'
  | 'agent_tool_error'
>

/** Attempt of a tool call that calls another agent. */
export interface AgentCallState {
  readonly toolCallId: string
  readonly toolName: string
  /** Attempt of the call, from 0. */
  readonly retryIndex: number
  readonly agentUri: string
  readonly mode: AgentToolInvoked['mode']
  readonly protocol: AgentToolInvoked['protocol']
  /** INTERRUPTED: its process was stopped, or its task attempt ended before the call. */
  readonly status: 'RUNNING' | 'COMPLETED' | 'TERMINATED' | 'FAILED' | 'INTERRUPTED'
  /** Time at which the request was sent. */
  readonly startedAt?: string
  /** Time at which the call ended; absent on an interrupted one. */
  readonly completedAt?: string
  /** Number of chunks received so far. */
  readonly chunks: number
  /** Number of turns answered so far. */
  readonly turns: number
  /** Cost so far in US dollars, as reported by the agent. */
  readonly costUsd: number
  /** Reason of the failure or termination. */
  readonly error?: string
}

/** Returns the calls after an event of one of them; the event of an unknown call is ignored. */
export function applyToAgentCalls(
  calls: readonly AgentCallState[],
  event: AgentCallEvent,
): readonly AgentCallState[] {
  const isIt = ({ toolCallId, retryIndex }: AgentCallState): boolean =>
    toolCallId === event.toolCallId && retryIndex === event.retry_index
  if (event.type === 'agent_tool_invoked') {
    return [...calls.filter((call) => !isIt(call)), createAgentCall(event)]
  }
  const at = calls.findLastIndex(isIt)
  const call = calls[at]
  return call?.status === 'RUNNING' ? calls.with(at, applyToCall(call, event)) : calls
}

/** Returns the calls with all running ones interrupted. */
export function interruptAgentCalls(calls: readonly AgentCallState[]): readonly AgentCallState[] {
  if (calls.every(({ status }) => status !== 'RUNNING')) return calls
  return calls.map((call) =>
    call.status === 'RUNNING' ? { ...call, status: 'INTERRUPTED' } : call,
  )
}

/** Adds the usage that the event reports. */
export function addAgentUsage(usage: AgentUsage, event: AgentCallEvent): AgentUsage {
  const used = readEventUsage(event)
  if (used === undefined) return usage
  // An agent that does not report its cost counts as free.
  const { inputTokens, outputTokens, costUsd = 0 } = used
  return {
    inputTokens: addAmounts(usage.inputTokens, inputTokens),
    outputTokens: addAmounts(usage.outputTokens, outputTokens),
    costUsd: addAmounts(usage.costUsd, costUsd),
  }
}

function createAgentCall(event: RunEventOf<'agent_tool_invoked'>): AgentCallState {
  const { toolCallId, toolName, mode, protocol } = event
  const startedAt = toInstant(event.timestamp_ms)
  return {
    toolCallId,
    toolName,
    retryIndex: event.retry_index,
    agentUri: event.agent_uri,
    mode,
    protocol,
    status: 'RUNNING',
    ...(startedAt === undefined ? {} : { startedAt }),
    chunks: 0,
    turns: 0,
    costUsd: 0,
  }
}

function applyToCall(
  call: AgentCallState,
  event: Exclude<AgentCallEvent, { type: 'agent_tool_invoked' }>,
): AgentCallState {
  switch (event.type) {
    case 'agent_tool_progress':
      return { ...call, chunks: event.chunk_index + 1, costUsd: event.accumulated_cost_usd }
    case 'agent_tool_turn':
      return event.direction === 'inbound' ? { ...call, turns: event.turn + 1 } : call
    case 'agent_tool_completed':
      return { ...call, ...readResult(event), status: 'COMPLETED', costUsd: event.total_cost }
    case 'agent_tool_terminated':
    case 'agent_tool_error':
      return {
        ...call,
        ...readResult(event),
        status: event.type === 'agent_tool_error' ? 'FAILED' : 'TERMINATED',
        costUsd: event.accumulated_cost_usd,
        error: event.error,
      }
  }
}

function readResult(
  event: RunEventOf<'agent_tool_completed' | 'agent_tool_terminated' | 'agent_tool_error'>,
): Pick<AgentCallState, 'chunks' | 'turns' | 'completedAt'> {
  const { chunks_received: chunks, total_turns: turns } = event
  const completedAt = toInstant(event.timestamp_ms)
  return { chunks, turns, ...(completedAt === undefined ? {} : { completedAt }) }
}
