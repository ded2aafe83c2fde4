/**
 * Pure: maps the events of a run, in order from the first, to the lines and the answer of its task.
 *
 * JAM-A1 `cost_usd` is the cost of one model call or agent call, so that the lines of a stream add up to the cost of the
 *    task; `total_cost_usd` is the sum so far. The last line has only the sum.
 * JAM-A2 There is one answer: when the run has ended, or when a review is open at or after `stopFrom`. Reviews that were
 *    decided before do not count.
 * JAM-A3 `model_failed` and `task_failed` invalidate the text of their turn or attempt, `resumed` the text of every
 * unfinished turn.
 */
import { FAILURE_CODES, RunProjection } from '@tutti/protocol'
import { isFailureCode, readEventUsage, type RunUsage } from '@tutti/protocol/internal'

import { describeCancel } from '@tutti/gateway/internal'

import type { LoggedRunEvent, RunEventOf, RunOperation, RunStatus } from '@tutti/protocol'
import type { RunEnded, TaskOperation } from '@tutti/protocol/internal'

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
  /** Outputs of the run's tasks. */
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
  const run = new RunProjection()
  const structured = new Map<string, unknown>()
  return (event) => {
    const operations = run.take(event)
    const { usage } = run
    for (const operation of operations) {
      if (operation.type === 'task' && operation.result !== undefined) {
        structured.set(operation.name, operation.result.structuredOutput)
      }
      if (operation.type === 'ended') return { end: toReply(operation, { options, structured }) }
    }
    const update = toUpdate(event, { operations, usage })
    const [review] = run.reviews
    if (review === undefined || event.seq < options.stopFrom) return update
    return { ...update, end: toQuestionReply(review, options, usage) }
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

function toUpdate(
  event: LoggedRunEvent,
  {
    operations,
    usage,
  }: Pick<RunProjection, 'usage'> & { readonly operations: readonly RunOperation[] },
): TaskUpdate {
  const used = readEventUsage(event)
  if (used !== undefined) {
    const { costUsd, tokens } = used
    const cost = costUsd === undefined ? {} : { cost_usd: costUsd }
    const task = 'taskName' in event ? { task: event.taskName } : {}
    return toLine('usage', { ...task, ...cost, tokens, ...totals(usage) })
  }
  const task = operations.find((operation) => operation.type === 'task')
  if (task !== undefined) return toTaskLine(task)
  switch (event.type) {
    case 'run_resumed':
    case 'run_forked':
      return toLine('resumed', {})
    case 'run_cancelling':
      return toLine('cancelling', {})
    case 'token': {
      const { taskName: name, attempt, iterationIndex: turn, token: text } = event
      return toLine('token', { task: name, attempt, turn, text })
    }
    case 'llm_iteration_failed': {
      const { taskName: name, attempt, iterationIndex: turn, code: error, reason } = event
      return toLine('model_failed', { task: name, attempt, turn, error, message: reason })
    }
    case 'tool_called': {
      const { taskName: name, toolName: tool, outcome, durationMs } = event
      return toLine('tool_called', { task: name, tool, outcome, duration_ms: durationMs })
    }
    default:
      return {}
  }
}

function toTaskLine({
  name: task,
  status,
  attempt,
  code,
  reason,
  result,
}: TaskOperation): TaskUpdate {
  switch (status) {
    case 'PENDING':
      return {}
    case 'RUNNING':
      return toLine('task_started', { task, attempt })
    case 'COMPLETED':
      return toLine('task_completed', { task, output: result?.output })
    case 'SKIPPED':
      return toLine('task_skipped', { task, message: reason })
    case 'RETRYING':
    case 'FAILED': {
      const fields = { task, attempt, error: code, message: reason }
      return toLine('task_failed', { ...fields, will_retry: status === 'RETRYING' })
    }
  }
}

interface EndParts {
  readonly options: TaskLinesOptions
  readonly structured: ReadonlyMap<string, unknown>
}

function toReply(
  { status, output = '', error: message, code, usage, event }: RunEnded,
  { options, structured }: EndParts,
): TaskReply {
  const artifacts = event.outputs.map(({ taskName: name, output: text }, index) => {
    const data = structured.get(name)
    const parts = [{ type: 'text', text }, ...(data === undefined ? [] : [{ type: 'data', data }])]
    return { name, index, parts }
  })
  const rest = { ...totals(usage), duration_ms: event.durationMs, artifacts }
  if (status === 'COMPLETED') return { ...named(options), status: 'completed', output, ...rest }
  if (status === 'FAILED') {
    const retryable = isFailureCode(code) && FAILURE_CODES[code].retryable
    const why = { error: code, message, retryable }
    return { ...named(options), status: 'failed', output: null, ...why, ...rest }
  }
  const reason = options.whyCancelled?.(usage) ?? describeCancel(event.cancel)
  const why = { error: 'CANCELLED', message: reason, retryable: false }
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
  WAITING: 'working',
  WAITING_FOR_BUILD: 'working',
  CANCELLING: 'working',
  COMPLETED: 'completed',
  FAILED: 'failed',
  CANCELLED: 'canceled',
  REJECTED: 'failed',
} as const satisfies Readonly<Record<RunStatus, TaskReply['status'] | 'working'>>
