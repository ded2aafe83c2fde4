import { expect, it } from 'vitest'

import { readTurn } from './read-turns.ts'

it('gives readers turns in order, the first at once and each other eight passes of the event loop later', async () => {
  let pass = 1
  const turns: string[] = []
  const read = async (name: string): Promise<void> => {
    await readTurn()
    turns.push(`${name} in pass ${pass}`)
  }
  const count = async (until: number): Promise<void> => {
    while (pass < until) {
      await new Promise((resolve) => setImmediate(resolve))
      pass += 1
    }
  }
  await Promise.all([read('a'), read('b'), read('c'), count(30)])
  await Promise.all([read('d'), count(40)])
  expect(turns).toEqual(['a in pass 1', 'b in pass 9', 'c in pass 17', 'd in pass 30'])
})
