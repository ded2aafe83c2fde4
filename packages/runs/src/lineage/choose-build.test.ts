import { describe, expect, it } from 'vitest'

import { chooseBuild } from './choose-build.ts'

import type { LivingBuild } from '../ports/build-store.ts'

function living(build: string, share: number, ensemble = 'band'): LivingBuild {
  return { build, ensemble, code: `code of ${build}`, share, firstStartedAt: 0, processes: 1 }
}

const RUNS = Array.from({ length: 2_000 }, (_, n) => `run-${n}`)

/** Returns the runs that each build gets. */
function choose(
  builds: readonly LivingBuild[],
): ReadonlyMap<string | undefined, readonly string[]> {
  return Map.groupBy(RUNS, (runId) => chooseBuild(builds, { runId, ensemble: 'band' })?.build)
}

function count(builds: readonly LivingBuild[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    [...choose(builds)].map(([build, runs]) => [String(build), runs.length]),
  )
}

describe('chooseBuild', () => {
  it('[RUNS-Z13] chooseBuild gives every run to the newest build that has the ensemble', () => {
    expect(count([living('v3', 100, 'choir'), living('v2', 100), living('v1', 100)])).toEqual({
      v2: 2_000,
    })
    expect(chooseBuild([living('v3', 100, 'choir')], { runId: 'a', ensemble: 'band' })).toBe(
      undefined,
    )
  })

  it('[RUNS-Z13] chooseBuild gives a build its share, and the others to older builds by their shares', () => {
    // The ids are fixed, so the counts are exact. A quarter, then half of the others.
    expect(count([living('v3', 25), living('v2', 50), living('v1', 100)])).toEqual({
      v3: 457,
      v2: 753,
      v1: 790,
    })
  })

  it('[RUNS-Z13] chooseBuild gives no run to a build with a share of 0, unless no older one lives', () => {
    expect(count([living('v2', 0), living('v1', 100)])).toEqual({ v1: 2_000 })
    expect(count([living('v2', 0), living('v1', 0)])).toEqual({ v1: 2_000 })
    expect(count([living('v2', 0)])).toEqual({ v2: 2_000 })
  })

  it('[RUNS-Z14] chooseBuild moves no run away from a build when its share grows', () => {
    const shares = [0, 1, 5, 25, 26, 75, 99, 100]
    const given = shares.map((share) => choose([living('v2', share), living('v1', 100)]).get('v2'))
    for (const [index, runs = []] of given.slice(1).entries()) {
      expect(runs).toEqual(expect.arrayContaining([...(given[index] ?? [])]))
    }
    expect(given.map((runs = []) => runs.length)).toEqual([
      0, 22, 93, 503, 524, 1_497, 1_985, 2_000,
    ])
  })
})
