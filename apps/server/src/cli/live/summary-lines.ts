/** Pure: what stays on the screen when a run that was followed is over. */
import { formatTerminalDuration } from './figures.ts'
import { STATUS_STYLES, usedBy } from './run-lines.ts'
import { nameWidthOf, taskLine } from './task-line.ts'
import { toSingleLine } from './text-width.ts'

import type { RunState } from '@tutti/protocol'
import type { Line } from './line.ts'
import type { ViewFacts } from './run-lines.ts'

/** Tasks that are listed at most; a summary is short. */
const MAX_TASKS = 20

/** One line a task, then how the run ended. */
export function summaryLines(
  state: RunState,
  facts: Pick<ViewFacts, 'runId' | 'now' | 'columns' | 'marks'>,
): readonly Line[] {
  const shown = state.tasks.slice(0, MAX_TASKS)
  const more = state.tasks.length - shown.length
  const lineFacts = { ...facts, nameWidth: nameWidthOf(shown, facts.columns) }
  return [
    ...shown.map((task) => taskLine(task, state, lineFacts)),
    ...(more === 0
      ? []
      : [[{ text: `  and ${more} more: tutti runs ${facts.runId}`, style: 'dim' as const }]]),
    endLine(state, facts.runId),
    ...errorLines(state),
  ]
}

/** How a run ended, in one line. */
export function endLine(state: RunState, runId: string): Line {
  const { status, durationMs, exitReason } = state
  const words = [
    durationMs === undefined ? '' : `in ${formatTerminalDuration(durationMs)}`,
    exitReason === 'USER_EXIT_EARLY' ? 'ended early by its reviewer' : '',
    usedBy(state),
  ].filter((word) => word !== '')
  return [
    { text: `${runId} ` },
    { text: status, style: STATUS_STYLES[status] },
    { text: words.length === 0 ? '' : ` ${words.join(', ')}` },
  ]
}

function errorLines({ error }: RunState): readonly Line[] {
  if (error === undefined) return []
  const code = error.code === undefined ? '' : ` (${toSingleLine(error.code)})`
  return [[{ text: `${toSingleLine(error.message)}${code}`, style: 'red' }]]
}
