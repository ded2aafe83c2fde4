import { fakeClock } from '../../../packages/testing/src/index.ts'
import { expect, it } from 'vitest'

import { Phases } from './phases.ts'

it('The runner of phases returns the result of a phase, and does not report it', async () => {
  const { phases, said } = setUp()
  expect(await phases.run('Loading', 1_000, () => Promise.resolve(7))).toBe(7)
  expect(phases.problems).toEqual([])
  expect(said).toEqual(['Loading'])
})

it('The runner of phases reports a phase that fails with its reason, and runs the next one', async () => {
  const { phases } = setUp()
  const failed = await phases.run('Loading', 1_000, () => Promise.reject(new Error('disk full')))
  expect(failed).toBeUndefined()
  expect(await phases.run('Claims', 1_000, () => Promise.resolve('fast'))).toBe('fast')
  expect(phases.problems).toEqual(['Loading: disk full'])
})

it('The runner of phases reports a phase that takes too long, and ends what it left behind', async () => {
  const { phases, clock, ended } = setUp()
  const { promise: forever, reject } = Promise.withResolvers<never>()
  const late = phases.run('Loading', 5_000, () => forever)
  await clock.advance(5_000)
  expect(await late).toBeUndefined()
  expect(phases.problems).toEqual(['Loading: took longer than 5 s'])
  expect(ended()).toBe(1)
  reject(new Error('the connection was cut'))
})

function setUp() {
  const clock = fakeClock()
  const said: string[] = []
  let ended = 0
  const phases = new Phases({
    clock,
    say: (text) => said.push(text),
    onLate: () => Promise.resolve((ended += 1)),
  })
  return { phases, clock, said, ended: () => ended }
}
