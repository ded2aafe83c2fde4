/**
 * Writes the pages of `docs/reference/` from the tables of `@tutti/protocol`. With `--check` it writes
 * nothing and fails when a page is not what it would write.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'

import { referencePages } from '../reference/reference-pages.ts'

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
const stale = referencePages().filter(
  ({ path, text }) => !existsSync(path) || readFileSync(path, 'utf8') !== text,
)
for (const { path, text } of stale) {
  if (values.check) {
    console.error(`${path} is out of date`)
  } else {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    console.log(`wrote ${path}`)
  }
}
process.exitCode = values.check && stale.length > 0 ? 1 : 0
