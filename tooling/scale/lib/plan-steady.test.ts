import { describe, expect, it } from 'vitest'

import { planHeldRuns, planSteadyFaults, planSteadyRuns } from './plan-steady.ts'
import { chooseSizes } from './sizes.ts'

describe.each(['whole', 'quick'])('the %s form', (form) => {
  const sizes = chooseSizes(form === 'quick')
  const plan = { steadyMs: sizes.steadyMs, runsPerSecond: 2 }

  it('A steady plan kills processes, and fails over once while runs are submitted', () => {
    const faults = [...planSteadyFaults(plan)]
    const kinds = faults.map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'fail_over')).toHaveLength(1)
    expect(kinds.filter((kind) => kind === 'kill_worker').length).toBeGreaterThanOrEqual(2)
    const lastMs = faults.reduce((sum, { afterMs }) => sum + afterMs, 0)
    expect(lastMs).toBeLessThan(sizes.steadyMs)
  })

  it('A steady plan submits runs for as long as the steady phase lasts', () => {
    const runs = planSteadyRuns(1, plan)
    const lastMs = runs.reduce((sum, { submitAfterMs }) => sum + submitAfterMs, 0)
    expect(lastMs).toBeLessThanOrEqual(sizes.steadyMs)
    expect(lastMs).toBeGreaterThan(0.9 * sizes.steadyMs)
    const perSecond = runs.length / (sizes.steadyMs / 1_000)
    expect(Math.abs(perSecond - plan.runsPerSecond)).toBeLessThan(0.7)
  })

  it('A steady plan has as many runs as must be owned, each with another key', () => {
    const { counted, others } = planHeldRuns(1, sizes)
    expect(counted).toHaveLength(sizes.counted)
    const all = [...counted, ...others, ...planSteadyRuns(1, plan)]
    expect(counted.length + others.length).toBe(sizes.owned)
    expect(new Set(all.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(all.length)
    expect(new Set(all.map(({ piece }) => piece)).size).toBe(all.length)
  })
})
