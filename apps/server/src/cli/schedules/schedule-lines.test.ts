import { describe, expect, it } from 'vitest'

import { scheduleLines, scheduleTable } from './schedule-lines.ts'

import type { ScheduleDetail } from '@tutti/protocol'
import type { Line } from '../../terminal/line.ts'

const SCHEDULE: ScheduleDetail = {
  name: 'nightly',
  cron: '0 3 * * *',
  timeZone: 'UTC',
  ensemble: 'report',
  jitterMs: 0,
  catchUp: 'last',
  overlap: 'skip',
  paused: false,
  readOnly: true,
  createdAt: '2027-01-01T00:00:00.000Z',
  updatedAt: '2027-01-01T00:00:00.000Z',
  next: ['2027-01-03T03:00:00.000Z', '2027-01-04T03:00:00.000Z'],
  queued: ['2027-01-01T15:00:00.000Z'],
  lastRun: { tick: '2027-01-01T03:00:00.000Z', runId: 'run-1' },
  problem: {
    tick: '2027-01-02T03:00:00.000Z',
    at: '2027-01-02T03:00:01.000Z',
    code: 'FORBIDDEN',
    message: 'Key "ci"\nhas expired',
  },
  run: { ensemble: 'report' },
}

function toText(lines: readonly Line[]): readonly string[] {
  return lines.map((line) => line.map(({ text }) => text).join(''))
}

describe('scheduleTable', () => {
  it('scheduleTable shows the next tick, the last run and the code of the problem', () => {
    expect(toText(scheduleTable([SCHEDULE]))).toEqual([
      'NAME     CRON       TIME ZONE  ENSEMBLE  NEXT                      LAST RUN  PROBLEM',
      'nightly  0 3 * * *  UTC        report    2027-01-03T03:00:00.000Z  run-1     FORBIDDEN',
    ])
  })

  it('scheduleTable shows that a schedule is paused', () => {
    const [, row] = toText(scheduleTable([{ ...SCHEDULE, paused: true, next: [] }]))
    expect(row).toContain('paused')
  })
})

describe('scheduleLines', () => {
  it('scheduleLines shows every next tick, and the problem in one line', () => {
    expect(toText(scheduleLines(SCHEDULE))).toEqual([
      'nightly',
      '  cron      0 3 * * * UTC',
      '  ensemble  report',
      '  settings  overlap skip, catch-up last, jitter 0 ms',
      '  state     active, defined by the configuration',
      '  next      2027-01-03T03:00:00.000Z',
      '            2027-01-04T03:00:00.000Z',
      '  waiting   2027-01-01T15:00:00.000Z',
      '  last run  run-1 2027-01-01T03:00:00.000Z',
      '  problem   2027-01-02T03:00:00.000Z FORBIDDEN: Key "ci" has expired',
    ])
  })
})
