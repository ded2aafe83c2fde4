/**
 * Spans of tool calls. The log reports a call when it ends. An earlier event within the call opens its span, so a call
 * continued by another process after a crash is one span.
 */
import { SpanKind } from '@opentelemetry/api'

import { GEN_AI, OPERATION, TUTTI } from './attributes.ts'
import { textContent } from './content.ts'
import { toFailedEnd } from './span-end.ts'
import { callKey } from './span-keys.ts'
import { findAttempt, toTaskAttributes } from './task-spans.ts'

import type { OpenSpan } from './open-span.ts'
import type { SpanTable, OpenAttempt, TracedEvent } from './span-table.ts'
import type { RunEventOf } from '@tutti/protocol'

/** Takes the event of a tool call; returns whether it is one. */
export function takeToolEvent(table: SpanTable, event: TracedEvent): boolean {
  if (event.type !== 'tool_called') return false
  const attempt = findAttempt(table, event)
  if (attempt !== undefined) endCall(table, attempt, event)
  return true
}

/** A call in progress. */
export interface TracedCall {
  readonly toolCallId: string
  readonly iterationIndex: number
  /** Latest possible start, in milliseconds since 1970. */
  readonly startMs: number
  readonly toolName?: string | undefined
}

/** Returns the key of the span of a call; a repeated call gets a number as suffix. */
export function toCallSpanKey(
  table: SpanTable,
  attempt: OpenAttempt,
  { toolCallId, iterationIndex }: Pick<TracedCall, 'toolCallId' | 'iterationIndex'>,
): string {
  const key = callKey(table.runId, { ...readPosition(attempt.span), iterationIndex, toolCallId })
  const ended = attempt.endedCalls.get(key) ?? 0
  return ended === 0 ? key : `${key}#${ended + 1}`
}

/** Returns the span of a call; opens it if necessary. */
export function findOrOpenCall(table: SpanTable, attempt: OpenAttempt, call: TracedCall): OpenSpan {
  const { toolCallId, startMs, iterationIndex, toolName = attempt.toolNames.get(toolCallId) } = call
  const { span: task } = attempt
  const key = toCallSpanKey(table, attempt, call)
  const known = table.find(key)
  if (known !== undefined) {
    known.extendStart(startMs)
    return known
  }
  return table.open({
    key,
    name: formatSpanName(toolName),
    kind: SpanKind.INTERNAL,
    startMs,
    parent: task,
    owner: attempt.key,
    attributes: {
      ...copyPlaceAttributes(task),
      [GEN_AI.operationName]: OPERATION.executeTool,
      [GEN_AI.toolCallId]: toolCallId,
      [GEN_AI.toolType]: 'function',
      [TUTTI.iteration]: iterationIndex,
      ...(toolName === undefined ? {} : { [GEN_AI.toolName]: toolName }),
    },
  })
}

function endCall(table: SpanTable, attempt: OpenAttempt, event: RunEventOf<'tool_called'>): void {
  const { nowMs, redact, captureContent } = table
  const { toolCallId, iterationIndex, toolName, durationMs, parentToolCallId } = event
  const call = { toolCallId, iterationIndex, toolName, startMs: nowMs - durationMs }
  const span = findOrOpenCall(table, attempt, call)
  // Durations are rounded: the parts of the call may have begun before it, and then its whole has as well.
  const { startMs } = span
  span.parent =
    parentToolCallId === undefined
      ? attempt.span
      : findOrOpenCall(table, attempt, { toolCallId: parentToolCallId, iterationIndex, startMs })
  span.name = formatSpanName(toolName)
  span.set({ ...toTaskAttributes(event), [GEN_AI.toolName]: toolName })
  if (captureContent) {
    span.set({
      [GEN_AI.toolArguments]: textContent(redact(event.toolArguments ?? '')),
      [GEN_AI.toolResult]: textContent(redact(event.toolResult ?? '')),
    })
  }
  // The message of a failed tool is content, because a model reads it.
  const reason = captureContent ? (event.toolResult ?? undefined) : undefined
  const isFailed = event.outcome === 'FAILURE'
  const base = callKey(table.runId, event)
  attempt.endedCalls.set(base, (attempt.endedCalls.get(base) ?? 0) + 1)
  table.end(
    span,
    isFailed ? toFailedEnd(nowMs, { code: 'TOOL_FAILED', reason }, redact) : { endMs: nowMs },
  )
}

function formatSpanName(toolName: string | undefined): string {
  return toolName === undefined ? OPERATION.executeTool : `${OPERATION.executeTool} ${toolName}`
}

function readPosition({ attributes }: OpenSpan): {
  readonly taskIndex: number
  readonly attempt: number
} {
  return {
    taskIndex: Number(attributes[TUTTI.taskIndex]),
    attempt: Number(attributes[TUTTI.attempt]),
  }
}

function copyPlaceAttributes({ attributes }: OpenSpan): OpenSpan['attributes'] {
  const names = [GEN_AI.agentName, TUTTI.taskName, TUTTI.taskIndex, TUTTI.attempt]
  return Object.fromEntries(names.map((name) => [name, attributes[name]]))
}
