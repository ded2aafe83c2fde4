import { spawnSync } from 'node:child_process'

import { expect, test } from 'vitest'

const SOURCE = new URL('limit-memory.ts', import.meta.url).href

/** What a process of its own prints: the flags are those of a whole process. */
function printed(script: string): string {
  const program = `import { collectOnce, limitMemory } from ${JSON.stringify(SOURCE)}\n${script}`
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program],
    { encoding: 'utf8' },
  )
  expect(stderr).toBe('')
  return stdout.trim()
}

/** Makes garbage of which some lives for a while, and prints the space for young objects, in MiB. */
const WORK = `
  import { getHeapSpaceStatistics } from 'node:v8'
  const kept = []
  for (let n = 0; n < 400_000; n += 1) kept[n % 50_000] = { n, text: 'x'.repeat(9) + n }
  const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')
  console.log(Math.round(young.space_size / 2 ** 20))`

test('the space for young objects does not grow with the work', () => {
  const free = Number(printed(WORK))
  const limited = Number(printed(`limitMemory()\n${WORK}`))
  expect(limited).toBeLessThan(free / 2)
})

test('what nobody holds is collected, and the program cannot see how', () => {
  const script = `
    let big = { text: 'x' }
    const weak = new WeakRef(big)
    big = undefined
    await new Promise((resolve) => setTimeout(resolve))
    collectOnce()
    console.log(weak.deref() === undefined, typeof globalThis.gc)`
  expect(printed(script)).toBe('true undefined')
})
