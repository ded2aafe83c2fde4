/**
 * Pure: maps the events of a run, in order from the first, to the lines and the answer of its task.
 *
 * GW-A1 `cost_usd` is the cost of one model call or agent call, so that the lines of a stream add up to the cost of the
 *    task; `total_cost_usd` is the sum so far. The last line has only the sum.
 * GW-A2 There is one answer: when the run has ended, or when a review is open at or after `stopFrom`. Reviews that were
 *    decided before do not count.
 * GW-A3 `model_failed` and `task_failed` invalidate the text of their turn or attempt, `resumed` that of every turn
 *    that had not ended.
 */
import {
  FAILURE_CODES,
  isFailureCode,
  readRunOutput,
  addEventUsage,
  NO_RUN_USAGE,
  readEventUsage,
  type RunUsage,
} from '@tutti/protocol'

import { describeCancel } from '../service/describe-cancel.ts'

import type { LoggedRunEvent, RunEventOf, RunStatus } from '@tutti/protocol'

/** One line of a stream before the last. */
export type TaskLine = { readonly status: 'working' } & Readonly<Record<string, unknown>>

/** The task as the answer shows it. */
export interface TaskReply {
  readonly id: string
  readonly sessionId?: string
  readonly status: 'completed' | 'failed' | 'canceled' | 'input-required'
  /** Result or question; null when there is neither. */
  readonly output: string | null
  /** Failure code; absent when there is a result. */
  readonly error?: string
  /** Description of the error. */
  readonly message?: string
  /** Whether a retry may succeed. */
  readonly retryable?: boolean
  readonly total_cost_usd?: number
  readonly total_tokens: number
  readonly duration_ms?: number
  /** Outputs of the tasks of the run. */
  readonly artifacts?: readonly TaskArtifact[]
  /** Id of the review that waits for a decision. */
  readonly reviewId?: string
  readonly review?: Readonly<Record<string, unknown>>
}

/** Output of one task of the run. */
export interface TaskArtifact {
  readonly name: string
  readonly index: number
  readonly parts: readonly Readonly<Record<string, unknown>>[]
}

/** Options of the mapping of one run. */
export interface TaskLinesOptions {
  readonly id: string
  readonly sessionId?: string | undefined
  /** First `seq` at which an open review is the answer. */
  readonly stopFrom: number
  /** Describes the limit that cancelled a run with this usage; undefined when no limit did. */
  readonly whyCancelled?: (usage: RunUsage) => string | undefined
}

/** Update of one event. */
export interface TaskUpdate {
  readonly line?: TaskLine
  /** Answer, which ends the stream. */
  readonly end?: TaskReply
}

/** Returns a function that maps the events of one run, in order. */
export function taskLines(options: TaskLinesOptions): (event: LoggedRunEvent) => TaskUpdate {
  const structured = new Map<string, unknown>()
  const open = new Map<string, RunEventOf<'review_requested'>>()
  let used = NO_RUN_USAGE
  return (event) => {
    used = addEventUsage(used, event)
    if (event.type === 'task_completed') structured.set(event.taskName, event.structuredOutput)
    if (event.type === 'review_requested') open.set(event.reviewId, event)
    if ('reviewId' in event && event.type !== 'review_requested') open.delete(event.reviewId)
    if (event.type === 'run_result') return { end: toReply(event, { options, used, structured }) }
    const [asked] = open.values()
    if (asked !== undefined && event.seq >= options.stopFrom) {
      return { ...toUpdate(event, used), end: toQuestionReply(asked, options, used) }
    }
    return toUpdate(event, used)
  }
}

function totals({ knownCostUsd, tokens }: RunUsage) {
  return {
    ...(knownCostUsd === undefined ? {} : { total_cost_usd: knownCostUsd }),
    total_tokens: tokens,
  }
}

function toLine(type: string, fields: Readonly<Record<string, unknown>>): TaskUpdate {
  return { line: { status: 'working', type, ...fields } }
}

