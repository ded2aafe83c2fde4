/**
 * Measures the time to import a built package in addition to TypeBox, in milliseconds: the median of new
 * processes.
 */
import { spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

import { sized } from './lib/form.ts'
import { median } from './lib/measure.ts'
import { formatNumber, printTable } from './lib/report.ts'

const RUNS = sized(21, 1)

const core = createRequire(new URL('../../packages/core/package.json', import.meta.url))
const typebox = pathToFileURL(core.resolve('typebox')).href
const packages = ['protocol', 'core', 'ensemble', 'client'].map((name) => ({
  name: `@tutti/${name}`,
  url: new URL(`../../packages/${name}/dist/index.js`, import.meta.url).href,
}))

printTable({
  title: 'Import of a package in addition to TypeBox',
  columns: ['package', 'ms'],
  rows: [
    ['TypeBox itself', medianOf(() => importMs([], typebox))],
    ...packages.map(({ name, url }) => [name, medianOf(() => importMs([typebox], url))]),
  ],
})

/** Measures the import of `url` in a new process that has imported `before`. */
function importMs(before: readonly string[], url: string): number {
  const script = `
    for (const url of ${JSON.stringify(before)}) await import(url)
    const startedAt = performance.now()
    await import(${JSON.stringify(url)})
    console.log(performance.now() - startedAt)`
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', script],
    { encoding: 'utf8' },
  )
  if (stderr !== '') throw new Error(stderr)
  return Number(stdout)
}

function medianOf(measure: () => number): string {
  return formatNumber(median(Array.from({ length: RUNS }, measure)))
}
