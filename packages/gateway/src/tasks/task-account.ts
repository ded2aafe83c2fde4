/**
 * Pure: from the events of a run, in order from the first, to what the caller of its task is told.
 *
 * A1 `cost_usd` is what one model call, or another agent, has cost, so the sum over the lines of a stream is
 *    the cost of the task; `total_cost_usd` is the sum so far. The last line has only the sum.
 * A2 The end is told once: when the run has ended, or when a review is open at the place from which that
 *    counts. Reviews that were decided before it do not count.
 * A3 Text that came to nothing is told of: `model_failed` and `task_failed` void the text of their turn or
 *    attempt, `resumed` that of every turn that had not ended.
 */
import { FAILURE_CODES, isFailureCode } from '@tutti/protocol'

import { eventUsage } from '../peer/event-usage.ts'
import { questionOf } from './question.ts'

import type { LoggedRunEvent, RunEventOf } from '@tutti/protocol'

/** One line of a stream before the last. */
export type TaskLine = { readonly status: 'working' } & Readonly<Record<string, unknown>>

/** The task as the caller is given it at the end. */
export interface TaskEnd {
  readonly id: string
  readonly sessionId?: string
  readonly status: 'completed' | 'failed' | 'canceled' | 'input-required'
  /** The result, or the question; null when there is neither. */
  readonly output: string | null
  /** Why there is no result: one of the failure codes. */
  readonly error?: string
  /** The same in words. */
  readonly message?: string
  /** Whether the same task may succeed when it is asked for again. */
  readonly retryable?: boolean
  readonly total_cost_usd?: number
  readonly total_tokens: number
  readonly duration_ms?: number
  /** What every task of the run gave. */
  readonly artifacts?: readonly Artifact[]
  /** The review that waits for a decision. */
  readonly reviewId?: string
  readonly review?: Readonly<Record<string, unknown>>
}

/** What one task of the run gave. */
export interface Artifact {
  readonly name: string
  readonly index: number
  readonly parts: readonly Readonly<Record<string, unknown>>[]
}

/** Whose account it is. */
export interface TaskAccountOptions {
  readonly id: string
  readonly sessionId?: string | undefined
  /** From which event on an open review ends the account. */
  readonly stopFrom: number
  /** Why a run may have been cancelled that has used so much; undefined for no reason of ours. */
  readonly whyCancelled?: (used: Used) => string | undefined
}

/** What a run has used so far. */
export interface Used {
  /** In US dollars, as far as it is known; absent when nothing is. */
  readonly costUsd?: number
  readonly tokens: number
}

/** What is told of one event. */
export interface Told {
  readonly line?: TaskLine
  readonly end?: TaskEnd
}

/** Makes what is told of each event of a run. */
export function taskAccount(options: TaskAccountOptions): (event: LoggedRunEvent) => Told {
  const structured = new Map<string, unknown>()
  const open = new Map<string, RunEventOf<'review_requested'>>()
  let used: Used = { tokens: 0 }
  return (event) => {
    const usage = eventUsage(event)
    if (usage !== undefined) used = addUsage(used, usage)
    if (event.type === 'task_completed') structured.set(event.taskName, event.structuredOutput)
    if (event.type === 'review_requested') open.set(event.reviewId, event)
    if ('reviewId' in event && event.type !== 'review_requested') open.delete(event.reviewId)
    if (event.type === 'run_result') return { end: endOf(event, { options, used, structured }) }
    const [asked] = open.values()
    if (asked !== undefined && event.seq >= options.stopFrom) {
      return { ...lineOf(event, used), end: asking(asked, options, used) }
    }
    return lineOf(event, used)
  }
}

function addUsage({ costUsd, tokens }: Used, usage: Used): Used {
  const isKnown = costUsd !== undefined || usage.costUsd !== undefined
  return {
    tokens: tokens + usage.tokens,
    ...(isKnown ? { costUsd: (costUsd ?? 0) + (usage.costUsd ?? 0) } : {}),
  }
}

function totals({ costUsd, tokens }: Used) {
  return {
    ...(costUsd === undefined ? {} : { total_cost_usd: costUsd }),
    total_tokens: tokens,
  }
}

function working(type: string, fields: Readonly<Record<string, unknown>>): Told {
  return { line: { status: 'working', type, ...fields } }
}

function lineOf(event: LoggedRunEvent, used: Used): Told {
  const usage = eventUsage(event)
  if (usage !== undefined) {
    const { costUsd, tokens } = usage
    const cost = costUsd === undefined ? {} : { cost_usd: costUsd }
    const task = 'taskName' in event ? { task: event.taskName } : {}
    return working('usage', { ...task, ...cost, tokens, ...totals(used) })
  }
  switch (event.type) {
    case 'run_resumed':
      return working('resumed', {})
    case 'run_cancelling':
      return working('cancelling', {})
    case 'task_started':
      return working('task_started', { task: event.taskName, attempt: event.attempt })
    case 'token': {
      const { taskName: task, attempt, iterationIndex: turn, token: text } = event
      return working('token', { task, attempt, turn, text })
    }
    case 'llm_iteration_failed': {
      const { taskName: task, attempt, iterationIndex: turn, code: error, reason } = event
      return working('model_failed', { task, attempt, turn, error, message: reason })
    }
    case 'tool_called': {
      const { taskName: task, toolName: tool, outcome, durationMs } = event
      return working('tool_called', { task, tool, outcome, duration_ms: durationMs })
    }
    case 'task_completed':
      return working('task_completed', { task: event.taskName, output: event.output })
    case 'task_attempt_failed':
    case 'task_failed': {
      const { taskName: task, attempt, code: error, reason, willRetry } = event
      const fields = { task, attempt, error, message: reason, will_retry: willRetry }
      return working('task_failed', fields)
    }
    case 'task_skipped':
      return working('task_skipped', { task: event.taskName, message: event.reason })
    default:
      return {}
  }
}

interface EndParts {
  readonly options: TaskAccountOptions
  readonly used: Used
  readonly structured: ReadonlyMap<string, unknown>
}

function endOf(
  { status, outputs, durationMs, error, code = 'TASK_FAILED' }: RunEventOf<'run_result'>,
  { options, used, structured }: EndParts,
): TaskEnd {
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
    return { ...named(options), status: 'completed', output: outputs.at(-1)?.output ?? '', ...rest }
  }
  if (status === 'FAILED') {
    const retryable = isFailureCode(code) && FAILURE_CODES[code].retryable
    const why = { error: code, message: error ?? 'The run failed', retryable }
    return { ...named(options), status: 'failed', output: null, ...why, ...rest }
  }
  const message = options.whyCancelled?.(used) ?? 'The run of the task was cancelled'
  const why = { error: 'CANCELLED', message, retryable: false }
  return { ...named(options), status: 'canceled', output: null, ...why, ...rest }
}

function asking(
  asked: RunEventOf<'review_requested'>,
  options: TaskAccountOptions,
  used: Used,
): TaskEnd {
  const { reviewId, taskName: task, timing, timeoutMs, onTimeout, toolName, toolInput } = asked
  const tool = toolName === undefined ? {} : { tool: toolName, tool_input: toolInput }
  return {
    ...named(options),
    status: 'input-required',
    output: questionOf(asked),
    reviewId,
    review: {
      task,
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

function named({ id, sessionId }: TaskAccountOptions): Pick<TaskEnd, 'id' | 'sessionId'> {
  return { id, ...(sessionId === undefined ? {} : { sessionId }) }
}
