import { describe, expect, it } from 'vitest'

import { COOL_DOWN_MS, decideStart, NO_FAILURES, addFailure, type FailureRow } from './restarts.ts'

const MAX = 5

describe('decideStart', () => {
  it('decideStart starts immediately without a failure', () => {
    expect(decideStart(NO_FAILURES, MAX, 0)).toEqual({ start: true, waitMs: 0 })
    expect(decideStart(NO_FAILURES, 0, 0)).toEqual({ start: true, waitMs: 0 })
  })

  it('[REMOTE-B1] decideStart starts immediately after one failure', () => {
    expect(decideStart(failures(1), MAX, 0)).toEqual({ start: true, waitMs: 0 })
  })

  it.each([
    [2, 100],
    [3, 200],
    [4, 400],
    [5, 800],
  ])('[REMOTE-B2] decideStart waits after %i failures for %i ms', (count, waitMs) => {
    expect(decideStart(failures(count), MAX, 0)).toEqual({ start: true, waitMs })
  })

  it('[REMOTE-B2] decideStart never waits longer than five seconds', () => {
    expect(decideStart(failures(7), 2_000, 0)).toEqual({ start: true, waitMs: 3_200 })
    expect(decideStart(failures(8), 2_000, 0)).toEqual({ start: true, waitMs: 5_000 })
    expect(decideStart(failures(1_500), Infinity, 0)).toEqual({ start: true, waitMs: 5_000 })
  })

  it('[REMOTE-B2] decideStart subtracts the time since the failure', () => {
    expect(decideStart(failures(4, 1_000), MAX, 1_150)).toEqual({ start: true, waitMs: 250 })
    expect(decideStart(failures(4, 1_000), MAX, 9_000)).toEqual({ start: true, waitMs: 0 })
  })

  it('[REMOTE-B3] decideStart does not start after too many failures until the pause is over', () => {
    const row = failures(6, 1_000)
    expect(decideStart(row, MAX, 1_000)).toEqual({
      start: false,
      message: 'Worker failed 6 times in a row; next start in 30000 ms: Worker exited with code 6',
    })
    expect(decideStart(row, MAX, 1_000 + COOL_DOWN_MS - 0.5)).toMatchObject({
      start: false,
      message: expect.stringContaining('in 1 ms') as string,
    })
    expect(decideStart(row, MAX, 1_000 + COOL_DOWN_MS)).toEqual({ start: true, waitMs: 0 })
  })

  it('[REMOTE-B3] decideStart starts once after each pause', () => {
    const row = addFailure(failures(6, 1_000), 'again', 50_000)
    expect(decideStart(row, MAX, 50_000)).toMatchObject({ start: false })
  })

  it('[REMOTE-B3] decideStart pauses after the first failure when restarts are not allowed', () => {
    expect(decideStart(failures(1), 0, 0)).toMatchObject({ start: false })
  })

  it('[REMOTE-B4] decideStart has no failures after an answer', () => {
    expect(addFailure(NO_FAILURES, 'x', 7)).toEqual({ count: 1, lastAt: 7, reason: 'x' })
  })
})

/** Returns consecutive failures at the same time. */
function failures(count: number, at = 0): FailureRow {
  let row = NO_FAILURES
  for (let index = 1; index <= count; index += 1) {
    row = addFailure(row, `Worker exited with code ${index}`, at)
  }
  return row
}
