/** Writes the version of the server into each file that names its image. Part of a release, after the new version is set. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { listFiles, setServerVersion } from './image-references.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const manifest = readFileSync(join(ROOT, 'apps/server/package.json'), 'utf8')
const { version }: { readonly version: string } = JSON.parse(manifest)
for (const file of listFiles(ROOT)) {
  const path = join(ROOT, file)
  const text = readFileSync(path, 'utf8')
  const next = setServerVersion(text, version)
  if (next !== text) writeFileSync(path, next)
}
