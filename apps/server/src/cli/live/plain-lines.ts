/** Pure: formats events as lines of plain text. */
import type { LoggedRunEvent, RunEventOf, RunStateFold } from '@tutti/protocol'
import { eventTime, type ReviewState } from '@tutti/protocol/internal'

import { formatTerminalCount, formatTerminalDuration, formatStopwatch } from './format-values.ts'
import { earlyEndText } from './task-line.ts'
import { lineText } from '../../terminal/line.ts'
import { endLine } from './summary-lines.ts'
import { toSingleLine } from '../../terminal/text-width.ts'
import { describeWait, formatDecideHint } from './wait-text.ts'

/** Maximum length of quoted text, in characters. */
const MAX_QUOTE = 200

/** Formats an event; `run` is the run after it. Returns no lines for minor events. */
export function plainLines(event: LoggedRunEvent, run: RunStateFold): readonly string[] {
  return formatEvent(event, run).map((text) => formatAtEvent(text, event, run))
}

/** Returns a line with the age of the run at an event. */
export function formatAtEvent(text: string, event: LoggedRunEvent, run: RunStateFold): string {
  return `[${formatEventTime(event, run)}] ${text}`
}

/** Returns the question of a review: its prompt, or a default for its kind. */
export function formatReviewQuestionText(
  review: Pick<ReviewState, 'taskName' | 'prompt' | 'kind' | 'toolName'>,
): string {
  const { taskName, prompt, kind, toolName = 'a tool' } = review
  if (prompt !== undefined && prompt !== null && prompt !== '') return toSingleLine(prompt)
  if (kind === 'TASK_INPUT') return `Start "${toSingleLine(taskName)}"?`
  if (kind === 'TASK_OUTPUT') return `Accept the output of "${toSingleLine(taskName)}"?`
  return `Call "${toSingleLine(toolName)}"?`
}

function formatEvent(event: LoggedRunEvent, run: RunStateFold): readonly string[] {
  switch (event.type) {
    case 'run_queued':
      return [
        `run ${event.runId} of "${toSingleLine(event.ensemble)}" accepted, ${formatTerminalCount(event.totalTasks, 'task')}`,
      ]
    case 'run_resumed':
      return ['run resumed']
    case 'run_forked':
      if (event.replay !== undefined) {
        return [`replay of run ${event.parentRunId} (${event.replay})`]
      }
      return [`run forked from ${event.parentRunId} after event ${event.at}`]
    case 'run_cancelling':
      return [formatCancel(event)]
    case 'model_switched':
      return [
        `model switched to ${toSingleLine(event.model)}${event.taskName === undefined ? '' : ` for ${toSingleLine(event.taskName)}`}`,
      ]
    case 'directive_active':
      return event.content === undefined ? [] : [`guidance injected: ${shorten(event.content)}`]
    case 'run_result':
      return [
        lineText(endLine(run.state, event.runId)),
        ...(event.error === undefined
          ? []
          : [`${toSingleLine(event.error)}${event.code === undefined ? '' : ` (${event.code})`}`]),
      ]
    case 'review_requested':
    case 'review_decided':
    case 'review_timed_out':
    case 'review_withdrawn':
      return reviewLines(event, run)
    default:
      return formatTaskEvent(event)
  }
}

