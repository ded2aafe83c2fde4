import { TuttiError } from '@tutti/core'
import { silentLogger } from '@tutti/core/internal'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { anyone } from '../caller.ts'
import { resolveLimits } from './caller-limits.ts'
import { auditedCall } from './gateway-call.ts'
import { GatewayService } from './gateway-service.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import type { RunRecord } from '@tutti/runs/adapter'

/** A run service whose cancels fail with these errors in order, and then succeed. */
function cancelling(state: string, ...ends: readonly Error[]) {
  const asked: unknown[] = []
  const outcomes: unknown[] = []
  const clock = fakeClock()
  const runs = {
    status: { state },
    record: (runId: string) => Promise.resolve({ runId, actor: 'ci' }),
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
  // NOTE: no other options are used.
  const options = { runs, trail, clock, logger: silentLogger } as unknown as GatewayOptions
  const call = auditedCall(options, { ...anyone(), name: 'ci' })
  const abandon = (isExplicit = false) =>
    new GatewayService(options).cancelAbandoned(call, 'run-1', { isExplicit })
  return { asked, outcomes, clock, abandon }
}

const ABORT = [
  'run-1',
  { kind: 'cancel', mode: 'abort', cause: 'CLIENT_LEFT', actor: 'ci' },
] as const
const LOST = new TuttiError('STORE_UNAVAILABLE', 'The store is away', { retryable: true })

describe('cancelAbandoned', () => {
  it('cancelAbandoned cancels the run at once, in the name of the caller', async () => {
    const { asked, outcomes, abandon } = cancelling('READY')
    await abandon()
    expect(asked).toEqual([ABORT])
    expect(outcomes).toEqual([['cancelRun', 'DONE']])
  })

  it('cancelAbandoned ignores a lost connection while the server stops, but not an explicit cancel', async () => {
    const { asked, abandon } = cancelling('DRAINING')
    await abandon()
    expect(asked).toEqual([])
    await abandon(true)
    expect(asked).toEqual([['run-1', { ...ABORT[1], cause: 'CALLER' }]])
  })

  it('cancelAbandoned succeeds when the run has already ended', async () => {
    const { asked, abandon } = cancelling('READY', new TuttiError('RUN_COMPLETED', 'It is over'))
    await abandon()
    expect(asked).toHaveLength(1)
  })

  it('cancelAbandoned retries every second while the store is unavailable', async () => {
    const { asked, clock, abandon } = cancelling('STORE_UNAVAILABLE', LOST, LOST)
    const cancelled = abandon()
    for (const times of [1, 2]) {
      await expect.poll(() => asked.length).toBe(times)
      await clock.advance(1_000)
    }
    await cancelled
    expect(asked).toEqual([ABORT, ABORT, ABORT])
  })

  it('cancelAbandoned stops when a retry cannot succeed', async () => {
    const { asked, abandon } = cancelling('READY', new Error('A fault'))
    await abandon()
    expect(asked).toHaveLength(1)
  })
})

/** Enforces a limit on a run with these events. */
function enforcing(reads: readonly (Error | readonly object[])[], state = 'READY') {
  const cancelled: string[] = []
  const clock = fakeClock()
  let count = 0
  const runs = {
    status: { state },
    async *follow() {
      const read = reads[count] ?? []
      count += 1
      if (read instanceof Error) throw read
      yield read
    },
    async send(runId: string) {
      cancelled.push(runId)
      return { status: 'CANCELLED' }
    },
  }
  // NOTE: nothing else of the options and the run is used.
  const trail = { record: () => undefined }
  const options = { runs, clock, trail, logger: silentLogger } as unknown as GatewayOptions
  const run = { runId: 'run-1' } as RunRecord
  const limits = resolveLimits({ max_tokens: 3 }, clock.now())
  const done = new GatewayService(options).enforceLimits(run, limits, anyone())
  return { done, cancelled, clock, reads: () => count }
}

describe('enforceLimits', () => {
  const turn = { type: 'llm_iteration_completed', inputTokens: 1, outputTokens: 1 }

  it('enforceLimits cancels a run once, when the sum of its calls exceeds the limit', async () => {
    const within = enforcing([[turn, { type: 'token' }]])
    await within.done
    expect(within.cancelled).toEqual([])
    const over = enforcing([[turn, turn]])
    await over.done
    expect(over.cancelled).toEqual(['run-1'])
  })

  it('enforceLimits reads the events again from the first one after a failed read', async () => {
    const { done, cancelled, clock, reads } = enforcing([LOST, [turn], [turn, turn]])
    await clock.advance(999)
    expect(reads()).toBe(1)
    await clock.advance(1)
    await done
    expect([reads(), cancelled]).toEqual([2, []])
  })

  it.each([
    [new Error('A fault'), 'READY'],
    [LOST, 'DRAINING'],
  ])('enforceLimits stops after %s while %s', async (error, state) => {
    const { done, reads, clock } = enforcing([error, [turn, turn]], state)
    await done
    expect([reads(), clock.pending]).toEqual([1, 0])
  })
})

/** A run that works until it is cancelled. */
function working() {
  const cancelled: [at: number, cause: unknown][] = []
  const clock = fakeClock()
  const runs = {
    status: { state: 'READY' },
    async *follow({ signal }: { readonly signal: AbortSignal }) {
      yield []
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
    },
    async send(_: string, { cause }: { readonly cause?: unknown }) {
      cancelled.push([clock.elapsed(), cause])
      return { status: 'CANCELLED' }
    },
  }
  const trail = { record: () => undefined }
  // NOTE: nothing else of the options and the run is used.
  const options = { runs, clock, trail, logger: silentLogger } as unknown as GatewayOptions
  const run = { runId: 'run-1', status: 'RUNNING' } as RunRecord
  return { service: new GatewayService(options), run, cancelled, clock }
}

describe('a deadline', () => {
  it('[GW-G8] A deadline counts from the request', async () => {
    const { service, run, cancelled, clock } = working()
    void service.enforceLimits(run, resolveLimits({ deadline_ms: 500 }, clock.now()), anyone())
    await clock.advance(499)
    expect(cancelled).toEqual([])
    await clock.advance(1)
    expect(cancelled).toEqual([[500, 'DEADLINE']])
  })

  it('[GW-G8] The deadline of the last request replaces all earlier ones', async () => {
    const { service, run, cancelled, clock } = working()
    for (const timeMs of [1_000, 2_000, 5_000]) {
      service.enforceDeadline(run, timeMs, anyone())
      await clock.advance(10)
    }
    await clock.advance(4_000)
    expect(cancelled).toEqual([])
    await clock.advance(1_000)
    expect(cancelled).toEqual([[5_020, 'DEADLINE']])
    expect(clock.pending).toBe(0)
  })
})
