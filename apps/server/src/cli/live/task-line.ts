/** Pure: the line of a task in the view and in the summary. */
import {
  formatTerminalCount,
  formatDollars,
  formatTerminalDuration,
  formatStopwatch,
} from './format-values.ts'
import { TASK_STATUS_STYLES, type Marks } from './marks.ts'
import { cutToWidth, toSingleLine, padToWidth, measureWidth } from '../../terminal/text-width.ts'
import { describeWait } from './wait-text.ts'

import type { RunState } from '@tutti/protocol'
import type { FinishReason, TaskState } from '@tutti/protocol/internal'
import type { Line, LineSpan } from '../../terminal/line.ts'

/** Inputs of a line in addition to the run. */
export interface LineContext {
  /** Milliseconds since 1970. */
  readonly now: number
  readonly marks: Marks
  /** Width of the name column. */
  readonly nameWidth: number
}

/** Maximum width of the name column. */
const MAX_NAME_WIDTH = 24

/** Returns the width of the name column for these tasks: at most 24 columns, and at most a third of the line. */
export function fitNameWidth(tasks: readonly TaskState[], columns: number): number {
  const longest = Math.max(0, ...tasks.map(({ name }) => measureWidth(toSingleLine(name))))
  return Math.min(longest, MAX_NAME_WIDTH, Math.max(8, Math.floor(columns / 3)))
}

/** Formats the line of a task. */
export function taskLine(task: TaskState, state: RunState, context: LineContext): Line {
  const { marks, nameWidth } = context
  const review = findOpenReview(task, state)
  const wait = review === undefined ? undefined : describeWait(review)
  const isInReview = review !== undefined && wait === undefined
  const mark: LineSpan = isInReview
    ? { text: marks.waiting, style: 'yellow' }
    : { text: marks.status[task.status], style: TASK_STATUS_STYLES[task.status] }
  const name = padToWidth(cutToWidth(toSingleLine(task.name), nameWidth), nameWidth)
  const time = formatTaskTime(task, context.now).padStart(8)
  const text = isInReview
    ? [{ text: 'waiting for review', style: 'yellow' as const }]
    : wait === undefined
      ? formatStatusText(task, state)
      : [{ text: wait, style: 'dim' as const }]
  const style =
    task.status === 'PENDING' || task.status === 'SKIPPED' ? ('dim' as const) : undefined
  return [mark, { text: ` ${name} ${time}  `, style }, ...text]
}

/** Finds the open review of a task; one that a person decides, if there is one. */
export function findOpenReview(
  { name }: TaskState,
  { reviews }: RunState,
): RunState['reviews'][number] | undefined {
  const open = reviews.filter(({ taskName, status }) => taskName === name && status === 'OPEN')
  return open.find(({ kind }) => kind !== 'EVENT') ?? open[0]
}

function formatTaskTime({ status, startedAt, durationMs }: TaskState, now: number): string {
  if (durationMs !== undefined && status !== 'RUNNING') return formatTerminalDuration(durationMs)
  if (startedAt === undefined || status !== 'RUNNING') return ''
  return formatStopwatch(now - Date.parse(startedAt))
}

function formatStatusText(task: TaskState, state: RunState): readonly LineSpan[] {
  switch (task.status) {
    case 'PENDING':
      return [{ text: formatDependencies(task, state), style: 'dim' }]
    case 'RUNNING':
      return [{ text: formatWork(task) }]
    case 'COMPLETED':
      return [{ text: formatTaskUsage(task), style: 'dim' }]
    case 'FAILED': {
      const prefix = task.error?.willRetry === true ? 'retrying: ' : ''
      return [{ text: prefix + toSingleLine(task.error?.reason ?? 'failed'), style: 'red' }]
    }
    case 'SKIPPED':
      return [{ text: toSingleLine(task.skipReason ?? 'skipped'), style: 'dim' }]
    case 'CANCELLED':
      return [{ text: 'cancelled', style: 'yellow' }]
  }
}

function formatDependencies({ context }: TaskState, { tasks }: RunState): string {
  const open = tasks.filter(({ name, status }) => context.includes(name) && status !== 'COMPLETED')
  return open.length === 0
    ? ''
    : `waiting for ${open.map(({ name }) => toSingleLine(name)).join(', ')}`
}

function formatWork({ attempt, turns, usage, activeAgent }: TaskState): string {
  return [
    attempt > 1 ? `attempt ${attempt}` : '',
    formatHandoff(activeAgent),
    turns.length === 0 ? 'starting' : `turn ${turns.length}`,
    usage.toolCallCount === 0 ? '' : formatTerminalCount(usage.toolCallCount, 'tool call'),
  ]
    .filter((part) => part !== '')
    .join(', ')
}

function formatHandoff(activeAgent: string | undefined): string {
  return activeAgent === undefined ? '' : `handed off to ${toSingleLine(activeAgent)}`
}

function formatTaskUsage({
  attempt,
  activeAgent,
  turns,
  usage,
  iterationLimitReached,
  finishReason,
}: TaskState): string {
  const { inputTokens, outputTokens, toolCallCount, costUsd } = usage
  return [
    attempt > 1 ? `attempt ${attempt}` : '',
    formatHandoff(activeAgent),
    turns.length === 0 ? '' : formatTerminalCount(turns.length, 'turn'),
    toolCallCount === 0 ? '' : formatTerminalCount(toolCallCount, 'tool call'),
    inputTokens < 0 || outputTokens < 0 || inputTokens + outputTokens === 0
      ? ''
      : formatTerminalCount(inputTokens + outputTokens, 'token'),
    costUsd === undefined || costUsd === 0 ? '' : formatDollars(costUsd),
    iterationLimitReached === true ? 'stopped at its turn limit' : '',
    earlyEndText(finishReason) ?? '',
  ]
    .filter((part) => part !== '')
    .join(', ')
}

/** Describes why an answer ended early; undefined for a complete answer. */
export function earlyEndText(reason: FinishReason | undefined): string | undefined {
  switch (reason) {
    case 'length':
      return 'answer truncated at the output limit'
    case 'refusal':
      return 'refused to answer'
    case 'content_filter':
      return 'answer blocked by a content filter'
    default:
      return undefined
  }
}
