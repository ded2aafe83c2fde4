/** Pure: formats a run with its tasks and their outputs. */
import { formatCancelOrigin } from '@tutti/protocol/internal'

import { earlyEndText } from '../live/task-line.ts'
import {
  formatAge,
  formatTerminalCount,
  formatDollars,
  formatTerminalDuration,
} from '../live/format-values.ts'
import { TASK_STATUS_STYLES } from '../live/marks.ts'
import { formatTimeLeft, formatReviewQuestion } from '../live/review-subject.ts'
import { RUN_STATUS_STYLES } from '../live/run-lines.ts'
import { describeWait, formatDecideHint } from '../live/wait-text.ts'
import { toSingleLine, toTerminalText } from '../../terminal/text-width.ts'
import { tableLines, type Column } from '../../terminal/table.ts'
import { formatTokens } from './run-table.ts'

import type { PendingReview, RunDetail } from '@tutti/protocol'
import type { RunTaskDetail, TagMap } from '@tutti/protocol/internal'
import type { Line } from '../../terminal/line.ts'

const COLUMNS: readonly Column[] = [
  { title: 'TASK' },
  { title: 'STATUS' },
  { title: 'TIME', align: 'right' },
  { title: 'TOKENS', align: 'right' },
  { title: 'TOOLS', align: 'right' },
  { title: 'TRY', align: 'right' },
  { title: 'ERROR' },
]

const EMPTY: Line = []

/** Returns the lines; `now` is in milliseconds since 1970. */
export function runDetailLines(run: RunDetail, now: number): readonly Line[] {
  const { runId, status, ensemble, workflow } = run
  return [
    [
      { text: runId, style: 'bold' },
      { text: '  ' },
      { text: status, style: RUN_STATUS_STYLES[status] },
      { text: `  ${toSingleLine(ensemble)}, ${workflow}` },
    ],
    ...listFields(run, now).map(([name, text]): Line => [
      { text: `  ${name.padEnd(9)}`, style: 'dim' },
      { text: toSingleLine(text) },
    ]),
    EMPTY,
    ...tableLines(COLUMNS, run.tasks.map(taskRow)),
    ...run.pendingReviews.flatMap((review) => reviewLines(review, now)),
    ...run.tasks.flatMap(outputLines),
  ]
}

/** Names the builds that could continue the run, if one of them started. */
function toBuildsText(builds: readonly string[]): string {
  return builds.length === 0 ? 'a build that is no longer known' : builds.join(' or ')
}

function listFields(run: RunDetail, now: number): readonly (readonly [string, string])[] {
  const { startedAt, durationMs, inputs, tags, metrics, submittedBy, webhooks = [], error } = run
  const { build, resumableBy, cancel, status, startAt, priority, fairnessKey } = run
  const since = now - Date.parse(startedAt)
  const time = durationMs === undefined ? '' : `, took ${formatTerminalDuration(durationMs)}`
  const used = [
    `${formatTokens(metrics.totalTokens)} tokens`,
    formatTerminalCount(metrics.totalToolCalls, 'tool call'),
    ...(metrics.costUsd === undefined ? [] : [formatDollars(metrics.costUsd)]),
  ]
  return [
    // A run that still waits has the time at which it was accepted.
    [
      status === 'ACCEPTED' ? 'accepted' : 'started',
      `${startedAt}, ${formatAge(since)} ago${time}`,
    ],
    ...(status === 'ACCEPTED' && startAt !== undefined
      ? [['starts', `not before ${startAt}`] as const]
      : []),
    ...pairs('inputs', inputs),
    ...pairs('tags', tags),
    ['used', used.join(', ')],
    ...(submittedBy === undefined ? [] : [['by', submittedBy] as const]),
    ...(priority === undefined ? [] : [['priority', priority] as const]),
    ...(fairnessKey === undefined ? [] : [['fairness key', fairnessKey] as const]),
    ...(webhooks.length === 0 ? [] : [['webhooks', webhooks.join(', ')] as const]),
    ...(build === undefined ? [] : [['build', build] as const]),
    ...(resumableBy === undefined ? [] : [['needs', toBuildsText(resumableBy)] as const]),
    ...(error === undefined ? [] : [['error', error] as const]),
    ...(cancel === undefined ? [] : [['cancel', formatCancelOrigin(cancel)] as const]),
  ]
}

function pairs(name: string, values: Readonly<TagMap>): readonly (readonly [string, string])[] {
  const all = Object.entries(values).map(([key, value]) => `${key}=${value}`)
  return all.length === 0 ? [] : [[name, all.join(', ')]]
}

function taskRow(task: RunTaskDetail): Line {
  const { name, status, durationMs, tokenCount, toolCallCount, attempt, error } = task
  return [
    { text: name },
    { text: status, style: TASK_STATUS_STYLES[status] },
    { text: durationMs === undefined ? '-' : formatTerminalDuration(durationMs) },
    { text: formatTokens(tokenCount) },
    { text: toolCallCount === undefined ? '-' : String(toolCallCount) },
    { text: attempt === 0 ? '-' : String(attempt) },
    { text: error ?? '' },
  ]
}

function reviewLines(review: PendingReview, now: number): readonly Line[] {
  const wait = describeWait(review)
  const hint = formatDecideHint(review)
  return [
    EMPTY,
    [
      {
        text: `Open ${wait === undefined ? 'review' : 'wait'} (${formatTimeLeft(review, now)}): `,
        style: 'yellow',
      },
      { text: wait ?? formatReviewQuestion(review) },
    ],
    ...(hint === undefined ? [] : [[{ text: `  ${hint}` }]]),
  ]
}

function outputLines({ name, output, finishReason }: RunTaskDetail): readonly Line[] {
  if (output === undefined) return []
  const lines = toTerminalText(output).split('\n')
  const ended = earlyEndText(finishReason)
  return [
    EMPTY,
    [
      { text: toSingleLine(name), style: 'bold' },
      ...(ended === undefined ? [] : [{ text: ` (${ended})`, style: 'yellow' as const }]),
    ],
    ...lines.map((text): Line => [{ text: `  ${text}` }]),
  ]
}
