/** Pure: the one line that a task has in the view and in the summary. */
import {
  formatTerminalCount,
  formatDollars,
  formatTerminalDuration,
  formatStopwatch,
} from './figures.ts'
import { STATUS_STYLE, type Marks } from './marks.ts'
import { cutToWidth, toSingleLine, padToWidth, widthOf } from './text-width.ts'

import type { FinishReason, RunState, TaskState } from '@tutti/protocol'
import type { Line, LineSpan } from './line.ts'

/** What a line depends on besides the run. */
export interface LineFacts {
  /** Milliseconds since 1970. */
  readonly now: number
  readonly marks: Marks
  /** Columns of the names. */
  readonly nameWidth: number
}

/** Columns that the names of tasks get at most. */
const MAX_NAME_WIDTH = 24

/** Columns that the names of these tasks need, up to a bound and to a third of the line. */
export function nameWidthOf(tasks: readonly TaskState[], columns: number): number {
  const longest = Math.max(0, ...tasks.map(({ name }) => widthOf(toSingleLine(name))))
  return Math.min(longest, MAX_NAME_WIDTH, Math.max(8, Math.floor(columns / 3)))
}

/** The line of a task. */
export function taskLine(task: TaskState, state: RunState, facts: LineFacts): Line {
  const { marks, nameWidth } = facts
  const isAsked = gateOf(task, state) !== undefined
  const mark: LineSpan = isAsked
    ? { text: marks.waiting, style: 'yellow' }
    : { text: marks.status[task.status], style: STATUS_STYLE[task.status] }
  const name = padToWidth(cutToWidth(toSingleLine(task.name), nameWidth), nameWidth)
  const time = timeOf(task, facts.now).padStart(8)
  const words = isAsked
    ? [{ text: 'waits for a review', style: 'yellow' as const }]
    : wordsOf(task, state)
  const style =
    task.status === 'PENDING' || task.status === 'SKIPPED' ? ('dim' as const) : undefined
  return [mark, { text: ` ${name} ${time}  `, style }, ...words]
}

/** The review that the task waits for. */
export function gateOf(
  { name }: TaskState,
  { reviews: gates }: RunState,
): RunState['reviews'][number] | undefined {
  return gates.find(({ taskName, status }) => taskName === name && status === 'OPEN')
}

function timeOf({ status, startedAt, durationMs }: TaskState, now: number): string {
  if (durationMs !== undefined && status !== 'RUNNING') return formatTerminalDuration(durationMs)
  if (startedAt === undefined || status !== 'RUNNING') return ''
  return formatStopwatch(now - Date.parse(startedAt))
}

function wordsOf(task: TaskState, state: RunState): readonly LineSpan[] {
  switch (task.status) {
    case 'PENDING':
      return [{ text: waitsFor(task, state), style: 'dim' }]
    case 'RUNNING':
      return [{ text: workOf(task) }]
    case 'COMPLETED':
      return [{ text: usedBy(task), style: 'dim' }]
    case 'FAILED': {
      const again = task.error?.willRetry === true ? 'is tried again: ' : ''
      return [{ text: again + toSingleLine(task.error?.reason ?? 'failed'), style: 'red' }]
    }
    case 'SKIPPED':
      return [{ text: toSingleLine(task.skipReason ?? 'skipped'), style: 'dim' }]
    case 'CANCELLED':
      return [{ text: 'cancelled', style: 'yellow' }]
  }
}

function waitsFor({ context }: TaskState, { tasks }: RunState): string {
  const open = tasks.filter(({ name, status }) => context.includes(name) && status !== 'COMPLETED')
  return open.length === 0
    ? ''
    : `waits for ${open.map(({ name }) => toSingleLine(name)).join(', ')}`
}

function workOf({ attempt, turns, usage }: TaskState): string {
  return [
    attempt > 1 ? `try ${attempt}` : '',
    turns.length === 0 ? 'begins' : `turn ${turns.length}`,
    usage.toolCallCount === 0 ? '' : formatTerminalCount(usage.toolCallCount, 'tool call'),
  ]
    .filter((word) => word !== '')
    .join(', ')
}

function usedBy({ attempt, turns, usage, iterationLimitReached, finishReason }: TaskState): string {
  const { inputTokens, outputTokens, toolCallCount, costUsd } = usage
  return [
    attempt > 1 ? `try ${attempt}` : '',
    turns.length === 0 ? '' : formatTerminalCount(turns.length, 'turn'),
    toolCallCount === 0 ? '' : formatTerminalCount(toolCallCount, 'tool call'),
    inputTokens < 0 || outputTokens < 0 || inputTokens + outputTokens === 0
      ? ''
      : formatTerminalCount(inputTokens + outputTokens, 'token'),
    costUsd === undefined || costUsd === 0 ? '' : formatDollars(costUsd),
    iterationLimitReached === true ? 'stopped by its limit of turns' : '',
    earlyEndText(finishReason) ?? '',
  ]
    .filter((word) => word !== '')
    .join(', ')
}

/** The words; undefined for an answer that is whole. */
export function earlyEndText(reason: FinishReason | undefined): string | undefined {
  switch (reason) {
    case 'length':
      return 'answer cut at the output limit'
    case 'refusal':
      return 'refused to answer'
    case 'content_filter':
      return 'answer blocked by a content filter'
    default:
      return undefined
  }
}
