/** Spans of task attempts and of delegations. */
import { SpanKind, type Attributes } from '@opentelemetry/api'

import { GEN_AI, OPERATION, TUTTI } from './attributes.ts'
import { textMessage } from './content.ts'
import { toFailedEnd } from './span-end.ts'
import { delegationKey, taskKey } from './span-keys.ts'

import type { OpenSpan, SpanEnd } from './open-span.ts'
import type { SpanTable, OpenAttempt, TracedEvent } from './span-table.ts'
import type { RunEventOf } from '@tutti/protocol'

/** Takes an event of a task or a delegation; returns whether it is one. */
export function takeTaskEvent(table: SpanTable, event: TracedEvent): boolean {
  const { nowMs, redact } = table
  switch (event.type) {
    case 'task_started':
      beginTask(table, event)
      return true
    case 'task_completed':
      endTask(table, event, { endMs: nowMs })
      return true
    case 'task_attempt_failed':
    case 'task_failed':
      endTask(table, event, toFailedEnd(nowMs, event, redact))
      return true
    case 'task_skipped':
      table.root?.addEvent('tutti.task.skipped', nowMs, { [TUTTI.taskName]: event.taskName })
      return true
    case 'delegation_started':
      beginDelegation(table, event)
      return true
    case 'delegation_completed':
      endDelegation(table, event, { endMs: nowMs })
      return true
    case 'delegation_failed':
      endDelegation(table, event, toFailedEnd(nowMs, { code: 'TASK_FAILED', ...event }, redact))
      return true
    default:
      return false
  }
}

/** Returns the attributes of every span of a task. */
export function toTaskAttributes(event: {
  readonly taskName: string
  readonly taskIndex: number
  readonly attempt: number
  readonly agentRole: string
}): Attributes {
  return {
    [GEN_AI.agentName]: event.agentRole,
    [TUTTI.taskName]: event.taskName,
    [TUTTI.taskIndex]: event.taskIndex,
    [TUTTI.attempt]: event.attempt,
  }
}

/** Returns the attempt of an event; undefined when it is not in progress. */
export function findAttempt(
  table: SpanTable,
  position: { readonly taskIndex: number; readonly attempt: number },
): OpenAttempt | undefined {
  return table.tasks.get(taskKey(table.runId, position))
}

/** Returns the attempt in progress of the task with a name. */
export function findAttemptByName(
  table: SpanTable,
  { taskName, attempt }: { readonly taskName: string; readonly attempt: number },
): OpenAttempt | undefined {
  const known = table.attempts.get(taskName)
  return known?.span.attributes[TUTTI.attempt] === attempt ? known : undefined
}

function beginTask(table: SpanTable, event: RunEventOf<'task_started'>): void {
  const { taskName, taskDescription, agentRole } = event
  const key = taskKey(table.runId, event)
  if (table.tasks.has(key)) return
  if (table.added.findHost(taskName) !== undefined) {
    table.added.beginAttempt(key, table.nowMs)
    return
  }
  const span = table.open({
    key,
    name: `${OPERATION.invokeAgent} ${agentRole}`,
    kind: SpanKind.INTERNAL,
    startMs: table.nowMs,
    parent: table.delegations.get(taskName) ?? table.root,
    attributes: { ...toTaskAttributes(event), [GEN_AI.operationName]: OPERATION.invokeAgent },
  })
  if (table.captureContent) {
    const text = table.redact(taskDescription)
    span.set({ [GEN_AI.inputMessages]: textMessage('user', text) })
  }
  const attempt: OpenAttempt = {
    key,
    span,
    chats: new Map(),
    toolNames: new Map(),
    agentTries: new Map(),
    endedCalls: new Map(),
    chat: undefined,
    iterationIndex: 0,
  }
  table.tasks.set(key, attempt)
  table.attempts.set(taskName, attempt)
}

type TaskEnd = RunEventOf<'task_completed' | 'task_attempt_failed' | 'task_failed'>

