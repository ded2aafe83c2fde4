import { setImmediate } from 'node:timers/promises'

import { silentLogger } from '@tutti/core/internal'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { OrphanWatch, toReaderMemo } from './orphans.ts'

import type { RunEvent } from '@tutti/protocol'
import type { RunService } from '@tutti/runs'
import type { RunRecord } from '@tutti/runs/adapter'
import type { RunActivity } from '@tutti/runs/internal'

const CHECK_MS = 15_000

function recordOf(runId: string, reader: string | undefined): RunRecord {
  const memo = reader === undefined ? {} : toReaderMemo('clientTools', { own: reader })
  // NOTE: the watch reads no other fields.
  return { runId, createdAt: 0, request: { memo } } as Partial<RunRecord> as RunRecord
}

/** Watches the runs of process `own`; `alive` are the processes with a lease, `events` those of each run. */
function setUp(runs: Readonly<Record<string, string | undefined>>, more: Setup = {}) {
  const { alive = new Set<string>(), events = {} } = more
  const clock = fakeClock()
  const cancelled: string[] = []
  const records = new Map(
    Object.entries(runs).map(([runId, reader]) => [runId, recordOf(runId, reader)]),
  )
  const watch = new OrphanWatch()
  const service: Partial<RunService> = {
    processes: {
      own: 'own',
      hasLease: async (id) => alive.has(id),
      takesTurn: () => true,
    },
    record: async (runId) => records.get(runId),
    // NOTE: the watch reads the types and kinds only.
    readEvents: async ({ runId, from }) => (from > 0 ? [] : ((events[runId] ?? []) as never)),
    send: async (runId, command) => {
      expect(command).toMatchObject({ kind: 'cancel', mode: 'abort', cause: 'CLIENT_LEFT' })
      cancelled.push(runId)
      return { status: 'CANCELLING' } as never
    },
  }
  const tell = (activity: RunActivity) => watch.onActivity(activity)
  for (const run of records.values()) tell({ kind: 'claimed', run, lostOwners: 0 })
  // NOTE: a cancel uses no other methods.
  watch.start({ runs: service as RunService, logger: silentLogger, clock })
  /** Passes the time of checks, and lets each end. */
  const check = async (times = 1): Promise<void> => {
    for (let done = 0; done < times; done += 1) {
      await clock.advance(CHECK_MS)
      await setImmediate()
    }
  }
  return { check, cancelled, alive, tell, stop: () => watch.stop() }
}

interface Setup {
  readonly alive?: Set<string>
  readonly events?: Readonly<Record<string, readonly Partial<RunEvent>[]>>
}

describe('[GW-G7] an orphan of a shared store', () => {
  it('An orphan of a shared store is cancelled once, when the process of its client has had no lease at two checks', async () => {
    const { check, cancelled, alive } = setUp(
      { a: 'dead', b: 'living', c: 'own', d: undefined },
      { alive: new Set(['living']) },
    )
    await check()
    expect(cancelled).toEqual([])
    await check()
    expect(cancelled).toEqual(['a'])
    await check()
    alive.delete('living')
    await check(2)
    expect(cancelled).toEqual(['a', 'b'])
  })

  it('An orphan of a shared store is not cancelled if the process gets its lease between the checks', async () => {
    const { check, cancelled, alive } = setUp({ a: 'starting' })
    await check()
    alive.add('starting')
    await check()
    alive.delete('starting')
    await check()
    expect(cancelled).toEqual([])
  })

  it('An orphan of a shared store is not cancelled if its client knows a call of it, if it has left this process, or after a stop', async () => {
    const known = { type: 'review_requested', kind: 'CLIENT_TOOL' } as const
    const first = setUp({ a: 'dead', b: 'dead' }, { events: { a: [known] } })
    first.tell({ kind: 'released', runId: 'b', end: 'lost' })
    await first.check(3)
    const second = setUp({ a: 'dead' })
    second.stop()
    await second.check(3)
    expect([...first.cancelled, ...second.cancelled]).toEqual([])
  })
})
