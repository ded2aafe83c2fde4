/** Spans of requests to other agents, one for each try. */
import { SpanKind } from '@opentelemetry/api'
import { readEventUsage } from '@tutti/protocol/internal'

import { GEN_AI, OPERATION, TUTTI } from './attributes.ts'
import { toFailedEnd } from './span-end.ts'
import { agentKey } from './span-keys.ts'
import { findAttempt, toTaskAttributes, toUsageAttributes } from './task-spans.ts'
import { toCallSpanKey, findOrOpenCall } from './tool-spans.ts'

import type { OpenSpan, SpanEnd } from './open-span.ts'
import type { SpanTable, TracedEvent } from './span-table.ts'
import type { RunEventOf } from '@tutti/protocol'

type AgentEvent = RunEventOf<
  | 'agent_tool_invoked'
  | 'agent_tool_progress'
  | 'agent_tool_turn'
  | 'agent_tool_completed'
  | 'agent_tool_terminated'
  | 'agent_tool_error'
>

/** Takes an event of a request to an agent; returns whether it is one. */
export function takeAgentEvent(table: SpanTable, event: TracedEvent): boolean {
  switch (event.type) {
    case 'agent_tool_invoked':
      begin(table, event)
      return true
    case 'agent_tool_progress':
      findAgentSpan(table, event)
      return true
    case 'agent_tool_turn':
      findAgentSpan(table, event)?.addEvent('tutti.agent.turn', table.nowMs, {
        'tutti.agent.turn.number': event.turn,
        'tutti.agent.turn.direction': event.direction,
      })
      return true
    case 'agent_tool_completed':
      end(table, event, { endMs: table.nowMs })
      return true
    case 'agent_tool_terminated':
      end(
        table,
        event,
        toTerminatedEnd(table, event, event.reason === 'cancelled' ? 'CANCELLED' : event.reason),
      )
      return true
    case 'agent_tool_error':
      end(table, event, toTerminatedEnd(table, event, event.failure_type))
      return true
    default:
      return false
  }
}

function begin(table: SpanTable, event: RunEventOf<'agent_tool_invoked'>): void {
  const attempt = findAttempt(table, event)
  if (attempt === undefined) return
  const { toolName, toolCallId, iterationIndex } = event
  const call = findOrOpenCall(table, attempt, {
    toolCallId,
    iterationIndex,
    toolName,
    startMs: table.nowMs,
  })
  const number = (attempt.agentTries.get(call.key) ?? 0) + 1
  attempt.agentTries.set(call.key, number)
  table.open({
    key: agentKey(call.key, number),
    name: `${OPERATION.invokeAgent} ${toolName}`,
    kind: SpanKind.CLIENT,
    startMs: table.nowMs,
    parent: call,
    owner: attempt.key,
    attributes: {
      ...toTaskAttributes(event),
      [GEN_AI.operationName]: OPERATION.invokeAgent,
      [GEN_AI.agentName]: toolName,
      [GEN_AI.toolCallId]: toolCallId,
      [TUTTI.agentUri]: event.agent_uri,
      [TUTTI.agentMode]: event.mode,
      [TUTTI.agentProtocol]: event.protocol,
      [TUTTI.agentTry]: number,
    },
  })
}

/** Returns the span of the current try, with the usage of the event added. */
function findAgentSpan(table: SpanTable, event: AgentEvent): OpenSpan | undefined {
  const attempt = findAttempt(table, event)
  if (attempt === undefined) return undefined
  const call = toCallSpanKey(table, attempt, event)
  const span = table.find(agentKey(call, attempt.agentTries.get(call) ?? 0))
  const used = readEventUsage(event)
  if (used === undefined) return span
  const { inputTokens, outputTokens, costUsd } = used
  span?.set({
    ...toUsageAttributes(
      sum(span, GEN_AI.inputTokens, inputTokens),
      sum(span, GEN_AI.outputTokens, outputTokens),
    ),
    ...(costUsd === undefined ? {} : { [TUTTI.costUsd]: sum(span, TUTTI.costUsd, costUsd) }),
  })
  return span
}

function sum({ attributes }: OpenSpan, name: string, more = 0): number {
  const before = attributes[name]
  return (typeof before === 'number' ? before : 0) + more
}

function end(table: SpanTable, event: AgentEvent, how: SpanEnd): void {
  const span = findAgentSpan(table, event)
  if (span !== undefined) table.end(span, how)
}

function toTerminatedEnd(
  { nowMs, redact }: SpanTable,
  event: RunEventOf<'agent_tool_terminated' | 'agent_tool_error'>,
  code: string,
): SpanEnd {
  return toFailedEnd(nowMs, { code, reason: event.error }, redact)
}
