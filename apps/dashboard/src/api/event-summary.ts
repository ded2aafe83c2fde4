/** Summarizes an event in one line. Pure. */
import { formatCancelOrigin } from '@tutti/protocol/internal'

import { DECISION, describeEarlyEnd, RUN_STATUS } from '../ui/labels.ts'
import { formatCount, formatDuration, formatMoney, formatPlural } from '../lib/format.ts'

import type { LoggedRunEvent, RunEvent, RunEventOf } from '@tutti/protocol'

/** Maximum length of a line, in characters. */
const LENGTH = 240

type Summaries = {
  readonly [T in RunEvent['type']]?: (event: RunEventOf<T>) => string
}

/** Returns one line with the particulars of an event. Its type and task are shown separately. */
export function summarizeEvent(event: LoggedRunEvent): string {
  // NOTE: the function of a type takes the events of that type.
  const summary = SUMMARIES[event.type] as ((event: RunEvent) => string) | undefined
  return joinLines((summary ?? listFields)(event))
}

/** Returns the texts and numbers of an event, without its position and its times. */
function listFields({ type: _, runId: __, seq: ___, id: ____, ...fields }: LoggedRunEvent): string {
  const values = Object.entries(fields).filter(
    ([name, value]) =>
      !name.startsWith('task') && !name.endsWith('At') && /^(string|number)$/.test(typeof value),
  )
  return joinParts(...values.map(([name, value]) => `${name}: ${String(value)}`))
}

/** Returns the task of an event; undefined for an event of the run. */
export function findEventTask(event: LoggedRunEvent): string | undefined {
  return 'taskName' in event ? event.taskName : undefined
}

