/** Pure: formats the preview of a fork. */
import { formatDollars } from '../live/format-values.ts'
import { toSingleLine } from '../../terminal/text-width.ts'
import { tableLines } from '../../terminal/table.ts'

import type { ForkPreview } from '@tutti/protocol'
import type { ForkTaskPreview, ForkUsage } from '@tutti/protocol/internal'
import type { Line, LineSpan } from '../../terminal/line.ts'

const COLUMNS = [
  { title: 'TASK' },
  { title: 'ACTION' },
  { title: 'MODEL CALLS', align: 'right' },
  { title: 'TOOL CALLS', align: 'right' },
  { title: 'TOKENS', align: 'right' },
  { title: 'COST', align: 'right' },
] as const

/**
 * Returns a table of the tasks with their estimated usage, the totals, and the reviews and calls that the fork would
 * repeat.
 */
export function toPreviewLines(preview: ForkPreview): readonly Line[] {
  const { tasks, reused, estimate, reviews, repeatedCalls } = preview
  return [
    ...tableLines(COLUMNS, [
      ...tasks.map(toRow),
      [{ text: 'reused, at no cost', style: 'dim' }, { text: '' }, ...toUsageCells(reused)],
      [{ text: 'estimate', style: 'bold' }, { text: '' }, ...toUsageCells(estimate)],
    ]),
    ...reviews.map(({ taskName, timing }): Line => [
      { text: `asks again: ${timing} review of ${toSingleLine(taskName)}` },
    ]),
    ...repeatedCalls.map(({ taskName, toolName }): Line => [
      { text: `might repeat: ${toSingleLine(toolName)} of ${toSingleLine(taskName)}` },
    ]),
    ...(preview.needsAllowSideEffects ? [[{ text: 'needs --allow-side-effects' }]] : []),
  ]
}

/** Returns the row of a task. A task that is executed and has no estimate has dashes. */
function toRow({ name, action, estimate }: ForkTaskPreview): readonly LineSpan[] {
  const isExecuted = action === 'EXECUTED' || action === 'CONTINUED'
  const none = { text: isExecuted ? '-' : '' }
  const usage = estimate === undefined ? [none, none, none, none] : toUsageCells(estimate)
  return [{ text: name }, { text: action }, ...usage]
}

function toUsageCells({ modelCalls, toolCalls, tokens, costUsd }: ForkUsage): readonly LineSpan[] {
  return [
    { text: String(modelCalls) },
    { text: String(toolCalls) },
    { text: tokens < 0 ? '?' : tokens.toLocaleString('en-US') },
    { text: costUsd === undefined ? '?' : formatDollars(costUsd) },
  ]
}
