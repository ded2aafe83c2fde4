/** Pure: an event in one line. */
import { DECISION, describeEarlyEnd, RUN_STATUS } from '../../ui/labels.ts'
import { formatCount, formatDuration, formatMoney, plural } from '../../lib/format.ts'

import type { LoggedRunEvent, RunEvent, RunEventOf } from '@tutti/protocol'

/** Characters of a line. */
const LENGTH = 240

type Summaries = {
  readonly [T in RunEvent['type']]: (event: RunEventOf<T>) => string
}

/** One line that says what is particular to an event; its type and task are told beside it. */
export function eventSummary(event: LoggedRunEvent): string {
  // NOTE: the function of a type takes the events of that type.
  const summary = SUMMARIES[event.type] as (event: RunEvent) => string
  return oneLine(summary(event))
}

/** The task that an event is about; undefined when it is about the run. */
export function taskOf(event: LoggedRunEvent): string | undefined {
  return 'taskName' in event ? event.taskName : undefined
}

const SUMMARIES: Summaries = {
  run_queued: ({ ensemble, workflow, totalTasks, actor }) =>
    joined(ensemble, workflow.toLowerCase(), plural(totalTasks, 'task'), by(actor)),
  run_resumed: ({ epoch, completedTasks }) =>
    joined(`by holder ${epoch}`, `${plural(completedTasks.length, 'task')} done before`),
  run_cancelling: ({ mode, actor }) =>
    joined(mode === 'abort' ? 'what is in flight is aborted' : 'after the running task', by(actor)),
  ensemble_started: ({ ensemble, tasks }) =>
    joined(ensemble, tasks.map(({ name }) => name).join(', ')),
  task_started: ({ agentRole, attempt, taskDescription }) =>
    joined(agentRole, again(attempt), taskDescription),
  task_input: ({ toolNames, assembledContext }) =>
    joined(
      toolNames.length === 0 ? 'no tools' : `tools: ${toolNames.join(', ')}`,
      assembledContext === '' ? 'no context' : `${assembledContext.length} characters of context`,
    ),
  llm_iteration_started: ({ model, iterationIndex, totalMessageCount }) =>
    joined(model, callNumber(iterationIndex), plural(totalMessageCount, 'message')),
  token: ({ token }) => JSON.stringify(token.slice(0, LENGTH)),
  llm_iteration_completed: ({ model, iterationIndex, toolRequests = [], ...rest }) =>
    joined(
      model,
      callNumber(iterationIndex),
      formatDuration(rest.latencyMs),
      tokens(rest.inputTokens, rest.outputTokens),
      formatMoney(rest.costUsd),
      describeEarlyEnd(rest.finishReason)?.toLowerCase(),
      rest.refusal,
      toolRequests.length === 0
        ? (rest.responseText ?? '')
        : `asks for ${toolRequests.map(({ name }) => name).join(', ')}`,
    ),
  llm_iteration_failed: ({ model, code, reason, retryInMs, retryAfterMs, nextModel }) =>
    joined(
      model,
      code,
      reason,
      nextModel === undefined ? '' : `next ${nextModel}`,
      retryInMs === undefined ? '' : `again in ${formatDuration(retryInMs)}`,
      retryAfterMs === undefined ? '' : `provider asks for ${formatDuration(retryAfterMs)}`,
    ),
  tool_progress: ({ toolName, message, fraction }) =>
    joined(toolName, fraction === undefined ? '' : `${Math.round(fraction * 100)} %`, message),
  tool_called: ({ toolName, outcome, durationMs, toolResult, parentToolCallId }) =>
    joined(
      toolName,
      parentToolCallId === undefined ? '' : 'step',
      outcome === 'SUCCESS' ? 'succeeded' : 'failed',
      formatDuration(durationMs),
      cut(toolResult),
    ),
  agent_tool_invoked: ({ toolName, agent_uri: address, mode, protocol, retry_index: retry }) =>
    joined(toolName, address, mode, protocol, again(retry + 1)),
  agent_tool_progress: ({ toolName, chunk_index: chunk, chunk: content }) =>
    joined(toolName, `chunk ${chunk + 1}`, valueText(content)),
  agent_tool_turn: ({ toolName, turn, direction, input, output }) =>
    joined(toolName, `turn ${turn + 1}`, direction, valueText(input ?? output)),
  agent_tool_completed: ({ toolName, latency_ms: latency, total_cost: cost, output }) =>
    joined(toolName, formatDuration(latency), formatMoney(cost), valueText(output)),
  agent_tool_terminated: ({ toolName, reason, error }) =>
    joined(toolName, reason.replaceAll('_', ' '), error),
  agent_tool_error: ({ toolName, failure_type: type, error }) =>
    joined(toolName, type.replaceAll('_', ' '), error),
  delegation_started: ({ workerRole, workerTask, taskDescription }) =>
    joined(`to ${workerRole}`, workerTask, taskDescription),
  delegation_completed: ({ workerRole, workerTask, durationMs }) =>
    joined(`by ${workerRole}`, workerTask, formatDuration(durationMs)),
  delegation_failed: ({ workerRole, reason }) => joined(`to ${workerRole}`, reason),
  task_completed: ({ durationMs, tokenCount, toolCallCount, costUsd, output }) =>
    joined(
      formatDuration(durationMs),
      `${formatCount(tokenCount)} tokens`,
      plural(toolCallCount, 'tool call'),
      formatMoney(costUsd),
      cut(output),
    ),
  task_attempt_failed: ({ code, reason }) => joined(code, reason, 'another attempt follows'),
  task_failed: ({ code, reason, willRetry }) =>
    joined(code, reason, willRetry ? 'another attempt follows' : ''),
  task_skipped: ({ reason }) => reason,
  metrics_snapshot: ({ inputTokens, outputTokens, iterationCount, costEstimate }) =>
    joined(
      tokens(inputTokens, outputTokens),
      plural(iterationCount, 'model call'),
      costEstimate === undefined ? '' : formatMoney(Number(costEstimate)),
    ),
  review_requested: ({ timing, toolName, prompt }) =>
    joined(timing.toLowerCase().replaceAll('_', ' '), toolName, prompt),
  review_timed_out: ({ action }) => action.toLowerCase().replaceAll('_', ' '),
  review_decided: ({ decision, decidedBy, feedback }) =>
    joined(DECISION[decision], by(decidedBy), feedback),
  review_withdrawn: ({ reason }) => reason,
  directive_active: ({ content, action, value, to, from, actor }) =>
    joined(content ?? joined(action, value), to === undefined ? '' : `to ${to}`, by(from ?? actor)),
  directive_delivered: ({ agentRole, iterationIndex }) =>
    joined(agentRole, callNumber(iterationIndex)),
  file_changed: ({ filePath, changeType, linesAdded, linesRemoved }) =>
    joined(filePath, changeType.toLowerCase(), `+${linesAdded} −${linesRemoved}`),
  model_switched: ({ model, previousModel, actor }) =>
    joined(previousModel === undefined ? model : `${previousModel} → ${model}`, by(actor)),
  ensemble_completed: ({ exitReason, durationMs, totalTokens, totalToolCalls }) =>
    joined(
      exitReason.toLowerCase().replaceAll('_', ' '),
      formatDuration(durationMs),
      `${formatCount(totalTokens)} tokens`,
      plural(totalToolCalls, 'tool call'),
    ),
  run_result: ({ status, durationMs, code, error }) =>
    joined(RUN_STATUS[status].word, formatDuration(durationMs), code, error),
}

function joined(...parts: readonly (string | null | undefined)[]): string {
  return parts
    .filter((part) => part !== undefined && part !== null && part !== '' && part !== '—')
    .join(' · ')
}

function by(actor: string | undefined): string {
  return actor === undefined ? '' : `by ${actor}`
}

function again(attempt: number): string {
  return attempt > 1 ? `attempt ${attempt}` : ''
}

/** People count from 1. */
function callNumber(iterationIndex: number): string {
  return `call ${iterationIndex + 1}`
}

function tokens(read: number, written: number): string {
  return `${formatCount(read)} in ${formatCount(written)} out`
}

/** Only what a line can hold is looked at: a text may be megabytes long. */
function cut(text: string | null): string {
  return (text ?? '').slice(0, LENGTH)
}

function valueText(value: unknown): string {
  if (value === undefined || value === null) return ''
  return cut(typeof value === 'string' ? value : JSON.stringify(value))
}

function oneLine(text: string): string {
  return text
    .slice(0, 2 * LENGTH)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, LENGTH)
}
