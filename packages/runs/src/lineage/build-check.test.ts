import { ensemble, task } from '@tutti/ensemble'
import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { fakeStorage, FakeQueue } from '../../test/fake-storage.ts'
import { toWholeCode } from '../domain/claim-key.ts'
import { resolveRunServiceOptions } from '../settings/options.ts'
import { BUILD_CHECK_MS, BuildCheck } from './build-check.ts'
import { LivingBuilds } from './living-builds.ts'
import { RunEnsembles } from '../request/run-ensembles.ts'

import type { BuildStore, LivingBuild, RunMove, StrandedRun } from '../ports/build-store.ts'

const ensembles = new RunEnsembles(
  [
    ensemble({
      name: 'band',
      tasks: [task({ name: 'play', description: 'Play', handler: String })],
    }),
  ],
  { tools: undefined, models: undefined },
)

const OWN = { build: 'v1', ensemble: 'band', code: ensembles.codes['band'] ?? '' }
const NEWEST = { build: 'v2', ensemble: 'band', code: 'bbbb' }

function living(build: Pick<LivingBuild, 'build' | 'ensemble' | 'code'>): LivingBuild {
  return { ...build, share: 100, firstStartedAt: 0, processes: 1 }
}

function stranded(runId: string, more: Partial<StrandedRun> = {}): StrandedRun {
  const code = { build: 'v3', ensemble: 'band', code: 'cccc' }
  const run = { isHeld: false, isCancelling: false, hasBegun: false, isFixed: false, ...more }
  return { runId, token: `token of ${runId}`, ...code, ...run }
}

/** Starts the checks of a process over a store with these builds. */
function start(builds: Partial<BuildStore>) {
  const clock = fakeClock()
  const warned: string[] = []
  const ignore = (): void => undefined
  const logger = {
    debug: ignore,
    info: ignore,
    warn: (text: string) => warned.push(text),
    error: ignore,
  }
  const settings = resolveRunServiceOptions({ clock, logger, buildShare: 25 })
  // NOTE: a check only uses the methods that its test provides.
  const queue = new FakeQueue()
  const storage = { ...fakeStorage({ queue }), builds: builds as BuildStore }
  const parts = { storage, ensembles, settings, living: new LivingBuilds(storage, settings) }
  const stop = new BuildCheck({ ...parts, build: 'v1' }).start()
  return { clock, queue, warned, stop }
}

describe('BuildCheck', () => {
  it('[RUNS-Z6] BuildCheck registers its build at the next check if the store could not be reached', async () => {
    const registered: unknown[] = []
    const { clock, warned, stop } = start({
      register: async (build) => {
        registered.push([build.build, build.share, build.ensembles.map(({ code }) => code)])
        if (registered.length === 1) throw new Error('no connection')
      },
      living: async () => [living(OWN)],
      findStranded: async () => [],
    })
    await clock.advance(BUILD_CHECK_MS)
    await clock.advance(BUILD_CHECK_MS)
    const whole = toWholeCode(OWN.ensemble, { [OWN.ensemble]: OWN.code })
    const own = ['v1', 25, [OWN.code, whole]]
    expect(registered).toEqual([own, own])
    expect(warned).toEqual(['Failed to check runs of other builds'])
    stop()
  })

  it('[RUNS-Z15] BuildCheck moves runs that have not begun to the builds that live now, all of them in one check', async () => {
    const pages = [
      Array.from({ length: 500 }, (_, n) => stranded(`run-${n}`)),
      [stranded('last')],
      [],
    ]
    const moves: RunMove[][] = []
    const { clock, stop } = start({
      register: async () => undefined,
      living: async () => [living(NEWEST), living(OWN)],
      findStranded: async () => pages.shift() ?? [],
      move: async (asked) => {
        moves.push([...asked])
        return asked.map(({ runId }) => runId)
      },
    })
    await clock.advance(0)
    expect(moves.map(({ length }) => length)).toEqual([500, 1])
    expect(moves[1]).toEqual([
      {
        runId: 'last',
        token: 'token of last',
        to: { build: 'v2', code: 'bbbb', isFixed: false },
      },
    ])
    stop()
  })

  it('[RUNS-Z18] BuildCheck reads the store again only when a poll has found runs to check', async () => {
    let checks = 0
    const { clock, queue, stop } = start({
      register: async () => undefined,
      findStranded: async () => {
        checks += 1
        return []
      },
    })
    await clock.advance(100 * BUILD_CHECK_MS)
    expect(checks).toBe(1)
    queue.hasStranded = true
    await clock.advance(BUILD_CHECK_MS)
    expect(checks).toBe(2)
    queue.hasStranded = false
    await clock.advance(100 * BUILD_CHECK_MS)
    expect(checks).toBe(2)
    stop()
  })

  it('[RUNS-Z15] BuildCheck moves runs to its own code if no build is known to live', async () => {
    const moves: RunMove[][] = []
    const pages = [[stranded('run-a')]]
    const { clock, stop } = start({
      register: async () => undefined,
      living: async () => [],
      findStranded: async () => pages.shift() ?? [],
      move: async (asked) => {
        moves.push([...asked])
        return asked.map(({ runId }) => runId)
      },
    })
    await clock.advance(0)
    expect(moves[0]?.[0]?.to).toEqual({ build: 'v1', code: OWN.code })
    stop()
  })
})
