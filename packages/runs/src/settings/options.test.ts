import { silentLogger } from '@tutti/core/internal'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { steadyClock } from '../domain/steady-clock.ts'
import { resolveRunServiceOptions, type RunServiceOptions } from './options.ts'

describe('resolveRunServiceOptions', () => {
  it('resolveRunServiceOptions fills in the documented defaults', () => {
    expect(resolveRunServiceOptions({})).toEqual({
      executes: true,
      buildId: undefined,
      resumePolicy: 'strict',
      compatibleBuilds: [],
      buildShare: 100,
      reviews: {},
      maxConcurrentRuns: 5,
      maxRunsPerProcess: 5,
      maxQueuedRuns: 100,
      maxRetainedRuns: 1_000_000,
      maxRetainedAgeMs: Infinity,
      maxRetainedStepsMs: Infinity,
      maxStoredEvents: 10_000,
      maxStoredEventAgeMs: 604_800_000,
      maxHistoryRuns: 100,
      maxHistoryBytes: 200_000,
      tickMs: 25,
      leaseMs: 10_000,
      pollMs: 1_000,
      parkAfterMs: 1_000,
      maxLostOwners: 3,
      maxInputBytes: 1_000_000,
      maxTextBytes: 2_000_000,
      maxRunTextBytes: 8_000_000,
      maxStoredRunBytes: 64_000_000,
      maxBytesInFlight: expect.any(Number),
      maxEventBytes: 16_000_000,
      models: undefined,
      prices: undefined,
      profiles: {},
      redact: expect.any(Function),
      onExecuted: [],
      onActivity: [],
      clock: steadyClock,
      logger: silentLogger,
    })
  })

  it('resolveRunServiceOptions retains all runs of a store that processes share', () => {
    const shared = { isShared: true, clock: fakeClock() }
    expect(resolveRunServiceOptions({}, shared).maxRetainedRuns).toBe(Infinity)
    expect(resolveRunServiceOptions({ maxRetainedRuns: Infinity }).maxRetainedRuns).toBe(Infinity)
  })

  it('resolveRunServiceOptions uses the given values', () => {
    const given = {
      executes: false,
      maxConcurrentRuns: 8,
      maxRunsPerProcess: 2,
      maxQueuedRuns: 0,
      maxRetainedRuns: 0,
      maxRetainedAgeMs: 0,
      maxRetainedStepsMs: 60_000,
      maxStoredEvents: 0,
      maxStoredEventAgeMs: 0,
      tickMs: 0,
      leaseMs: 1_000,
      pollMs: 10,
      parkAfterMs: 0,
      maxLostOwners: 0,
      maxInputBytes: 0,
      maxTextBytes: 1,
      maxRunTextBytes: 1,
      maxStoredRunBytes: 1,
      maxEventBytes: 1,
      clock: fakeClock(),
    }
    expect(resolveRunServiceOptions(given)).toMatchObject(given)
  })

  it('resolveRunServiceOptions uses maxConcurrentRuns as the default of maxRunsPerProcess', () => {
    expect(resolveRunServiceOptions({ maxConcurrentRuns: 9 }).maxRunsPerProcess).toBe(9)
  })

  it.each<[RunServiceOptions, string]>([
    [
      { maxConcurrentRuns: 0, maxRunsPerProcess: 1 },
      'maxConcurrentRuns must be an integer >= 1 and <= 1000000000000, got 0',
    ],
    [
      { maxConcurrentRuns: 1.5, maxRunsPerProcess: 1 },
      'maxConcurrentRuns must be an integer >= 1 and <= 1000000000000, got 1.5',
    ],
    [
      { maxConcurrentRuns: Infinity, maxRunsPerProcess: 1 },
      'maxConcurrentRuns must be an integer >= 1 and <= 1000000000000, got Infinity',
    ],
    [
      { maxRunsPerProcess: 0 },
      'maxRunsPerProcess must be an integer >= 1 and <= 1000000000000, got 0',
    ],
    [{ maxQueuedRuns: -1 }, 'maxQueuedRuns must be an integer >= 0 and <= 1000000000000, got -1'],
    [
      { maxRetainedRuns: -1 },
      'maxRetainedRuns must be an integer >= 0 and <= 1000000000000, or Infinity, got -1',
    ],
    [
      { maxRetainedAgeMs: -1 },
      'maxRetainedAgeMs must be a number >= 0 and <= 3153600000000, or Infinity, got -1',
    ],
    [
      { maxRetainedStepsMs: 1 },
      'maxRetainedStepsMs must be a number >= 60000 and <= 3153600000000, or Infinity, got 1',
    ],
    [{ tickMs: Number.NaN }, 'tickMs must be a number >= 0 and <= 3153600000000, got NaN'],
    [{ leaseMs: 999 }, 'leaseMs must be a number >= 1000 and <= 3153600000000, got 999'],
    [{ pollMs: 9 }, 'pollMs must be a number >= 10 and <= 3153600000000, got 9'],
    [{ parkAfterMs: -0.5 }, 'parkAfterMs must be a number >= 0 and <= 3153600000000, got -0.5'],
    [{ maxLostOwners: 0.5 }, 'maxLostOwners must be an integer >= 0 and <= 1000000000000, got 0.5'],
    [
      { maxRetainedAgeMs: 9_007_199_254_740_991 },
      'maxRetainedAgeMs must be a number >= 0 and <= 3153600000000, or Infinity, got 9007199254740991',
    ],
    [
      { maxEventBytes: 2e12 },
      'maxEventBytes must be an integer >= 1 and <= 1000000000000, got 2000000000000',
    ],
  ])('resolveRunServiceOptions refuses %o', (options, problem) => {
    expect(() => resolveRunServiceOptions(options)).toThrow(
      new RangeError(`Cannot start runs: ${problem}`),
    )
  })

  it('resolveRunServiceOptions names every value that is out of range', () => {
    const resolve = () => resolveRunServiceOptions({ maxQueuedRuns: -1, leaseMs: 0 })
    expect(resolve).toThrow(/maxQueuedRuns .*got -1; leaseMs .*got 0$/)
  })
})
