/**
 * Pure: a run as lines that fit into a window.
 *
 *     RUNNING  0:12  briefing  2,314 tokens, 5 tool calls  run-7e51c57f
 *     ✔ researcher      4.2 s  3 turns, 4 tool calls
 *     ● writer           0:02  turn 2
 *       → measure_text  {"text":"# AI safety…
 *       │ the last lines of what its model writes
 *     ? editor           0:40  waits for a review
 *     notes: a review, a lost connection, a question
 *
 * V1 Never more lines than the window has, less the one of the cursor, and none wider than it.
 * V2 The first line and the notes are always there; then tasks, those at work first; then what these do.
 */
import { formatTerminalCount, formatDollars, formatStopwatch } from './figures.ts'
import { taskDetail } from './task-detail.ts'
import { gateOf, nameWidthOf, taskLine, type LineFacts } from './task-line.ts'
import { toSingleLine } from './text-width.ts'

import type { RunState, TaskState } from '@tutti/protocol'
import type { Line, Style } from './line.ts'
import type { Marks } from './marks.ts'

/** What the view depends on besides the run. */
export interface ViewFacts {
  readonly runId: string
  /** Milliseconds since 1970. */
  readonly now: number
  readonly columns: number
  readonly rows: number
  readonly marks: Marks
  /** What stands below the tasks, the most urgent last. */
  readonly notes: readonly Line[]
}

/** Lines of detail that one task gets at most. */
const MAX_DETAIL = 8

/** The lines of the view. */
export function runLines(state: RunState, facts: ViewFacts): readonly Line[] {
  const room = Math.max(1, facts.rows - 1)
  const notes = facts.notes.slice(-Math.max(0, room - 1))
  const body = room - 1 - notes.length
  const shown = tasksFor(state, body)
  const rest = restLine(state, shown)
  const lines = taskLines(state, shown, { facts, room: body - (rest === undefined ? 0 : 1) })
  return [headLine(state, facts), ...lines, ...(rest === undefined ? [] : [rest]), ...notes].slice(
    0,
    room,
  )
}

/** Where the run stands, and what it has used. */
export function headLine(state: RunState, { runId, now }: Pick<ViewFacts, 'runId' | 'now'>): Line {
  const { ensemble = '', status, startedAt, queuedAt } = state
  const since = startedAt ?? queuedAt
  const time = since === undefined ? '' : formatStopwatch(now - Date.parse(since))
  const words = [time, toSingleLine(ensemble), usedBy(state)]
    .filter((word) => word !== '')
    .join('  ')
  return [
    { text: status, style: STATUS_STYLES[status] },
    { text: `  ${words}`, style: 'bold' },
    { text: `  ${runId}`, style: 'dim' },
  ]
}

/** What a run has used, in words; empty when nothing. */
export function usedBy({ totals }: Pick<RunState, 'totals'>): string {
  const { totalTokens, totalToolCalls, costUsd } = totals
  return [
    totalTokens > 0 ? formatTerminalCount(totalTokens, 'token') : '',
    totalToolCalls > 0 ? formatTerminalCount(totalToolCalls, 'tool call') : '',
    costUsd !== undefined && costUsd > 0 ? formatDollars(costUsd) : '',
  ]
    .filter((word) => word !== '')
    .join(', ')
}

/** How each status of a run looks. */
export const STATUS_STYLES: Readonly<Record<RunState['status'], Style>> = {
  ACCEPTED: 'dim',
  RUNNING: 'cyan',
  CANCELLING: 'yellow',
  WAITING_REVIEW: 'yellow',
  COMPLETED: 'green',
  FAILED: 'red',
  CANCELLED: 'yellow',
  REJECTED: 'red',
}

/** The tasks there is room for, in their order. When not all: those at work, then what failed, what is new, what is to come. */
function tasksFor(state: RunState, room: number): readonly TaskState[] {
  const { tasks } = state
  if (tasks.length <= room) return tasks
  const ranked = tasks
    .map((task, place) => ({ task, place, rank: rankOf(task, state) }))
    .toSorted(
      (a, b) =>
        a.rank - b.rank || (a.rank === PENDING_RANK ? a.place - b.place : b.place - a.place),
    )
    .slice(0, Math.max(0, room - 1))
  return ranked.toSorted((a, b) => a.place - b.place).map(({ task }) => task)
}

const PENDING_RANK = 3

function rankOf(task: TaskState, state: RunState): number {
  if (task.status === 'RUNNING' || gateOf(task, state) !== undefined) return 0
  if (task.status === 'FAILED') return 1
  if (task.status === 'COMPLETED') return 2
  return task.status === 'PENDING' ? PENDING_RANK : 4
}

/** How many tasks are not shown, by how they stand. */
function restLine({ tasks }: RunState, shown: readonly TaskState[]): Line | undefined {
  if (shown.length === tasks.length) return undefined
  const isShown = new Set(shown)
  const rest = tasks.filter((task) => !isShown.has(task))
  const counts = Map.groupBy(rest, ({ status }) => status.toLowerCase())
  const words = [...counts].map(([status, group]) => `${group.length} ${status}`).join(', ')
  return [
    { text: `  and ${formatTerminalCount(rest.length, 'more task')}: ${words}`, style: 'dim' },
  ]
}

function taskLines(
  state: RunState,
  shown: readonly TaskState[],
  { facts, room }: { readonly facts: ViewFacts; readonly room: number },
): readonly Line[] {
  const { columns, marks, now } = facts
  const lineFacts: LineFacts = { now, marks, nameWidth: nameWidthOf(shown, columns) }
  const atWork = shown.filter(
    (task) => task.status === 'RUNNING' && gateOf(task, state) === undefined,
  )
  const free = Math.max(0, room - shown.length)
  const lines = Math.min(MAX_DETAIL, atWork.length === 0 ? 0 : Math.floor(free / atWork.length))
  return shown.flatMap((task) => {
    const line = taskLine(task, state, lineFacts)
    return atWork.includes(task) ? [line, ...taskDetail(task, { columns, lines, marks })] : [line]
  })
}
