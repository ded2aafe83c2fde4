/**
 * The spans of tool calls. A call is told of when it ends; whatever happens within it before that has it begin, so that
 * a call that went on in another process after a crash is one span from its first sign to its end.
 */
import { SpanKind } from '@opentelemetry/api'

import { GEN_AI, OPERATION, TUTTI } from './attributes.ts'
import { textContent } from './content.ts'
import { failed } from './span-end.ts'
import { callKey } from './span-keys.ts'
import { factsOf, taskAttributes } from './task-spans.ts'

import type { OpenSpan } from './open-span.ts'
import type { SpanTable, TaskFacts, TracedEvent } from './span-table.ts'
import type { RunEventOf } from '@tutti/protocol'

/** Takes the event of a tool call; false when it is none. */
export function toolEvent(table: SpanTable, event: TracedEvent): boolean {
  if (event.type !== 'tool_called') return false
  const facts = factsOf(table, event)
  if (facts !== undefined) endCall(table, facts, event)
  return true
}

/** A call that is under way. */
export interface TracedCall {
  readonly toolCallId: string
  readonly iterationIndex: number
  /** When it was under way at the latest. */
  readonly startMs: number
  readonly toolName?: string | undefined
}

/** What the span of a call is called; that of a call which is made again has a number behind it. */
export function keyOfCall(
  table: SpanTable,
  facts: TaskFacts,
  { toolCallId, iterationIndex }: Pick<TracedCall, 'toolCallId' | 'iterationIndex'>,
): string {
  const key = callKey(table.runId, { ...placeOf(facts.span), iterationIndex, toolCallId })
  const ended = facts.endedCalls.get(key) ?? 0
  return ended === 0 ? key : `${key}#${ended + 1}`
}

/** The span of a call, begun when it is not. */
export function spanOfCall(table: SpanTable, facts: TaskFacts, call: TracedCall): OpenSpan {
  const { toolCallId, startMs, iterationIndex, toolName = facts.toolNames.get(toolCallId) } = call
  const { span: task } = facts
  const key = keyOfCall(table, facts, call)
  const known = table.find(key)
  if (known !== undefined) {
    known.beganBy(startMs)
    return known
  }
  return table.open({
    key,
    name: nameOf(toolName),
    kind: SpanKind.INTERNAL,
    startMs,
    parent: task,
    owner: facts.key,
    attributes: {
      ...placeAttributes(task),
      [GEN_AI.operationName]: OPERATION.executeTool,
      [GEN_AI.toolCallId]: toolCallId,
      [GEN_AI.toolType]: 'function',
      [TUTTI.iteration]: iterationIndex,
      ...(toolName === undefined ? {} : { [GEN_AI.toolName]: toolName }),
    },
  })
}

function endCall(table: SpanTable, facts: TaskFacts, event: RunEventOf<'tool_called'>): void {
  const { nowMs, redact, captureContent } = table
  const { toolCallId, iterationIndex, toolName, durationMs, parentToolCallId } = event
  const startMs = nowMs - durationMs
  const whole =
    parentToolCallId === undefined
      ? undefined
      : spanOfCall(table, facts, { toolCallId: parentToolCallId, iterationIndex, startMs })
  const span = spanOfCall(table, facts, { toolCallId, iterationIndex, toolName, startMs })
  span.parent = whole ?? facts.span
  span.name = nameOf(toolName)
  span.set({ ...taskAttributes(event), [GEN_AI.toolName]: toolName })
  if (captureContent) {
    span.set({
      [GEN_AI.toolArguments]: textContent(redact(event.toolArguments ?? '')),
      [GEN_AI.toolResult]: textContent(redact(event.toolResult ?? '')),
    })
  }
  // What a tool says of its failure is what a model reads: content.
  const reason = captureContent ? (event.toolResult ?? undefined) : undefined
  const isFailed = event.outcome === 'FAILURE'
  const base = callKey(table.runId, event)
  facts.endedCalls.set(base, (facts.endedCalls.get(base) ?? 0) + 1)
  table.end(
    span,
    isFailed ? failed(nowMs, { code: 'TOOL_FAILED', reason }, redact) : { endMs: nowMs },
  )
}

function nameOf(toolName: string | undefined): string {
  return toolName === undefined ? OPERATION.executeTool : `${OPERATION.executeTool} ${toolName}`
}

function placeOf({ attributes }: OpenSpan): {
  readonly taskIndex: number
  readonly attempt: number
} {
  return {
    taskIndex: Number(attributes[TUTTI.taskIndex]),
    attempt: Number(attributes[TUTTI.attempt]),
  }
}

function placeAttributes({ attributes }: OpenSpan): OpenSpan['attributes'] {
  const names = [GEN_AI.agentName, TUTTI.taskName, TUTTI.taskIndex, TUTTI.attempt]
  return Object.fromEntries(names.map((name) => [name, attributes[name]]))
}