function toUpdate(event: LoggedRunEvent, used: RunUsage): TaskUpdate {
  const usage = readEventUsage(event)
  if (usage !== undefined) {
    const { costUsd, tokens } = usage
    const cost = costUsd === undefined ? {} : { cost_usd: costUsd }
    const task = 'taskName' in event ? { task: event.taskName } : {}
    return toLine('usage', { ...task, ...cost, tokens, ...totals(used) })
  }
  switch (event.type) {
    case 'run_resumed':
    case 'run_forked':
      return toLine('resumed', {})
    case 'run_cancelling':
      return toLine('cancelling', {})
    case 'task_started':
      return toLine('task_started', { task: event.taskName, attempt: event.attempt })
    case 'token': {
      const { taskName: task, attempt, iterationIndex: turn, token: text } = event
      return toLine('token', { task, attempt, turn, text })
    }
    case 'llm_iteration_failed': {
      const { taskName: task, attempt, iterationIndex: turn, code: error, reason } = event
      return toLine('model_failed', { task, attempt, turn, error, message: reason })
    }
    case 'tool_called': {
      const { taskName: task, toolName: tool, outcome, durationMs } = event
      return toLine('tool_called', { task, tool, outcome, duration_ms: durationMs })
    }
    case 'task_completed':
      return toLine('task_completed', { task: event.taskName, output: event.output })
    case 'task_attempt_failed':
    case 'task_failed': {
      const { taskName: task, attempt, code: error, reason, willRetry } = event
      const fields = { task, attempt, error, message: reason, will_retry: willRetry }
      return toLine('task_failed', fields)
    }
    case 'task_skipped':
      return toLine('task_skipped', { task: event.taskName, message: event.reason })
    default:
      return {}
  }
}

interface EndParts {
  readonly options: TaskLinesOptions
  readonly used: RunUsage
  readonly structured: ReadonlyMap<string, unknown>
}

function toReply(
  event: RunEventOf<'run_result'>,
  { options, used, structured }: EndParts,
): TaskReply {
  const { status, outputs, durationMs, error, code = 'TASK_FAILED', cancel } = event
  const artifacts = outputs.map(({ taskName, output }, index) => {
    const data = structured.get(taskName)
    const parts = [
      { type: 'text', text: output },
      ...(data === undefined ? [] : [{ type: 'data', data }]),
    ]
    return { name: taskName, index, parts }
  })
  const rest = { ...totals(used), duration_ms: durationMs, artifacts }
  if (status === 'COMPLETED') {
    return { ...named(options), status: 'completed', output: readRunOutput(event) ?? '', ...rest }
  }
  if (status === 'FAILED') {
    const retryable = isFailureCode(code) && FAILURE_CODES[code].retryable
    const why = { error: code, message: error ?? 'The run failed', retryable }
    return { ...named(options), status: 'failed', output: null, ...why, ...rest }
  }
  const message = options.whyCancelled?.(used) ?? describeCancel(cancel)
  const why = { error: 'CANCELLED', message, retryable: false }
  return { ...named(options), status: 'canceled', output: null, ...why, ...rest }
}

function toQuestionReply(
  asked: RunEventOf<'review_requested'>,
  options: TaskLinesOptions,
  used: RunUsage,
): TaskReply {
  const { reviewId, taskName: task, kind, timing, timeoutMs, onTimeout } = asked
  const { toolName, toolInput, answerSchema } = asked
  const tool = {
    ...(toolName === undefined ? {} : { tool: toolName }),
    ...(toolInput === undefined ? {} : { tool_input: toolInput }),
    ...(answerSchema === undefined ? {} : { answer_schema: answerSchema }),
  }
  return {
    ...named(options),
    status: 'input-required',
    output: formatQuestion(asked),
    reviewId,
    review: {
      task,
      kind,
      timing,
      prompt: asked.prompt ?? null,
      task_output: asked.taskOutput,
      timeout_ms: timeoutMs,
      on_timeout: onTimeout,
      ...tool,
    },
    ...totals(used),
  }
}

function named({ id, sessionId }: TaskLinesOptions): Pick<TaskReply, 'id' | 'sessionId'> {
  return { id, ...(sessionId === undefined ? {} : { sessionId }) }
}

/** Formats the question of a review. */
function formatQuestion({
  timing,
  prompt,
  taskName,
  taskOutput,
  taskDescription,
}: RunEventOf<'review_requested'>): string {
  const asked = prompt ?? undefined
  switch (timing) {
    case 'BEFORE_EXECUTION':
      return asked ?? `Start "${taskName}"?`
    case 'DURING_EXECUTION':
      // The description of a tool call under review is the question of the tool.
      return asked ?? taskDescription
    case 'AFTER_EXECUTION':
      return `${asked ?? `Accept this output of "${taskName}"?`}\n\n${taskOutput}`
  }
}

/** Run status → task status of this wire. */
export const TASK_STATUSES = {
  ACCEPTED: 'working',
  RUNNING: 'working',
  WAITING_REVIEW: 'input-required',
  WAITING_FOR_BUILD: 'working',
  CANCELLING: 'working',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'canceled',
  REJECTED: 'failed',
} as const satisfies Readonly<Record<RunStatus, TaskReply['status'] | 'working'>>
