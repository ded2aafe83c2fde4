import { expect, it } from 'vitest'

import { Draws } from './draw.ts'
import {
  addFeatures,
  planDeploys,
  planEmbeddedFaults,
  planFaults,
  planKills,
  planRuns,
  type PlannedFault,
} from './plan.ts'

it('The plan plans the same runs and faults for the same seed, and others for another seed', () => {
  expect(planRuns(7, 50)).toEqual(planRuns(7, 50))
  expect(planRuns(7, 50)).not.toEqual(planRuns(8, 50))
  const faults = (seed: number) => firstFaults(50, seed)
  expect(faults(7)).toEqual(faults(7))
  expect(faults(7)).not.toEqual(faults(8))
})

it('The plan plans the same first runs for any number of runs', () => {
  expect(planRuns(7, 50).slice(0, 10)).toEqual(planRuns(7, 10))
})

it('The plan gives each run a separate idempotency key', () => {
  const keys = planRuns(7, 50).map(({ idempotencyKey }) => idempotencyKey)
  expect(new Set(keys).size).toBe(50)
})

it('The plan plans each feature several times, and each among the first runs', () => {
  const runs = addFeatures(7, planRuns(7, 100))
  expect(runs).toEqual(addFeatures(7, planRuns(7, 100)))
  const kinds = runs.map(({ threadId, maxTokens, followUp }) =>
    threadId === undefined ? (maxTokens === undefined ? followUp : 'budget') : 'turn',
  )
  for (const kind of [
    'turn',
    'budget',
    'fork',
    'fork_waiting',
    'delete',
    'fork_and_delete',
  ] as const) {
    expect(kinds.slice(0, 8)).toContain(kind)
    expect(kinds.filter((other) => other === kind).length).toBeGreaterThan(1)
  }
  expect(runs.filter(({ hasWebhook }) => hasWebhook).length).toBeGreaterThan(5)
  expect(runs.filter(({ isReadRaw }) => isReadRaw).length).toBeGreaterThan(5)
})

it('The plan plans a kill, a lock and refused writes first for the only process', () => {
  const faults = planEmbeddedFaults(7)
  const kinds = Array.from({ length: 200 }, () => faults.next().value.kind)
  expect(kinds.slice(0, 3)).toEqual(['kill_worker', 'lock_store', 'refuse_writes'])
  expect(new Set(kinds)).toEqual(
    new Set(['kill_worker', 'freeze_worker', 'stop_worker', 'lock_store', 'refuse_writes']),
  )
})

it('The plan freezes a process for longer than its lease', () => {
  const frozen = firstFaults(500, 7).filter(({ kind }) => kind === 'freeze_worker')
  expect(frozen.length).toBeGreaterThan(20)
  for (const { lastsMs } of frozen) expect(lastsMs).toBeGreaterThan(2_000)
})

it('The plan fails over once, when a few other faults have happened', () => {
  const kinds = firstFaults(500, 7).map(({ kind }) => kind)
  expect(kinds.indexOf('fail_over')).toBe(3)
  expect(kinds.filter((kind) => kind === 'fail_over')).toHaveLength(1)
})

it('The plan plans faults of NATS only with NATS, each kind several times, and two among the first', () => {
  const ofNats = (hasNats: boolean) =>
    firstFaults(1_000, 7, hasNats).flatMap(({ kind }) => (kind.includes('nats') ? [kind] : []))
  expect(ofNats(false)).toEqual([])
  const counts = Map.groupBy(ofNats(true), (kind) => kind)
  for (const kind of [
    'kill_nats_leader',
    'stop_nats',
    'freeze_nats',
    'cut_from_nats',
    'refuse_nats',
  ] as const) {
    expect(counts.get(kind)?.length).toBeGreaterThan(5)
  }
  const kinds = firstFaults(5, 7, true).map(({ kind }) => kind)
  expect(kinds).toMatchObject({
    2: 'kill_nats_leader',
    3: 'fail_over',
    4: 'refuse_nats',
  })
})

it('The plan plans each build after the first once, during the submissions, and only kills meanwhile', () => {
  const deploys = planDeploys(7, { runs: 200, deploys: 3 })
  expect(deploys).toEqual(planDeploys(7, { runs: 200, deploys: 3 }))
  expect(deploys.map(({ build }) => build)).toEqual(['v2', 'v3', 'v4'])
  expect(planDeploys(7, { runs: 200, deploys: 1 })).toMatchObject([{ build: 'v2' }])
  const after = deploys.map(({ afterRuns }) => afterRuns)
  expect(after).toEqual(after.toSorted((a, b) => a - b))
  expect(Math.max(...after)).toBeLessThan(200)
  const kills = planKills(7)
  for (let count = 0; count < 50; count += 1) expect(kills.next().value.kind).toMatch(/^kill_/)
})

it('The plan draws evenly, and picks by weight', () => {
  const draws = new Draws(1, 'test')
  const values = Array.from({ length: 10_000 }, () => draws.next())
  expect(values.reduce((sum, value) => sum + value) / values.length).toBeCloseTo(0.5, 1)
  expect(Math.min(...values)).toBeLessThan(0.01)
  expect(Math.max(...values)).toBeGreaterThan(0.99)
  const picked = Array.from({ length: 4_000 }, () => draws.pick({ often: 3, seldom: 1, never: 0 }))
  expect(picked.filter((key) => key === 'often').length / picked.length).toBeCloseTo(0.75, 1)
  expect(picked).not.toContain('never')
})

function firstFaults(count: number, seed: number, hasNats = false): readonly PlannedFault[] {
  const faults = planFaults(seed, { leaseMs: 2_000, failover: 'fail_over', hasNats })
  return Array.from({ length: count }, () => faults.next().value)
}
