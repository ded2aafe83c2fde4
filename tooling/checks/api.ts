/**
 * Compares the types of every entry point with the report in `packages/…/api/`, so that the diff of a change
 * shows what users of the package will notice. With `--write` it writes the reports. Packages must be built.
 */
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'

import { apiReports } from '../packages/api-reports.ts'

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } })
const folder = mkdtempSync(join(tmpdir(), 'tutti-api-'))
let problems = 0
try {
  const reports = apiReports(folder)
  for (const [path, text] of reports) {
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text) differs(path, text)
  }
  const left = globSync('{packages,apps}/*/api/**/*.api.md').filter((path) => !reports.has(path))
  for (const path of left) isLeft(path)
} finally {
  rmSync(folder, { recursive: true })
}
process.exitCode = problems === 0 ? 0 : 1

function differs(path: string, text: string): void {
  if (values.write) {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    console.log(`wrote ${path}`)
    return
  }
  problems += 1
  const now = join(folder, 'now.api.md')
  writeFileSync(now, text)
  const before = existsSync(path) ? path : '/dev/null'
  const { stdout } = spawnSync('git', ['diff', '--no-index', '--unified=2', before, now], {
    encoding: 'utf8',
  })
  console.error(`${path} is out of date:\n${stdout}`)
}

function isLeft(path: string): void {
  if (values.write) {
    rmSync(path)
    console.log(`removed ${path}`)
    return
  }
  problems += 1
  console.error(`${path} is the report of an entry point that does not exist`)
}
