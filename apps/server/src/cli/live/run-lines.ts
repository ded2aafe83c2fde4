/**
 * Pure: formats a run as lines that fit into a window.
 *
 *     RUNNING  0:12  briefing  2,314 tokens, 5 tool calls  run-7e51c57f
 *     ✔ researcher      4.2 s  3 turns, 4 tool calls
 *     ● writer           0:02  turn 2
 *       → measure_text  {"text":"# AI safety…
 *       │ the last lines of what its model writes
 *     ? editor           0:40  waiting for review
 *     notes: a review, a lost connection, a question
 *
 * SERVER-V1 There are at most as many lines as the window has, minus one for the cursor, and none is wider than the
 *    window.
 * SERVER-V2 The first line and the notes are always shown; then the tasks, running ones first; then the details of
 *    these.
 */
import { formatTerminalCount, formatDollars, formatStopwatch } from './format-values.ts'
import { taskDetail } from './task-detail.ts'
import { findOpenReview, fitNameWidth, taskLine, type LineContext } from './task-line.ts'
import { toSingleLine } from '../../terminal/text-width.ts'

import type { RunState } from '@tutti/protocol'
import type { TaskState } from '@tutti/protocol/internal'
import type { Line, Style } from '../../terminal/line.ts'
import type { Marks } from './marks.ts'

/** Inputs of the view in addition to the run. */
export interface ViewContext {
  readonly runId: string
  /** Milliseconds since 1970. */
  readonly now: number
  readonly columns: number
  readonly rows: number
  readonly marks: Marks
  /** Lines below the tasks, the most urgent last. */
  readonly notes: readonly Line[]
}

/** Maximum number of detail lines per task. */
const MAX_DETAIL = 8

/** Returns the lines of the view. */
export function runLines(state: RunState, context: ViewContext): readonly Line[] {
  const room = Math.max(1, context.rows - 1)
  const notes = context.notes.slice(-Math.max(0, room - 1))
  const body = room - 1 - notes.length
  const shown = selectTasks(state, body)
  const rest = restLine(state, shown)
  const lines = taskLines(state, shown, { context, room: body - (rest === undefined ? 0 : 1) })
  return [
    headLine(state, context),
    ...lines,
    ...(rest === undefined ? [] : [rest]),
    ...notes,
  ].slice(0, room)
}

/** Returns the first line: status, time and usage of the run. */
export function headLine(
  state: RunState,
  { runId, now }: Pick<ViewContext, 'runId' | 'now'>,
): Line {
  const { ensemble = '', status, startedAt, queuedAt } = state
  const since = startedAt ?? queuedAt
  const time = since === undefined ? '' : formatStopwatch(now - Date.parse(since))
  const text = [time, toSingleLine(ensemble), formatRunUsage(state)]
    .filter((part) => part !== '')
    .join('  ')
  return [
    { text: status, style: RUN_STATUS_STYLES[status] },
    { text: `  ${text}`, style: 'bold' },
    { text: `  ${runId}`, style: 'dim' },
  ]
}

/** Formats the usage of a run; empty when there is none. */
export function formatRunUsage({ totals }: Pick<RunState, 'totals'>): string {
  const { totalTokens, totalToolCalls, costUsd } = totals
  return [
    totalTokens > 0 ? formatTerminalCount(totalTokens, 'token') : '',
    totalToolCalls > 0 ? formatTerminalCount(totalToolCalls, 'tool call') : '',
    costUsd !== undefined && costUsd > 0 ? formatDollars(costUsd) : '',
  ]
    .filter((part) => part !== '')
    .join(', ')
}

/** Style of each run status. */
export const RUN_STATUS_STYLES: Readonly<Record<RunState['status'], Style>> = {
  ACCEPTED: 'dim',
  RUNNING: 'cyan',
  CANCELLING: 'yellow',
  WAITING_REVIEW: 'yellow',
  WAITING: 'dim',
  WAITING_FOR_BUILD: 'yellow',
  COMPLETED: 'green',
  FAILED: 'red',
  CANCELLED: 'yellow',
  REJECTED: 'red',
}

/** Selects the tasks that fit, in their order. Priority: running, failed, last completed, next pending. */
function selectTasks(state: RunState, room: number): readonly TaskState[] {
  const { tasks, reviews } = state
  if (tasks.length <= room) return tasks
  const held = new Set(
    reviews.flatMap(({ status, taskName }) => (status === 'OPEN' ? [taskName] : [])),
  )
  const ranked = tasks
    .map((task, index) => ({ task, index, rank: held.has(task.name) ? 0 : rankTask(task) }))
    .toSorted(
      (a, b) =>
        a.rank - b.rank || (a.rank === PENDING_RANK ? a.index - b.index : b.index - a.index),
    )
    .slice(0, Math.max(0, room - 1))
  return ranked.toSorted((a, b) => a.index - b.index).map(({ task }) => task)
}

const PENDING_RANK = 3

function rankTask({ status }: TaskState): number {
  if (status === 'RUNNING') return 0
  if (status === 'FAILED') return 1
  if (status === 'COMPLETED') return 2
  return status === 'PENDING' ? PENDING_RANK : 4
}

/** Counts the tasks that are not shown, by status. */
function restLine({ tasks }: RunState, shown: readonly TaskState[]): Line | undefined {
  if (shown.length === tasks.length) return undefined
  const isShown = new Set(shown)
  const rest = tasks.filter((task) => !isShown.has(task))
  const counts = Map.groupBy(rest, ({ status }) => status.toLowerCase())
  const text = [...counts].map(([status, group]) => `${group.length} ${status}`).join(', ')
  return [{ text: `  and ${formatTerminalCount(rest.length, 'more task')}: ${text}`, style: 'dim' }]
}

function taskLines(
  state: RunState,
  shown: readonly TaskState[],
  { context, room }: { readonly context: ViewContext; readonly room: number },
): readonly Line[] {
  const { columns, marks, now } = context
  const lineContext: LineContext = { now, marks, nameWidth: fitNameWidth(shown, columns) }
  const running = shown.filter(
    (task) => task.status === 'RUNNING' && findOpenReview(task, state) === undefined,
  )
  const free = Math.max(0, room - shown.length)
  const lines = Math.min(MAX_DETAIL, running.length === 0 ? 0 : Math.floor(free / running.length))
  return shown.flatMap((task) => {
    const line = taskLine(task, state, lineContext)
    return running.includes(task) ? [line, ...taskDetail(task, { columns, lines, marks })] : [line]
  })
}
