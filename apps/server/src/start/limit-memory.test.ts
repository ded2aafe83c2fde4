import { spawnSync } from 'node:child_process'

import { expect, test } from 'vitest'

const SOURCE = new URL('limit-memory.ts', import.meta.url).href

/** Runs a script in a child process, as V8 flags apply to the whole process. Returns its output. */
function runScript(script: string): string {
  const program = `import { collectOnce, limitMemory } from ${JSON.stringify(SOURCE)}\n${script}`
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program],
    { encoding: 'utf8' },
  )
  expect(stderr).toBe('')
  return stdout.trim()
}

/** Creates short-lived and longer-lived garbage, and prints the size of the young generation in MiB. */
const WORK = `
  import { getHeapSpaceStatistics } from 'node:v8'
  const kept = []
  for (let n = 0; n < 400_000; n += 1) kept[n % 50_000] = { n, text: 'x'.repeat(9) + n }
  const young = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')
  console.log(Math.round(young.space_size / 2 ** 20))`

test('limitMemory stops the young generation from growing', () => {
  const free = Number(runScript(WORK))
  const limited = Number(runScript(`limitMemory()\n${WORK}`))
  expect(limited).toBeLessThan(free / 2)
})

test('collectOnce collects unreferenced objects, and does not leave `gc` exposed', () => {
  const script = `
    let big = { text: 'x' }
    const weak = new WeakRef(big)
    big = undefined
    await new Promise((resolve) => setTimeout(resolve))
    collectOnce()
    console.log(weak.deref() === undefined, typeof globalThis.gc)`
  expect(runScript(script)).toBe('true undefined')
})
