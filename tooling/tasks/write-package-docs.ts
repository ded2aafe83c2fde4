/** Writes `docs/` of each public package, which is packed with it. Part of every build. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { packagedPages } from '../packages/package-docs.ts'
import { publicPackages } from '../packages/pack.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

for (const each of publicPackages()) {
  const folder = join(ROOT, each.directory)
  rmSync(join(folder, 'docs'), { recursive: true, force: true })
  for (const { path, text } of packagedPages(ROOT, each)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}
