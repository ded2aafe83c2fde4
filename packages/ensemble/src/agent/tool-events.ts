/** What a tool call is to readers of events. */
import { isoNow, limitText, toModelText } from '@tutti/core'

import type { TaskScope } from '../run/task-scope.ts'
import type { NestedToolCall, RunToolCallsOptions, ToolCall, ToolCallOutcome } from '@tutti/core'
import type { RunEventOf } from '@tutti/protocol'

/**
 * Characters of a tool's input and output that an event carries; more is cut with a note. Enough for a
 * page or a file, and small enough that a thousand calls can be kept.
 */
export const MAX_TOOL_TEXT_LENGTH = 262_144

/** A call that has come to an end. */
export interface EndedCall {
  readonly iterationIndex: number
  readonly call: ToolCall | NestedToolCall
  readonly outcome: ToolCallOutcome
}

/** The event of a call. */
export function toolCalledEvent(
  { identity }: TaskScope,
  { iterationIndex, call, outcome }: EndedCall,
): RunEventOf<'tool_called'> {
  const { agentRole, taskIndex, taskName, attempt } = identity
  const event: RunEventOf<'tool_called'> = {
    type: 'tool_called',
    agentRole,
    taskIndex,
    toolName: call.name,
    durationMs: outcome.durationMs,
    outcome: outcome.result.success ? 'SUCCESS' : 'FAILURE',
    toolArguments: limitText(call.arguments, MAX_TOOL_TEXT_LENGTH),
    toolResult: limitText(toModelText(outcome.result), MAX_TOOL_TEXT_LENGTH),
    structuredResult: asJson(outcome.result.structured),
    taskName,
    attempt,
    iterationIndex,
    toolCallId: call.id,
  }
  if ('parentId' in call) event.parentToolCallId = call.parentId
  return event
}

/** The listeners that make events of what a tool says of itself. */
export function toolReports(
  scope: TaskScope,
  iterationIndex: number,
): Pick<RunToolCallsOptions, 'onProgress' | 'onFileChange'> {
  const { agentRole, taskIndex, taskName, attempt } = scope.identity
  const { clock } = scope.run
  return {
    onProgress({ id, name }, { message, fraction }) {
      scope.emit({
        type: 'tool_progress',
        agentRole,
        taskName,
        taskIndex,
        attempt,
        iterationIndex,
        toolCallId: id,
        toolName: name,
        message: limitText(message, MAX_TOOL_TEXT_LENGTH),
        ...(isFraction(fraction) ? { fraction } : {}),
        sentAt: isoNow(clock),
      })
    },
    onFileChange(_, { path, changeType, linesAdded, linesRemoved }) {
      scope.emit({
        type: 'file_changed',
        agentRole,
        filePath: path,
        changeType,
        linesAdded,
        linesRemoved,
        timestamp: isoNow(clock),
      })
    },
  }
}

function isFraction(value: number | undefined): value is number {
  return value !== undefined && value >= 0 && value <= 1
}

/**
 * `value` as its JSON says it: a tool may give anything, an event may not. Null when it has none, and
 * when it is too long for an event.
 */
function asJson(value: unknown): unknown {
  try {
    const text: string | undefined = JSON.stringify(value)
    return text === undefined || text.length > MAX_TOOL_TEXT_LENGTH ? null : JSON.parse(text)
  } catch {
    return null
  }
}
