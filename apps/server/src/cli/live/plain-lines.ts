/** Pure: what happened, as one line of plain text for each event that somebody wants to read about. */
import { eventTime, type ReviewState, type LoggedRunEvent, type RunState } from '@tutti/protocol'

import { formatTerminalCount, formatTerminalDuration, formatStopwatch } from './figures.ts'
import { earlyEndText } from './task-line.ts'
import { lineText } from './line.ts'
import { endLine } from './summary-lines.ts'
import { toSingleLine } from './text-width.ts'

/** Columns of what a tool was given; logs are read by people. */
const MAX_WORDS = 200

/** The lines of an event, given the run after it; none for what is too small to be told. */
export function plainLines(event: LoggedRunEvent, state: RunState): readonly string[] {
  return wordsOf(event, state).map((words) => `[${timeOf(event, state)}] ${words}`)
}

/** How a review that waits is answered without being asked. */
export function answerWords(reviewId: string): string {
  return `answer with: tutti review ${reviewId}`
}

/** What a review asks. */
export function reviewWords(
  gate: Pick<ReviewState, 'taskName' | 'prompt' | 'timing' | 'toolName'>,
): string {
  const { taskName, prompt, timing, toolName = 'a tool' } = gate
  if (prompt !== undefined && prompt !== null && prompt !== '') return toSingleLine(prompt)
  if (timing === 'BEFORE_EXECUTION') return `May "${toSingleLine(taskName)}" begin?`
  if (timing === 'DURING_EXECUTION') return `May "${toSingleLine(toolName)}" be called?`
  return `Is the output of "${toSingleLine(taskName)}" to be taken?`
}

function wordsOf(event: LoggedRunEvent, state: RunState): readonly string[] {
  switch (event.type) {
    case 'run_queued':
      return [
        `run ${event.runId} of "${toSingleLine(event.ensemble)}" accepted, ${formatTerminalCount(event.totalTasks, 'task')}`,
      ]
    case 'run_resumed':
      return ['run resumed']
    case 'run_cancelling':
      return [`cancel asked for${by(event.actor)}`]
    case 'model_switched':
      return [
        `model switched to ${toSingleLine(event.model)}${event.taskName === undefined ? '' : ` for ${toSingleLine(event.taskName)}`}`,
      ]
    case 'directive_active':
      return event.content === undefined ? [] : [`told to the agents: ${short(event.content)}`]
    case 'run_result':
      return [
        lineText(endLine(state, event.runId)),
        ...(event.error === undefined
          ? []
          : [`${toSingleLine(event.error)}${event.code === undefined ? '' : ` (${event.code})`}`]),
      ]
    case 'review_requested':
    case 'review_decided':
    case 'review_timed_out':
    case 'review_withdrawn':
      return reviewLines(event, state)
    default:
      return taskWords(event)
  }
}

function taskWords(event: LoggedRunEvent): readonly string[] {
  switch (event.type) {
    case 'task_started':
      return [
        `${toSingleLine(event.taskName)}: started${event.attempt > 1 ? `, try ${event.attempt}` : ''}`,
      ]
    case 'task_completed': {
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
      const again = event.willRetry ? '; is tried again' : ''
      return [
        `${toSingleLine(event.taskName)}: failed after ${formatTerminalDuration(event.durationMs)}: ${toSingleLine(event.reason)}${again}`,
      ]
    }
    case 'task_skipped':
      return [`${toSingleLine(event.taskName)}: skipped: ${toSingleLine(event.reason)}`]
    case 'tool_called': {
      const [what, words] =
        event.outcome === 'SUCCESS' ? ['called', event.toolArguments] : ['failed', event.toolResult]
      return [
        `${toSingleLine(event.taskName)}: ${toSingleLine(event.toolName)} ${what} in ${formatTerminalDuration(event.durationMs)}  ${short(words ?? '')}`.trimEnd(),
      ]
    }
    case 'llm_iteration_completed': {
      const ended = earlyEndText(event.finishReason)
      if (ended === undefined) return []
      const words = event.refusal === undefined ? '' : `: ${short(event.refusal)}`
      return [
        `${toSingleLine(event.taskName)}: model ${toSingleLine(event.model)}: ${ended}${words}`,
      ]
    }
    case 'llm_iteration_failed': {
      const { retryInMs, retryAfterMs, nextModel } = event
      const asked =
        retryAfterMs === undefined
          ? ''
          : `; it asks to wait ${formatTerminalDuration(retryAfterMs)}`
      const next =
        nextModel === undefined ? asked : `${asked}; ${toSingleLine(nextModel)} is asked next`
      const again =
        retryInMs === undefined ? next : `; again in ${formatTerminalDuration(retryInMs)}`
      return [
        `${toSingleLine(event.taskName)}: model ${toSingleLine(event.model)} failed: ${toSingleLine(event.reason)}${again}`,
      ]
    }
    case 'agent_tool_invoked':
      return [
        `${toSingleLine(event.taskName)}: ${toSingleLine(event.toolName)} asks ${toSingleLine(event.agent_uri)}`,
      ]
    case 'delegation_started':
      return [
        `${toSingleLine(event.taskName)}: delegates to ${toSingleLine(event.workerRole)}: ${short(event.taskDescription)}`,
      ]
    case 'file_changed':
      return [`file ${event.changeType.toLowerCase()}: ${toSingleLine(event.filePath)}`]
    default:
      return []
  }
}

type ReviewEvent = Extract<LoggedRunEvent, { type: `review_${string}` }>

function reviewLines(event: ReviewEvent, { reviews: gates }: RunState): readonly string[] {
  const gate = gates.find(({ reviewId }) => reviewId === event.reviewId)
  const task = toSingleLine(gate?.taskName ?? event.reviewId)
  switch (event.type) {
    case 'review_requested':
      return [
        `${task}: waits for a review: ${reviewWords(event)}`,
        `${task}: ${answerWords(event.reviewId)}`,
      ]
    case 'review_decided': {
      const words = event.feedback === undefined ? '' : `: ${short(event.feedback)}`
      return [`${task}: reviewed${by(event.decidedBy)}, ${event.decision}${words}`]
    }
    case 'review_timed_out':
      // Also sent when somebody has decided, who is told of then.
      return gate?.status === 'TIMED_OUT'
        ? [`${task}: nobody reviewed in time, ${event.action}`]
        : []
    case 'review_withdrawn':
      return [`${task}: review not asked any more: ${toSingleLine(event.reason)}`]
  }
}

function by(actor: string | undefined): string {
  return actor === undefined ? '' : ` by ${toSingleLine(actor)}`
}

function short(text: string): string {
  const line = toSingleLine(text)
  return line.length <= MAX_WORDS ? line : `${line.slice(0, MAX_WORDS)}…`
}

/** How long the run had been there, by the instants of the log, so that a replay tells the truth. */
function timeOf(event: LoggedRunEvent, { queuedAt, durationMs, startedAt }: RunState): string {
  const began = Date.parse(queuedAt ?? '')
  const ended = Date.parse(startedAt ?? queuedAt ?? '') + (durationMs ?? 0)
  const at = event.type === 'run_result' ? ended : (eventTime(event) ?? began)
  return formatStopwatch(Number.isNaN(at - began) ? 0 : at - began)
}