function endTask(table: SpanTable, event: TaskEnd, end: SpanEnd): void {
  const attempt = findAttempt(table, event)
  if (attempt === undefined) {
    endUntraced(table, event, end)
    return
  }
  const { key, span } = attempt
  table.endAll(event.type === 'task_completed' ? { endMs: end.endMs } : end, key)
  setUsage(span, event)
  if (event.type !== 'task_completed') span.set({ [TUTTI.willRetry]: event.willRetry })
  else {
    span.set({ [TUTTI.iterationLimitReached]: event.iterationLimitReached })
    if (table.captureContent) {
      span.set({ [GEN_AI.outputMessages]: textMessage('assistant', table.redact(event.output)) })
    }
  }
  table.end(span, end)
  table.tasks.delete(key)
  if (table.attempts.get(event.taskName) === attempt) table.attempts.delete(event.taskName)
}

/** Ends an attempt of a task without spans: with a span if it failed, else with a count of its usage. */
function endUntraced(table: SpanTable, event: TaskEnd, end: SpanEnd): void {
  const { taskName, agentRole } = event
  const host = table.added.findHost(taskName)
  const key = taskKey(table.runId, event)
  const startMs = table.added.takeStart(key)
  if (host === undefined || !table.isOpen(host)) return
  if (
    event.type === 'task_completed' ||
    end.error === undefined ||
    !table.added.takeFailure(host)
  ) {
    table.added.addUsage(host, event)
    return
  }
  const span = table.open({
    key,
    name: `${OPERATION.invokeAgent} ${agentRole}`,
    kind: SpanKind.INTERNAL,
    startMs: startMs ?? table.nowMs,
    parent: host,
    attributes: {
      ...toTaskAttributes(event),
      [GEN_AI.operationName]: OPERATION.invokeAgent,
      [TUTTI.willRetry]: event.willRetry,
    },
  })
  setUsage(span, event)
  table.end(span, end)
}

function setUsage(span: OpenSpan, event: TaskEnd): void {
  const { inputTokens, outputTokens, toolCallCount, costUsd } = event
  span.set({
    ...toUsageAttributes(inputTokens, outputTokens),
    [TUTTI.toolCalls]: toolCallCount,
    [TUTTI.costUsd]: costUsd,
  })
}

/** Returns the token attributes; 0 and less mean that the provider does not report them. */
export function toUsageAttributes(inputTokens = 0, outputTokens = 0): Attributes {
  return {
    ...(inputTokens > 0 ? { [GEN_AI.inputTokens]: inputTokens } : {}),
    ...(outputTokens > 0 ? { [GEN_AI.outputTokens]: outputTokens } : {}),
  }
}

/** Opens the span of a delegation; the attempts of its task are its children. */
function beginDelegation(table: SpanTable, event: RunEventOf<'delegation_started'>): void {
  const { delegationId, workerRole, workerTask, depth, taskName, handoff } = event
  const by = findAttemptByName(table, event)
  if (!table.added.add(workerTask, taskName, by?.span ?? table.root)) return
  const span = table.open({
    key: delegationKey(table.runId, delegationId),
    name: `${handoff === undefined ? 'delegate' : 'hand off to'} ${workerRole}`,
    kind: SpanKind.INTERNAL,
    startMs: table.nowMs,
    parent: by?.span ?? table.root,
    owner: by?.key,
    attributes: {
      [GEN_AI.agentName]: workerRole,
      [TUTTI.delegationId]: delegationId,
      [TUTTI.delegationDepth]: depth,
      ...(handoff === undefined ? {} : { [TUTTI.handoff]: true }),
      [TUTTI.taskName]: workerTask,
    },
  })
  table.delegations.set(workerTask, span)
}

function endDelegation(
  table: SpanTable,
  event: RunEventOf<'delegation_completed' | 'delegation_failed'>,
  end: SpanEnd,
): void {
  const { delegationId, workerRole, workerTask, taskName } = event
  const { added } = table
  const isUntraced = added.findHost(workerTask ?? taskName) !== undefined
  const by = findAttemptByName(table, event)?.span ?? table.root
  if (workerTask !== undefined) {
    const outcome = event.type === 'delegation_completed' ? 'completed' : 'failed'
    if (added.findHost(taskName) === undefined) added.end(by, outcome)
    added.forget(workerTask)
  }
  if (isUntraced) return
  const span = table.find(delegationKey(table.runId, delegationId))
  if (span !== undefined) {
    table.end(span, end)
    if (workerTask !== undefined) table.delegations.delete(workerTask)
    return
  }
  // A limit or a policy rejected the delegation before it began.
  by?.addEvent('tutti.delegation.refused', table.nowMs, { [GEN_AI.agentName]: workerRole })
}
