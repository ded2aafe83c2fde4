/**
 * Measures every public package and compares it with its budget, `package-sizes.json`, the packages page and
 * the READMEs. With `--write` it updates the sizes, the page and the READMEs; budgets are raised by hand.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

import { overBudget, type Budgets } from '../packages/budgets.ts'
import { freshFolders } from '../packages/fresh-folders.ts'
import { publicPackages } from '../packages/pack.ts'
import { measureSizes, sizeChanges, type PackageSizes } from '../packages/sizes.ts'
import { packagesPage, withSizeLine } from '../reference/packages-page.ts'

const NOTED = 'tooling/reference/package-sizes.json'
const BUDGETS = 'tooling/packages/budgets.json'
const PAGE = 'docs/reference/packages.md'

const { values } = parseArgs({ options: { write: { type: 'boolean', default: false } } })
using fresh = await freshFolders()
const now = await measureSizes(fresh)
const before = readSizes()
const changes = sizeChanges(before, now)
if (values.write && changes.length > 0) {
  writeFileSync(NOTED, `${JSON.stringify(now, null, 2)}\n`)
  console.log(`wrote ${NOTED}`)
}
const noted = values.write && changes.length > 0 ? now : before
const problems = [
  ...(values.write ? [] : changes.map((change) => `${change}; ${NOTED} is out of date`)),
  ...overBudget(now, readBudgets()),
  ...pages(noted).flatMap(({ path, text }) => stale(path, text)),
]
for (const problem of problems) console.error(problem)
process.exitCode = problems.length === 0 ? 0 : 1

function pages(sizes: PackageSizes): readonly { readonly path: string; readonly text: string }[] {
  const readmes = publicPackages().flatMap(({ name, directory }) => {
    const path = join(directory, 'README.md')
    const size = sizes[name]
    if (size === undefined || !existsSync(path)) return []
    return [{ path, text: withSizeLine(readFileSync(path, 'utf8'), name, size) }]
  })
  return [{ path: PAGE, text: packagesPage(sizes) }, ...readmes]
}

function stale(path: string, text: string): readonly string[] {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return []
  if (!values.write) return [`${path} is out of date`]
  writeFileSync(path, text)
  console.log(`wrote ${path}`)
  return []
}

function readSizes(): PackageSizes {
  return existsSync(NOTED) ? JSON.parse(readFileSync(NOTED, 'utf8')) : {}
}

function readBudgets(): Budgets {
  return JSON.parse(readFileSync(BUDGETS, 'utf8'))
}
