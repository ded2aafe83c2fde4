import { describe, expect, it } from 'vitest'

import { RUN_STATUS } from '../../ui/labels.ts'
import { describeConnection, describeOutcome, formatRunTitle } from './run-header.tsx'

describe('formatRunTitle', () => {
  it.each([
    ['RUNNING', '● Running — briefing'],
    ['WAITING_REVIEW', '◆ Needs review — briefing'],
    ['COMPLETED', '✓ Completed — briefing'],
    ['FAILED', '✕ Failed — briefing'],
  ] as const)('formatRunTitle shows the status %s as %s', (status, title) => {
    expect(formatRunTitle(RUN_STATUS[status], 'briefing')).toBe(title)
  })
})

describe('describeOutcome', () => {
  it('describeOutcome returns the message of the error', () => {
    const error = { message: 'Task "a" failed', code: 'TASK_FAILED' }
    expect(describeOutcome({ status: 'FAILED', error, exitReason: 'ERROR' })).toBe(
      'Task "a" failed',
    )
  })

  it('describeOutcome explains outcomes that the status does not explain', () => {
    expect(describeOutcome({ status: 'COMPLETED', exitReason: 'USER_EXIT_EARLY' })).toBe(
      'A reviewer ended the run early',
    )
    expect(describeOutcome({ status: 'COMPLETED', exitReason: 'TIMEOUT' })).toBe(
      'A review timed out and ended the run early',
    )
    expect(describeOutcome({ status: 'COMPLETED', exitReason: 'COMPLETED' })).toBeUndefined()
    expect(describeOutcome({ status: 'CANCELLED', exitReason: 'CANCELLED' })).toBeUndefined()
    const cancel = { cause: 'CLIENT_LEFT', actor: 'ci' } as const
    for (const status of ['CANCELLING', 'CANCELLED'] as const) {
      expect(describeOutcome({ status, cancel })).toBe('Cancel: the client left (key ci)')
    }
    expect(describeOutcome({ status: 'RUNNING' })).toBeUndefined()
    const startAt = '2027-03-15T10:30:00Z'
    expect(describeOutcome({ status: 'ACCEPTED', startAt })).toMatch(
      /^Does not start before Mar 15, 2027/,
    )
    expect(describeOutcome({ status: 'RUNNING', startAt })).toBeUndefined()
  })
})

describe('describeConnection', () => {
  it('describeConnection names the state while the connection is not open and events are expected', () => {
    expect(describeConnection('open', 'RUNNING', false)).toBe('')
    expect(describeConnection('connecting', 'RUNNING', false)).toBe('Connecting…')
    expect(describeConnection('reconnecting', 'RUNNING', false)).toBe('Reconnecting…')
    expect(describeConnection('closed', 'RUNNING', false)).toMatch('Disconnected')
  })

  it('describeConnection returns nothing for a run that has ended', () => {
    expect(describeConnection('closed', 'COMPLETED', false)).toBe('')
    expect(describeConnection('reconnecting', 'FAILED', false)).toBe('')
    expect(describeConnection('closed', 'RUNNING', true)).toBe('')
    expect(describeConnection('reconnecting', 'RUNNING', true)).toBe('Reconnecting…')
  })
})
