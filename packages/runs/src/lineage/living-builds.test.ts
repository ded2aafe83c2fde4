import { fakeClock } from '@tutti/testing'
import { describe, expect, it } from 'vitest'

import { LivingBuilds } from './living-builds.ts'

import type { LivingBuild } from '../ports/build-store.ts'

const RUN = { runId: 'run-1', ensemble: 'band' }

function build(name: string): LivingBuild {
  return {
    build: name,
    ensemble: 'band',
    code: name,
    share: 100,
    firstStartedAt: 0,
    processes: 1,
  }
}

function open() {
  const clock = fakeClock()
  const store = { reads: 0, living: [build('v1')], isLost: false }
  const living = (): Promise<readonly LivingBuild[]> => {
    store.reads += 1
    return store.isLost ? Promise.reject(new Error('lost')) : Promise.resolve(store.living)
  }
  return { clock, store, builds: new LivingBuilds({ builds: { living } }, { clock }) }
}

describe('[RUNS-Z13] the list of living builds', () => {
  it('The list of living builds is read by a submit, at most every two seconds, and not by an idle process', async () => {
    const { clock, store, builds } = open()
    await clock.advance(60_000)
    expect(store.reads).toBe(0)
    expect(await builds.choose(RUN)).toMatchObject({ build: 'v1' })
    store.living = [build('v2')]
    await clock.advance(1_999)
    expect(await builds.choose(RUN)).toMatchObject({ build: 'v1' })
    await clock.advance(1)
    expect(await builds.choose(RUN)).toMatchObject({ build: 'v2' })
    expect(store.reads).toBe(2)
  })

  it('The list of living builds is read again by the next submit after a read that failed', async () => {
    const { store, builds } = open()
    store.isLost = true
    await expect(builds.choose(RUN)).rejects.toThrow('lost')
    store.isLost = false
    expect(await builds.choose(RUN)).toMatchObject({ build: 'v1' })
  })
})
