import { silentLogger, TuttiError } from '@tutti/core'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { anyone } from '../caller.ts'
import { cancelAbandoned, type AbandonedDesk } from './cancel-abandoned.ts'

/** A desk whose cancels end as said, one after another, and then well. */
function deskOf(state: string, ...ends: readonly Error[]) {
  const asked: unknown[] = []
  const outcomes: unknown[] = []
  const clock = fakeClock()
  const runs = {
    state,
    send(runId: string, command: object) {
      const end = ends[asked.length]
      asked.push([runId, command])
      return end === undefined ? Promise.resolve({ status: 'CANCELLING' }) : Promise.reject(end)
    },
  }
  const trail = {
    record: ({ action, outcome }: { action: string; outcome: string }) =>
      outcomes.push([action, outcome]),
  }
  // NOTE: no more of a run service and of a trail is used.
  const desk = { runs, trail, clock, logger: silentLogger } as unknown as AbandonedDesk
  const abandon = (isSaid = false) =>
    cancelAbandoned(desk, { runId: 'run-1', caller: { ...anyone(), name: 'ci' }, isSaid })
  return { asked, outcomes, clock, abandon }
}

const ABORT = ['run-1', { kind: 'cancel', mode: 'abort', actor: 'ci' }]
const LOST = new TuttiError('STORE_UNAVAILABLE', 'The store is away', { retryable: true })

describe('cancelAbandoned', () => {
  it('cancels the run at once, in the name of the caller', async () => {
    const { asked, outcomes, abandon } = deskOf('READY')
    await abandon()
    expect(asked).toEqual([ABORT])
    expect(outcomes).toEqual([['cancelRun', 'DONE']])
  })

  it('takes a lost connection for no wish while the server stops, but a word for one', async () => {
    const { asked, abandon } = deskOf('DRAINING')
    await abandon()
    expect(asked).toEqual([])
    await abandon(true)
    expect(asked).toEqual([ABORT])
  })

  it('is content with a run that is over', async () => {
    const { asked, abandon } = deskOf('READY', new TuttiError('RUN_COMPLETED', 'It is over'))
    await abandon()
    expect(asked).toHaveLength(1)
  })

  it('tries again every second while the store is away', async () => {
    const { asked, clock, abandon } = deskOf('STORE_UNAVAILABLE', LOST, LOST)
    const cancelled = abandon()
    for (const times of [1, 2]) {
      await expect.poll(() => asked.length).toBe(times)
      await clock.advance(1_000)
    }
    await cancelled
    expect(asked).toEqual([ABORT, ABORT, ABORT])
  })

  it('gives up when no other try can help', async () => {
    const { asked, abandon } = deskOf('READY', new Error('A fault'))
    await abandon()
    expect(asked).toHaveLength(1)
  })
})
