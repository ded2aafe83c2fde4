/** Formats schedules for the terminal. Pure. */
import { toSingleLine } from '../../terminal/text-width.ts'
import { tableLines } from '../../terminal/table.ts'

import type { ScheduleDetail } from '@tutti/protocol'
import type { ScheduleSummary } from '@tutti/protocol/internal'
import type { Line, LineSpan } from '../../terminal/line.ts'

const COLUMNS = [
  { title: 'NAME' },
  { title: 'CRON' },
  { title: 'TIME ZONE' },
  { title: 'ENSEMBLE' },
  { title: 'NEXT' },
  { title: 'LAST RUN' },
  { title: 'PROBLEM' },
] as const

/** Returns a table of schedules. */
export function scheduleTable(schedules: readonly ScheduleSummary[]): readonly Line[] {
  return tableLines(COLUMNS, schedules.map(toRow))
}

function toRow(schedule: ScheduleSummary): readonly LineSpan[] {
  const { name, cron, timeZone, ensemble = '-', paused, next, lastRun, problem } = schedule
  return [
    { text: name, style: paused ? 'dim' : 'bold' },
    { text: cron },
    { text: timeZone },
    { text: ensemble },
    { text: paused ? 'paused' : (next[0] ?? '-') },
    { text: lastRun?.runId ?? '-' },
    { text: problem?.code ?? '-' },
  ]
}

/** Returns the lines of one schedule. */
export function scheduleLines(schedule: ScheduleDetail): readonly Line[] {
  const { name, cron, timeZone, paused, readOnly, next, queued, lastRun, problem, savedBy } =
    schedule
  const { ensemble, overlap, catchUp, jitterMs } = schedule
  const rows: readonly (readonly [string, string])[] = [
    ['cron', `${cron} ${timeZone}`],
    ['ensemble', ensemble ?? 'the first one'],
    ['settings', `overlap ${overlap}, catch-up ${catchUp}, jitter ${jitterMs} ms`],
    ['state', `${paused ? 'paused' : 'active'}${readOnly ? ', defined by the configuration' : ''}`],
    ...(savedBy === undefined ? [] : [['saved by', savedBy] as const]),
    ...next.map((tick, index) => [index === 0 ? 'next' : '', tick] as const),
    ...queued.map((tick, index) => [index === 0 ? 'waiting' : '', tick] as const),
    ...(lastRun === undefined ? [] : [['last run', `${lastRun.runId} ${lastRun.tick}`] as const]),
    ...(problem === undefined
      ? []
      : [['problem', `${problem.tick} ${problem.code}: ${problem.message}`] as const]),
  ]
  const width = Math.max(...rows.map(([label]) => label.length))
  return [
    [{ text: toSingleLine(name), style: 'bold' }],
    ...rows.map(([label, text]): Line => [
      { text: `  ${label.padEnd(width)}  `, style: 'dim' },
      { text: toSingleLine(text) },
    ]),
  ]
}