function formatTaskEvent(event: LoggedRunEvent): readonly string[] {
  switch (event.type) {
    case 'task_started':
      return [
        `${toSingleLine(event.taskName)}: started${event.attempt > 1 ? `, attempt ${event.attempt}` : ''}`,
      ]
    case 'task_completed': {
      if (event.outputGiven === true) return [`${toSingleLine(event.taskName)}: output given`]
      const used =
        event.toolCallCount === 0
          ? ''
          : `, ${formatTerminalCount(event.toolCallCount, 'tool call')}`
      return [
        `${toSingleLine(event.taskName)}: completed in ${formatTerminalDuration(event.durationMs)}${used}`,
      ]
    }
    case 'task_attempt_failed':
    case 'task_failed': {
      if (event.code === 'REVIEW_REJECTED') {
        const next = event.willRetry ? '; repeating it with the feedback' : ''
        return [`${toSingleLine(event.taskName)}: rejected by the reviewer${next}`]
      }
      const next = event.willRetry ? '; retrying' : ''
      return [
        `${toSingleLine(event.taskName)}: failed after ${formatTerminalDuration(event.durationMs)}: ${toSingleLine(event.reason)}${next}`,
      ]
    }
    case 'task_skipped':
      return [`${toSingleLine(event.taskName)}: skipped: ${toSingleLine(event.reason)}`]
    case 'tool_called': {
      const [verb, text] =
        event.outcome === 'SUCCESS' ? ['called', event.toolArguments] : ['failed', event.toolResult]
      return [
        `${toSingleLine(event.taskName)}: ${toSingleLine(event.toolName)} ${verb} in ${formatTerminalDuration(event.durationMs)}  ${shorten(text ?? '')}`.trimEnd(),
      ]
    }
    case 'handler_step_ended':
      return stepLines(event)
    case 'llm_iteration_completed': {
      const ended = earlyEndText(event.finishReason)
      if (ended === undefined) return []
      const refusal = event.refusal === undefined ? '' : `: ${shorten(event.refusal)}`
      return [
        `${toSingleLine(event.taskName)}: model ${toSingleLine(event.model)}: ${ended}${refusal}`,
      ]
    }
    case 'llm_iteration_failed': {
      const { retryInMs, retryAfterMs, nextModel } = event
      const asked =
        retryAfterMs === undefined
          ? ''
          : `; the provider asks to wait ${formatTerminalDuration(retryAfterMs)}`
      const next =
        nextModel === undefined ? asked : `${asked}; next model: ${toSingleLine(nextModel)}`
      const again =
        retryInMs === undefined ? next : `; retrying in ${formatTerminalDuration(retryInMs)}`
      return [
        `${toSingleLine(event.taskName)}: model ${toSingleLine(event.model)} failed: ${toSingleLine(event.reason)}${again}`,
      ]
    }
    case 'agent_tool_invoked':
      return [
        `${toSingleLine(event.taskName)}: ${toSingleLine(event.toolName)} calls ${toSingleLine(event.agent_uri)}`,
      ]
    case 'delegation_started':
      if (event.handoff !== undefined) {
        return [`${toSingleLine(event.taskName)}: hands off to ${toSingleLine(event.workerRole)}`]
      }
      return [
        `${toSingleLine(event.taskName)}: delegates to ${toSingleLine(event.workerRole)}: ${shorten(event.taskDescription)}`,
      ]
    case 'file_changed':
      return [`file ${event.changeType.toLowerCase()}: ${toSingleLine(event.filePath)}`]
    default:
      return []
  }
}

/** Formats a try at a step of a handler: a failure, or the end of a compensation. */
function stepLines({
  taskName,
  step,
  isCompensation,
  reason,
  willRetry,
}: RunEventOf<'handler_step_ended'>): readonly string[] {
  if (reason === undefined && isCompensation === undefined) return []
  const what = `${toSingleLine(taskName)}: ${isCompensation === true ? 'compensation' : 'step'} "${shorten(step)}"`
  if (reason === undefined) return [`${what} completed`]
  return [`${what} failed: ${shorten(reason)}${willRetry === true ? '; retrying' : ''}`]
}

type ReviewEvent = Extract<LoggedRunEvent, { type: `review_${string}` }>

