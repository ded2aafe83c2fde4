/** Limits what a browser loads before the first page. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

import { describe, expect, it } from 'vitest'

const DIST =
  process.env['TUTTI_TEST_DASHBOARD'] ?? fileURLToPath(new URL('../dist', import.meta.url))

/** Maximum compressed size of the scripts on first load, in bytes; the documentation promises it. */
const MAX_SCRIPT_BYTES = 250_000

describe('the first load', () => {
  it('The first load has at most 250 kB of compressed scripts', () => {
    const bytes = firstScripts().reduce((sum, file) => sum + gzipSync(file).length, 0)
    expect(bytes).toBeGreaterThan(50_000)
    expect(bytes).toBeLessThan(MAX_SCRIPT_BYTES)
  })

  it('The first load has no inline scripts and styles', () => {
    const page = readFileSync(join(DIST, 'index.html'), 'utf8')
    expect(page).not.toMatch(/<script(?![^>]* src=)[^>]*>/)
    expect(page).not.toMatch(/<style|style=| on\w+=/)
  })
})

/** Returns the scripts of the page and their static imports. */
function firstScripts(): readonly Buffer[] {
  const page = readFileSync(join(DIST, 'index.html'), 'utf8')
  const found = new Map<string, Buffer>()
  const take = (name: string): void => {
    if (found.has(name)) return
    const script = readFileSync(join(DIST, 'assets', name))
    found.set(name, script)
    for (const [, , inner] of script.toString().matchAll(/(from|import)\s*"\.\/([^"]+\.js)"/g)) {
      if (inner !== undefined) take(inner)
    }
  }
  for (const [, name] of page.matchAll(/(?:src|href)="\.\/assets\/([^"]+\.js)"/g)) {
    if (name !== undefined) take(name)
  }
  return [...found.values()]
}
