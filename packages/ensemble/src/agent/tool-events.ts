/** The events of a tool call. */
import { isoNow, limitText, toOutcomeText, toPlainJson } from '@tutti/core/internal'
import { readCostUsd, readTokenCount } from '@tutti/protocol/internal'

import { toCountedUse } from '../usage/budget.ts'

import type { TaskScope } from '../scope/task-scope.ts'
import type { RunToolCallsOptions, ToolCall, ToolCallOutcome } from '@tutti/core'
import type { AgentToolEvent, NestedToolCall, TimedAgentReport } from '@tutti/core/internal'
import type { RunEventOf } from '@tutti/protocol'

/**
 * Maximum number of characters of a tool's input or output in an event; longer texts are cut with a note.
 * Enough for a page or a file, and small enough to store a thousand calls.
 */
export const MAX_TOOL_TEXT_LENGTH = 262_144

/** A tool call that has ended. */
export interface FinishedToolCall {
  readonly iterationIndex: number
  readonly call: ToolCall | NestedToolCall
  readonly outcome: ToolCallOutcome
}

/** Returns the event of a tool call that ends now. */
export function createToolCalledEvent(
  { identity, run }: TaskScope,
  { iterationIndex, call, outcome }: FinishedToolCall,
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
    toolResult: limitText(toOutcomeText(outcome), MAX_TOOL_TEXT_LENGTH),
    structuredResult: toJsonOrNull(outcome.result.structured),
    taskName,
    attempt,
    iterationIndex,
    toolCallId: call.id,
    completedAt: isoNow(run.clock),
  }
  if ('parentId' in call) event.parentToolCallId = call.parentId
  return event
}

/** Returns a listener that emits the progress of tools as events. */
export function createProgressReporter(
  scope: TaskScope,
  iterationIndex: number,
): NonNullable<RunToolCallsOptions['onProgress']> {
  return ({ id, name }, { message, fraction }) => {
    const { agentRole, taskIndex, taskName, attempt } = scope.identity
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
      sentAt: isoNow(scope.run.clock),
    })
  }
}

/** Returns a listener that emits the file changes of tools as events. */
export function createFileReporter(
  scope: TaskScope,
): NonNullable<RunToolCallsOptions['onFileChange']> {
  return (_, { path, changeType, linesAdded, linesRemoved }) => {
    scope.emit({
      type: 'file_changed',
      agentRole: scope.identity.agentRole,
      filePath: path,
      changeType,
      linesAdded,
      linesRemoved,
      timestamp: isoNow(scope.run.clock),
    })
  }
}

/** Events that end the call of an agent. */
const AGENT_ENDS: readonly string[] = [
  'agent_tool_completed',
  'agent_tool_terminated',
  'agent_tool_error',
]

/**
 * Returns a listener that emits the reports of agent tools as events, counts their usage, and marks the calls of agents of
 * other processes as waiting (ENS-E28).
 */
export function createAgentReporter(
  scope: TaskScope,
  iterationIndex: number,
): NonNullable<RunToolCallsOptions['onAgentReport']> {
  return ({ id, name }, report) => {
    const { agentRole, taskIndex, taskName, attempt } = scope.identity
    const { inFlight } = scope.run
    const agentCall = formatAgentCall(scope, id)
    if (AGENT_ENDS.includes(report.type)) inFlight.endAgentCalls(agentCall)
    else if (report.type === 'agent_tool_invoked' && report.protocol !== 'local') {
      inFlight.beginAgentCall(agentCall)
    }
    // An unknown amount counts as 0: the call has no length by which to estimate it.
    const inputTokens = readTokenCount(report.input_tokens) ?? 0
    const outputTokens = readTokenCount(report.output_tokens) ?? 0
    const costUsd = readCostUsd(report.cost_usd) ?? 0
    const event: AgentToolEvent = {
      ...boundReport(report),
      ...(report.input_tokens === undefined ? {} : { input_tokens: inputTokens }),
      ...(report.output_tokens === undefined ? {} : { output_tokens: outputTokens }),
      ...(report.cost_usd === undefined ? {} : { cost_usd: costUsd }),
      agentRole,
      taskName,
      taskIndex,
      attempt,
      iterationIndex,
      toolCallId: id,
      toolName: name,
    }
    if (inputTokens === 0 && outputTokens === 0 && costUsd === 0) {
      scope.emit(event)
      return
    }
    const used = { inputTokens, outputTokens, costUsd }
    scope.meter.count(toCountedUse(used))
    scope.totals.addAgent(used)
    scope.emit(event, { kind: 'agent_used', ...used })
  }
}

/** Returns the name of a tool call that calls an agent. The names of its nested calls begin with it. */
export function formatAgentCall({ identity }: TaskScope, callId: string): string {
  return `${identity.taskName}/${identity.attempt}/${callId}`
}

/** Returns the report with the JSON values and errors of the agent cut to the limit of an event. */
function boundReport(report: TimedAgentReport): TimedAgentReport {
  switch (report.type) {
    case 'agent_tool_progress':
      return { ...report, chunk: toBoundedJson(report.chunk) }
    case 'agent_tool_turn':
      return {
        ...report,
        ...('input' in report ? { input: toBoundedJson(report.input) } : {}),
        ...('output' in report ? { output: toBoundedJson(report.output) } : {}),
      }
    case 'agent_tool_completed':
      return { ...report, output: toBoundedJson(report.output) }
    case 'agent_tool_terminated':
    case 'agent_tool_error':
      return {
        ...report,
        error: limitText(report.error, MAX_TOOL_TEXT_LENGTH),
        partial_output: toBoundedJson(report.partial_output),
      }
    default:
      return report
  }
}

/** Returns `value` as JSON: null if it has no JSON form, and the start of the text if it is too long. */
function toBoundedJson(value: unknown): unknown {
  try {
    const text: string | undefined = JSON.stringify(toPlainJson(value))
    if (text === undefined) return null
    return text.length > MAX_TOOL_TEXT_LENGTH
      ? limitText(text, MAX_TOOL_TEXT_LENGTH)
      : JSON.parse(text)
  } catch {
    return null
  }
}

function isFraction(value: number | undefined): value is number {
  return value !== undefined && value >= 0 && value <= 1
}

/**
 * Returns `value` as JSON, because a tool may return anything but an event must be JSON. Null if `value` has
 * no JSON form or is too long for an event.
 */
function toJsonOrNull(value: unknown): unknown {
  try {
    const text: string | undefined = JSON.stringify(toPlainJson(value))
    return text === undefined || text.length > MAX_TOOL_TEXT_LENGTH ? null : JSON.parse(text)
  } catch {
    return null
  }
}