function reviewLines(event: ReviewEvent, run: RunStateFold): readonly string[] {
  const review = run.findReview(event.reviewId)
  const task = toSingleLine(review?.taskName ?? event.reviewId)
  switch (event.type) {
    case 'review_requested': {
      const wait = describeWait(event)
      const end = parseEnd(event)
      const until = end === undefined ? '' : ` until ${new Date(end).toISOString()}`
      const hint = formatDecideHint(event)
      return [
        wait === undefined
          ? `${task}: waiting for review: ${formatReviewQuestionText(event)}`
          : `${task}: ${wait}${until}`,
        ...(hint === undefined ? [] : [`${task}: ${hint}`]),
      ]
    }
    case 'review_decided': {
      if (event.event !== undefined) {
        const { name, id } = event.event
        return [`${task}: event "${toSingleLine(name)}" arrived, ${toSingleLine(id)}`]
      }
      const feedback = event.feedback === undefined ? '' : `: ${shorten(event.feedback)}`
      return [`${task}: reviewed${formatActor(event.decidedBy)}, ${event.decision}${feedback}`]
    }
    case 'review_timed_out':
      // The event also follows a decision, whose line is enough.
      if (review?.status !== 'TIMED_OUT') return []
      if (review.kind !== 'EVENT') return [`${task}: review timed out, ${event.action}`]
      return [`${task}: ${(review.waitsFor ?? []).length === 0 ? 'woke up' : 'no event in time'}`]
    case 'review_withdrawn':
      return [
        `${task}: ${review?.kind === 'EVENT' ? 'wait' : 'review'} withdrawn: ${toSingleLine(event.reason)}`,
      ]
  }
}

/** Returns the time at which a review times out, in milliseconds since 1970; undefined without a limit. */
function parseEnd({
  requestedAt,
  timeoutMs,
}: Pick<ReviewState, 'requestedAt' | 'timeoutMs'>): number | undefined {
  const end = Date.parse(requestedAt) + timeoutMs
  return timeoutMs === 0 || Number.isNaN(new Date(end).getTime()) ? undefined : end
}

/** Returns a line about a cancel, with what caused it. */
function formatCancel({
  cause,
  actor,
}: Pick<RunEventOf<'run_cancelling'>, 'cause' | 'actor'>): string {
  const whose = actor === undefined ? '' : ` of ${toSingleLine(actor)}`
  switch (cause) {
    case 'CALLER':
      return `cancel requested${formatActor(actor)}`
    case 'CLIENT_LEFT':
      return `cancelled because the client${whose} left`
    case 'DEADLINE':
      return `cancelled at the deadline of its caller${actor === undefined ? '' : ` ${toSingleLine(actor)}`}`
    case 'LIMIT':
      return `cancelled at the cost or token limit of its caller${actor === undefined ? '' : ` ${toSingleLine(actor)}`}`
    case 'SERVER':
      return 'cancelled by the server'
  }
}

function formatActor(actor: string | undefined): string {
  return actor === undefined ? '' : ` by ${toSingleLine(actor)}`
}

function shorten(text: string): string {
  const line = toSingleLine(text)
  return line.length <= MAX_QUOTE ? line : `${line.slice(0, MAX_QUOTE)}…`
}

/** Returns the age of the run at an event, from the timestamps of the log, so that a replay shows the same times. */
function formatEventTime(event: LoggedRunEvent, run: RunStateFold): string {
  const { queuedAt, durationMs, startedAt } = run.facts
  const began = Date.parse(queuedAt ?? '')
  const ended = Date.parse(startedAt ?? queuedAt ?? '') + (durationMs ?? 0)
  const at =
    event.type === 'run_result' ? ended : (eventTime(event) ?? findTimeout(event, run) ?? began)
  return formatStopwatch(Number.isNaN(at - began) ? 0 : at - began)
}

/** Returns the time of a timeout, which its event does not have. */
function findTimeout(event: LoggedRunEvent, run: RunStateFold): number | undefined {
  const review = event.type === 'review_timed_out' ? run.findReview(event.reviewId) : undefined
  return review === undefined ? undefined : parseEnd(review)
}
