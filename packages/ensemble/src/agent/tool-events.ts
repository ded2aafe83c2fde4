/** The events of a tool call. */
import { isoNow, limitText, toModelText } from '@tutti/core'

import type { TaskScope } from '../scope/task-scope.ts'
import type {
  AgentToolEvent,
  NestedToolCall,
  RunToolCallsOptions,
  TimedAgentReport,
  ToolCall,
  ToolCallOutcome,
} from '@tutti/core'
import type { RunEventOf } from '@tutti/protocol'

/**
 * Characters of a tool's input and output that an event carries; more is cut with a note. Enough for a
 * page or a file, and small enough to store a thousand calls.
 */
export const MAX_TOOL_TEXT_LENGTH = 262_144

/** A call that has come to an end. */
export interface FinishedToolCall {
  readonly iterationIndex: number
  readonly call: ToolCall | NestedToolCall
  readonly outcome: ToolCallOutcome
}

/** The event of a call that ends now. */
export function toolCalledEvent(
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
    toolResult: limitText(toModelText(outcome.result), MAX_TOOL_TEXT_LENGTH),
    structuredResult: asJson(outcome.result.structured),
    taskName,
    attempt,
    iterationIndex,
    toolCallId: call.id,
  }
  if ('parentId' in call) event.parentToolCallId = call.parentId
  event.completedAt = isoNow(run.clock)
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

/** Tells of a request to another agent, and counts what it used. */
export function agentReporter(
  scope: TaskScope,
  iterationIndex: number,
): NonNullable<RunToolCallsOptions['onAgentReport']> {
  const { agentRole, taskIndex, taskName, attempt } = scope.identity
  return ({ id, name }, report) => {
    const inputTokens = Math.round(countableAmount(report.input_tokens))
    const outputTokens = Math.round(countableAmount(report.output_tokens))
    const costUsd = countableAmount(report.cost_usd)
    const event: AgentToolEvent = {
      ...bounded(report),
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
    scope.meter.countAgent(used)
    scope.totals.addAgent(used)
    scope.emit(event, { kind: 'agent_used', ...used })
  }
}

/** Returns a reported amount; one that is not finite, or negative, counts as 0: it would undo a budget. */
function countableAmount(used: number | undefined): number {
  return used !== undefined && Number.isFinite(used) && used > 0 ? used : 0
}

/** The report with what agents sent as JSON, cut where it is too long for an event. */
function bounded(report: TimedAgentReport): TimedAgentReport {
  switch (report.type) {
    case 'agent_tool_progress':
      return { ...report, chunk: asBoundedJson(report.chunk) }
    case 'agent_tool_turn':
      return {
        ...report,
        ...('input' in report ? { input: asBoundedJson(report.input) } : {}),
        ...('output' in report ? { output: asBoundedJson(report.output) } : {}),
      }
    case 'agent_tool_completed':
      return { ...report, output: asBoundedJson(report.output) }
    case 'agent_tool_terminated':
    case 'agent_tool_error':
      return {
        ...report,
        error: limitText(report.error, MAX_TOOL_TEXT_LENGTH),
        partial_output: asBoundedJson(report.partial_output),
      }
    default:
      return report
  }
}

/** `value` as its JSON says it, null when it has none; the start of the JSON when that is too long. */
function asBoundedJson(value: unknown): unknown {
  try {
    const text: string | undefined = JSON.stringify(value)
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