const SUMMARIES: Summaries = {
  run_queued: ({ ensemble, workflow, totalTasks, actor }) =>
    joinParts(
      ensemble,
      workflow.toLowerCase(),
      formatPlural(totalTasks, 'task'),
      formatActor(actor),
    ),
  run_resumed: ({ epoch, completedTasks }) =>
    joinParts(`epoch ${epoch}`, `${formatPlural(completedTasks.length, 'task')} already completed`),
  run_forked: ({ parentRunId, at }) => joinParts(`from ${parentRunId}`, `after event ${at}`),
  run_cancelling: (event) =>
    joinParts(
      formatCancelOrigin(event),
      event.mode === 'abort' ? 'aborts work in flight' : 'lets running tasks finish',
    ),
  ensemble_started: ({ ensemble, tasks }) =>
    joinParts(ensemble, tasks.map(({ name }) => name).join(', ')),
  task_started: ({ agentRole, attempt, taskDescription }) =>
    joinParts(agentRole, formatAttempt(attempt), taskDescription),
  task_input: ({ toolNames, assembledContext }) =>
    joinParts(
      toolNames.length === 0 ? 'no tools' : `tools: ${toolNames.join(', ')}`,
      assembledContext === '' ? 'no context' : `${assembledContext.length} characters of context`,
    ),
  llm_iteration_started: ({ model, iterationIndex, totalMessageCount }) =>
    joinParts(model, formatCallNumber(iterationIndex), formatPlural(totalMessageCount, 'message')),
  reasoning: ({ text }) => JSON.stringify(text.slice(0, LENGTH)),
  token: ({ token }) => JSON.stringify(token.slice(0, LENGTH)),
  llm_iteration_completed: ({ model, iterationIndex, toolRequests = [], ...rest }) =>
    joinParts(
      model,
      formatCallNumber(iterationIndex),
      formatDuration(rest.latencyMs),
      formatTokens(rest.inputTokens, rest.outputTokens),
      formatMoney(rest.costUsd),
      describeEarlyEnd(rest.finishReason)?.toLowerCase(),
      rest.refusal,
      toolRequests.length === 0
        ? (rest.responseText ?? '')
        : `requests ${toolRequests.map(({ name }) => name).join(', ')}`,
    ),
  llm_iteration_failed: ({ model, code, reason, retryInMs, retryAfterMs, nextModel }) =>
    joinParts(
      model,
      code,
      reason,
      nextModel === undefined ? '' : `next model ${nextModel}`,
      retryInMs === undefined ? '' : `retry in ${formatDuration(retryInMs)}`,
      retryAfterMs === undefined ? '' : `provider asks to wait ${formatDuration(retryAfterMs)}`,
    ),
  tool_progress: ({ toolName, message, fraction }) =>
    joinParts(toolName, fraction === undefined ? '' : `${Math.round(fraction * 100)} %`, message),
  tool_called: ({ toolName, outcome, durationMs, toolResult, parentToolCallId }) =>
    joinParts(
      toolName,
      parentToolCallId === undefined ? '' : 'step',
      outcome === 'SUCCESS' ? 'succeeded' : 'failed',
      formatDuration(durationMs),
      cutText(toolResult),
    ),
  handler_step_ended: ({ step, isCompensation, tries, startedAt, endedAt, ...end }) =>
    joinParts(
      step,
      isCompensation === true ? 'compensation' : '',
      end.reason === undefined ? 'succeeded' : 'failed',
      formatDuration(Date.parse(endedAt) - Date.parse(startedAt)),
      tries > 1 ? `try ${tries}` : '',
      end.code,
      end.reason,
      end.willRetry === true ? 'will retry' : '',
    ),
  agent_tool_invoked: ({ toolName, agent_uri: address, mode, protocol, retry_index: retry }) =>
    joinParts(toolName, address, mode, protocol, formatAttempt(retry + 1)),
  agent_tool_progress: ({ toolName, chunk_index: chunk, chunk: content }) =>
    joinParts(toolName, `chunk ${chunk + 1}`, formatValue(content)),
  agent_tool_turn: ({ toolName, turn, direction, input, output }) =>
    joinParts(toolName, `turn ${turn + 1}`, direction, formatValue(input ?? output)),
  agent_tool_completed: ({ toolName, latency_ms: latency, total_cost: cost, output }) =>
    joinParts(toolName, formatDuration(latency), formatMoney(cost), formatValue(output)),
  agent_tool_terminated: ({ toolName, reason, error }) =>
    joinParts(toolName, reason.replaceAll('_', ' '), error),
  agent_tool_error: ({ toolName, failure_type: type, error }) =>
    joinParts(toolName, type.replaceAll('_', ' '), error),
  delegation_started: ({ workerRole, workerTask, taskDescription, handoff }) =>
    handoff === undefined
      ? joinParts(`to ${workerRole}`, workerTask, taskDescription)
      : joinParts(`handoff to ${workerRole}`, workerTask),
  delegation_completed: ({ workerRole, workerTask, durationMs }) =>
    joinParts(`by ${workerRole}`, workerTask, formatDuration(durationMs)),
  delegation_failed: ({ workerRole, reason }) => joinParts(`to ${workerRole}`, reason),
  task_completed: ({ durationMs, tokenCount, toolCallCount, costUsd, output }) =>
    joinParts(
      formatDuration(durationMs),
      `${formatCount(tokenCount)} tokens`,
      formatPlural(toolCallCount, 'tool call'),
      formatMoney(costUsd),
      cutText(output),
    ),
  task_attempt_failed: ({ code, reason }) => joinParts(code, reason, 'will retry'),
  task_failed: ({ code, reason, willRetry }) =>
    joinParts(code, reason, willRetry ? 'will retry' : ''),
  task_skipped: ({ reason }) => reason,
  metrics_snapshot: ({ inputTokens, outputTokens, iterationCount, costEstimate }) =>
    joinParts(
      formatTokens(inputTokens, outputTokens),
      formatPlural(iterationCount, 'model call'),
      costEstimate === undefined ? '' : formatMoney(Number(costEstimate)),
    ),
  review_requested: ({ kind, toolName, prompt }) =>
    kind === 'EVENT'
      ? (prompt ?? '')
      : joinParts(kind.toLowerCase().replaceAll('_', ' '), toolName, prompt),
  review_timed_out: ({ action }) => action.toLowerCase().replaceAll('_', ' '),
  review_decided: ({ decision, decidedBy, feedback }) =>
    joinParts(DECISION[decision], formatActor(decidedBy), feedback),
  review_withdrawn: ({ reason }) => reason,
  directive_active: ({ content, action, value, to, from, actor }) =>
    joinParts(
      content ?? joinParts(action, value),
      to === undefined ? '' : `to ${to}`,
      formatActor(from ?? actor),
    ),
  directive_delivered: ({ agentRole, iterationIndex }) =>
    joinParts(agentRole, formatCallNumber(iterationIndex)),
  file_changed: ({ filePath, changeType, linesAdded, linesRemoved }) =>
    joinParts(filePath, changeType.toLowerCase(), `+${linesAdded} −${linesRemoved}`),
  model_switched: ({ model, previousModel, actor }) =>
    joinParts(
      previousModel === undefined ? model : `${previousModel} → ${model}`,
      formatActor(actor),
    ),
  ensemble_completed: ({ exitReason, durationMs, totalTokens, totalToolCalls }) =>
    joinParts(
      exitReason.toLowerCase().replaceAll('_', ' '),
      formatDuration(durationMs),
      `${formatCount(totalTokens)} tokens`,
      formatPlural(totalToolCalls, 'tool call'),
    ),
  event_unreadable: ({ eventType, reason }) => joinParts(eventType, reason),
  run_result: ({ status, durationMs, code, error }) =>
    joinParts(RUN_STATUS[status].word, formatDuration(durationMs), code, error),
}

function joinParts(...parts: readonly (string | null | undefined)[]): string {
  return parts
    .filter((part) => part !== undefined && part !== null && part !== '' && part !== '—')
    .join(' · ')
}

function formatActor(actor: string | undefined): string {
  return actor === undefined ? '' : `by ${actor}`
}

function formatAttempt(attempt: number): string {
  return attempt > 1 ? `attempt ${attempt}` : ''
}

/** Formats the number of a model call, counted from 1. */
function formatCallNumber(iterationIndex: number): string {
  return `call ${iterationIndex + 1}`
}

function formatTokens(read: number, written: number): string {
  return `${formatCount(read)} in ${formatCount(written)} out`
}

/** Cuts a text to the length of a line before processing it: it may be megabytes long. */
function cutText(text: string | null): string {
  return (text ?? '').slice(0, LENGTH)
}

function formatValue(value: unknown): string {
  if (value === undefined || value === null) return ''
  return cutText(typeof value === 'string' ? value : JSON.stringify(value))
}

function joinLines(text: string): string {
  return text
    .slice(0, 2 * LENGTH)
    .replaceAll(/\s+/g, ' ')
    .trim()
    .slice(0, LENGTH)
}
