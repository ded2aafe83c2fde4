/**
 * Writes the pages of `docs/reference/` from the code, the performance page and the production page's envelope from the
 * recorded benchmark results, the tables of foreign clients from the tests, the notes on the use of a clone, and `llms.txt` from
 * all pages. With `--check` it does not write, and fails if a file is outdated.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'

import { readResults } from '../bench/lib/results.ts'
import { formatLlmsText } from '../docs/llms.ts'
import { readPages } from '../docs/pages.ts'
import { CLONE_NOTES, replaceCloneNote } from '../reference/clone-note.ts'
import { replaceClientFeatures } from '../reference/client-features.ts'
import { decisionsPage } from '../docs/decisions-page.ts'
import { replaceEnvelope } from '../reference/envelope-section.ts'
import { replaceForeignCases } from '../reference/foreign-cases.ts'
import { performancePage } from '../reference/performance-page.ts'
import { referencePages } from '../reference/reference-pages.ts'
import { schemaDescriptions } from '../reference/schema-descriptions.ts'

const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
let stale = 0
for (const { path, text } of referencePages()) bring(path, text)
bring('packages/control-api/src/documents/schema-descriptions.ts', schemaDescriptions())
bring('docs/performance.md', performancePage(readResults()))
bring(
  'docs/production.md',
  replaceEnvelope(readFileSync('docs/production.md', 'utf8'), readResults()),
)
const foreignClients = readFileSync('docs/how-to/foreign-clients.md', 'utf8')
bring('docs/how-to/foreign-clients.md', replaceClientFeatures(replaceForeignCases(foreignClients)))
for (const path of CLONE_NOTES.keys()) {
  bring(path, replaceCloneNote(readFileSync(path, 'utf8'), path))
}
bring('docs/decisions/README.md', decisionsPage(readPages('.')))
// After the pages that it lists.
bring('llms.txt', formatLlmsText(readPages('.')))
process.exitCode = values.check && stale > 0 ? 1 : 0

function bring(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return
  stale += 1
  if (values.check) {
    console.error(`${path} is out of date`)
    return
  }
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  console.log(`wrote ${path}`)
}
