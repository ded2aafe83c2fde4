/**
 * Compares the types of every entry point with the report in `packages/…/api/`, so that the diff of a change
 * shows what users of the package will notice. With `--write` it writes the reports. Packages must be built.
 *
 * Each name for users is a promise, so their number is limited, and each needs a docstring.
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

/** Maximum number of names for users. A key is the start of a report's path. */
const MAX_NAMES: Readonly<Record<string, number>> = {
  '': 450,
  'packages/core/': 35,
  'packages/ensemble/': 85,
}

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
  checkNames(reports)
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

function checkNames(reports: ReadonlyMap<string, string>): void {
  const names = [...reports].flatMap(([path, report]) =>
    listNames(report).map((each) => ({ path, ...each })),
  )
  for (const [start, limit] of Object.entries(MAX_NAMES)) {
    const { size } = new Set(
      names.filter(({ path }) => path.startsWith(start)).map(({ name }) => name),
    )
    if (size > limit)
      reject(`${start || 'packages'} has ${size} names for users, more than ${limit}`)
  }
  const documented = new Set(names.filter((each) => each.isDocumented).map(({ name }) => name))
  for (const { path, name } of names) {
    if (!documented.has(name)) reject(`${path}: ${name} needs a docstring`)
  }
}

/** Returns the declarations of a report. One docstring documents all overloads, and a schema with its type. */
function listNames(report: string): readonly { name: string; isDocumented: boolean }[] {
  const found = report.matchAll(
    /^\/\/ (@.*)\nexport (?:declare )?(?:abstract )?(?:function|const|interface|type|class) (\w+)/gm,
  )
  const declared = [...found].map(([, tags = '', name = '']) => ({
    name,
    isDocumented: !tags.includes('(undocumented)'),
  }))
  // Names of other packages have their docstrings there.
  const passedOn = [...report.matchAll(/^export \{ (?:type )?(\w+) \}/gm)]
  return [...declared, ...passedOn.map(([, name = '']) => ({ name, isDocumented: true }))]
}

function reject(message: string): void {
  problems += 1
  console.error(message)
}

function isLeft(path: string): void {
  if (values.write) {
    rmSync(path)
    console.log(`removed ${path}`)
    return
  }
  reject(`${path} is the report of an entry point that does not exist`)
}
