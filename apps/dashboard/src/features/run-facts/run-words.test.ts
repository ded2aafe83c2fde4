import { describe, expect, it } from 'vitest'

import { connectionWords, outcomeOf, runTitle } from './run-header.tsx'

describe('the title of a run', () => {
  it.each([
    ['RUNNING', '● Running — briefing'],
    ['WAITING_REVIEW', '◆ Needs review — briefing'],
    ['COMPLETED', '✓ Completed — briefing'],
    ['FAILED', '✕ Failed — briefing'],
  ] as const)('when it is %s is %s', (status, title) => {
    expect(runTitle(status, 'briefing')).toBe(title)
  })
})

describe('how a run ended', () => {
  it('is what failed, in words', () => {
    const error = { message: 'Task "a" failed', code: 'TASK_FAILED' }
    expect(outcomeOf({ status: 'FAILED', error, exitReason: 'ERROR' })).toBe('Task "a" failed')
  })

  it('is said when its status does not say it', () => {
    expect(outcomeOf({ status: 'COMPLETED', exitReason: 'USER_EXIT_EARLY' })).toBe(
      'A reviewer ended it early',
    )
    expect(outcomeOf({ status: 'FAILED', exitReason: 'TIMEOUT' })).toBe('Its time was up')
    expect(outcomeOf({ status: 'COMPLETED', exitReason: 'COMPLETED' })).toBeUndefined()
    expect(outcomeOf({ status: 'CANCELLED', exitReason: 'CANCELLED' })).toBeUndefined()
    expect(outcomeOf({ status: 'RUNNING' })).toBeUndefined()
  })
})

describe('the connection of a page', () => {
  it('is named while it is not open and there is something to hear', () => {
    expect(connectionWords('open', 'RUNNING', false)).toBe('')
    expect(connectionWords('connecting', 'RUNNING', false)).toBe('Connecting…')
    expect(connectionWords('reconnecting', 'RUNNING', false)).toBe('Reconnecting…')
    expect(connectionWords('closed', 'RUNNING', false)).toMatch('Not connected')
  })

  it('is not missed by a run that is over', () => {
    expect(connectionWords('closed', 'COMPLETED', false)).toBe('')
    expect(connectionWords('reconnecting', 'FAILED', false)).toBe('')
    expect(connectionWords('closed', 'RUNNING', true)).toBe('')
    expect(connectionWords('reconnecting', 'RUNNING', true)).toBe('Reconnecting…')
  })
})
