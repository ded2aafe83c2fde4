/** The spans of requests to other agents: each try of a tool call is one. */
import { SpanKind } from '@opentelemetry/api'

import { GEN_AI, OPERATION, TUTTI } from './attributes.ts'
import { failed } from './span-end.ts'
import { agentKey } from './span-keys.ts'
import { factsOf, taskAttributes, usage } from './task-spans.ts'
import { keyOfCall, spanOfCall } from './tool-spans.ts'

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

/** Takes an event of a request to an agent; false when it is none. */
export function agentEvent(table: SpanTable, event: TracedEvent): boolean {
  switch (event.type) {
    case 'agent_tool_invoked':
      begin(table, event)
      return true
    case 'agent_tool_progress':
      spanOf(table, event)
      return true
    case 'agent_tool_turn':
      spanOf(table, event)?.addEvent('tutti.agent.turn', table.nowMs, {
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
        ended(table, event, event.reason === 'cancelled' ? 'CANCELLED' : event.reason),
      )
      return true
    case 'agent_tool_error':
      end(table, event, ended(table, event, event.failure_type))
      return true
    default:
      return false
  }
}

function begin(table: SpanTable, event: RunEventOf<'agent_tool_invoked'>): void {
  const facts = factsOf(table, event)
  if (facts === undefined) return
  const { toolName, toolCallId, iterationIndex } = event
  const call = spanOfCall(table, facts, {
    toolCallId,
    iterationIndex,
    toolName,
    startMs: table.nowMs,
  })
  const number = (facts.agentTries.get(call.key) ?? 0) + 1
  facts.agentTries.set(call.key, number)
  table.open({
    key: agentKey(call.key, number),
    name: `${OPERATION.invokeAgent} ${toolName}`,
    kind: SpanKind.CLIENT,
    startMs: table.nowMs,
    parent: call,
    owner: facts.key,
    attributes: {
      ...taskAttributes(event),
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

/** The try that is under way, with what it has used since counted. */
function spanOf(table: SpanTable, event: AgentEvent): OpenSpan | undefined {
  const facts = factsOf(table, event)
  if (facts === undefined) return undefined
  const call = keyOfCall(table, facts, event)
  const span = table.find(agentKey(call, facts.agentTries.get(call) ?? 0))
  span?.set({
    ...usage(
      sum(span, GEN_AI.inputTokens, event.input_tokens),
      sum(span, GEN_AI.outputTokens, event.output_tokens),
    ),
    ...(event.cost_usd === undefined
      ? {}
      : { [TUTTI.costUsd]: sum(span, TUTTI.costUsd, event.cost_usd) }),
  })
  return span
}

function sum({ attributes }: OpenSpan, name: string, more = 0): number {
  const before = attributes[name]
  return (typeof before === 'number' ? before : 0) + more
}

function end(table: SpanTable, event: AgentEvent, how: SpanEnd): void {
  const span = spanOf(table, event)
  if (span !== undefined) table.end(span, how)
}

function ended(
  { nowMs, redact }: SpanTable,
  event: RunEventOf<'agent_tool_terminated' | 'agent_tool_error'>,
  code: string,
): SpanEnd {
  return failed(nowMs, { code, reason: event.error }, redact)
}
