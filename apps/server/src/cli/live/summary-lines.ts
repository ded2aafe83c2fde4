/** Pure: the summary that stays on the screen when a followed run is over. */
import { formatCancelOrigin } from '@tutti/protocol/internal'

import { formatTerminalDuration } from './format-values.ts'
import { RUN_STATUS_STYLES, formatRunUsage } from './run-lines.ts'
import { fitNameWidth, taskLine } from './task-line.ts'
import { toSingleLine } from '../../terminal/text-width.ts'

import type { RunState } from '@tutti/protocol'
import type { Line } from '../../terminal/line.ts'
import type { ViewContext } from './run-lines.ts'

/** Maximum number of listed tasks. */
const MAX_TASKS = 20

/** Returns one line per task, then the end of the run. */
export function summaryLines(
  state: RunState,
  context: Pick<ViewContext, 'runId' | 'now' | 'columns' | 'marks'>,
): readonly Line[] {
  const shown = state.tasks.slice(0, MAX_TASKS)
  const more = state.tasks.length - shown.length
  const lineContext = { ...context, nameWidth: fitNameWidth(shown, context.columns) }
  return [
    ...shown.map((task) => taskLine(task, state, lineContext)),
    ...(more === 0
      ? []
      : [[{ text: `  and ${more} more: tutti runs ${context.runId}`, style: 'dim' as const }]]),
    endLine(state, context.runId),
    ...errorLines(state),
  ]
}

/** Formats the end of a run in one line. */
export function endLine(state: RunState, runId: string): Line {
  const { status, durationMs, exitReason, cancel } = state
  const parts = [
    durationMs === undefined ? '' : `in ${formatTerminalDuration(durationMs)}`,
    exitReason === 'USER_EXIT_EARLY' ? 'ended early by a reviewer' : '',
    cancel === undefined ? '' : toSingleLine(formatCancelOrigin(cancel)),
    formatRunUsage(state),
  ].filter((part) => part !== '')
  return [
    { text: `${runId} ` },
    { text: status, style: RUN_STATUS_STYLES[status] },
    { text: parts.length === 0 ? '' : ` ${parts.join(', ')}` },
  ]
}

function errorLines({ error }: RunState): readonly Line[] {
  if (error === undefined) return []
  const code = error.code === undefined ? '' : ` (${toSingleLine(error.code)})`
  return [[{ text: `${toSingleLine(error.message)}${code}`, style: 'red' }]]
}
