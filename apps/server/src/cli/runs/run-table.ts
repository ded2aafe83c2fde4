/** Pure: runs as a table, the newest first. */
import { formatAge, formatDollars, formatTerminalDuration } from '../live/figures.ts'
import { STATUS_STYLES } from '../live/run-lines.ts'
import { tableLines, type Column } from '../text/table.ts'

import type { RunSummary } from '@tutti/protocol'
import type { Line, LineSpan } from '../live/line.ts'

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

/** What stands where there is nothing to say. */
const NONE = '-'

/** The table; `now` is in milliseconds since 1970. */
export function runTable(runs: readonly RunSummary[], now: number): readonly Line[] {
  return tableLines(
    COLUMNS,
    runs.map((run) => rowOf(run, now)),
  )
}

function rowOf(run: RunSummary, now: number): readonly LineSpan[] {
  const { runId, status, ensemble, totalTokens, costUsd, completedTasks, taskCount } = run
  const since = now - Date.parse(run.startedAt)
  const time = run.durationMs ?? (status === 'ACCEPTED' ? undefined : Math.max(0, since))
  return [
    { text: runId },
    { text: status, style: STATUS_STYLES[status] },
    { text: ensemble },
    { text: formatAge(since) },
    { text: time === undefined ? NONE : formatTerminalDuration(time) },
    { text: tokens(totalTokens) },
    { text: costUsd === undefined ? NONE : formatDollars(costUsd) },
    { text: `${completedTasks}/${taskCount}` },
    { text: placeOf(run) },
  ]
}

/** A number of tokens, which not every provider tells. */
export function tokens(count: number | undefined): string {
  return count === undefined || count < 0 ? NONE : count.toLocaleString('en-US')
}

/** What a run is at, or why it came to nothing. */
function placeOf({ currentTask, openReviews, error }: RunSummary): string {
  if (openReviews > 0) return openReviews === 1 ? 'a review waits' : `${openReviews} reviews wait`
  return currentTask?.name ?? error ?? NONE
}
