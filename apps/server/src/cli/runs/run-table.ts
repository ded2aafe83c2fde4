/** Pure: formats runs as a table. */
import {
  formatAge,
  formatDollars,
  formatTerminalCount,
  formatTerminalDuration,
} from '../live/format-values.ts'
import { RUN_STATUS_STYLES } from '../live/run-lines.ts'
import { tableLines, type Column } from '../../terminal/table.ts'

import type { RunSummary } from '@tutti/protocol'
import type { Line, LineSpan } from '../../terminal/line.ts'

const COLUMNS: readonly Column[] = [
  { title: 'RUN' },
  { title: 'STATUS' },
  { title: 'ENSEMBLE' },
  { title: 'AGE', align: 'right' },
  { title: 'TIME', align: 'right' },
  { title: 'TOKENS', align: 'right' },
  { title: 'COST', align: 'right' },
  { title: 'DONE', align: 'right' },
  { title: 'AT' },
]

/** Placeholder for a missing value. */
const NONE = '-'

/** Returns the lines of the table; `now` is in milliseconds since 1970. */
export function runTable(runs: readonly RunSummary[], now: number): readonly Line[] {
  return tableLines(
    COLUMNS,
    runs.map((run) => toRow(run, now)),
  )
}

function toRow(run: RunSummary, now: number): readonly LineSpan[] {
  const { runId, status, ensemble, totalTokens, costUsd, completedTasks, taskCount } = run
  const since = now - Date.parse(run.startedAt)
  const time = run.durationMs ?? (status === 'ACCEPTED' ? undefined : Math.max(0, since))
  return [
    { text: runId },
    { text: status, style: RUN_STATUS_STYLES[status] },
    { text: ensemble },
    { text: formatAge(since) },
    { text: time === undefined ? NONE : formatTerminalDuration(time) },
    { text: formatTokens(totalTokens) },
    { text: costUsd === undefined ? NONE : formatDollars(costUsd) },
    { text: `${completedTasks}/${taskCount}` },
    { text: describeProgress(run) },
  ]
}

/** Formats a number of tokens, which not every provider reports. */
export function formatTokens(count: number | undefined): string {
  return count === undefined || count < 0 ? NONE : count.toLocaleString('en-US')
}

/** Returns the current state of a run: its open reviews, its current task, its error, or its skipped tasks. */
function describeProgress(run: RunSummary): string {
  const { currentTask, openReviews, error, skippedTasks } = run
  if (openReviews > 0) return formatTerminalCount(openReviews, 'open review')
  return currentTask?.name ?? error ?? (skippedTasks > 0 ? `${skippedTasks} skipped` : NONE)
}
