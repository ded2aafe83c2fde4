/** Bundles of the client, with and without its story, as scripts for a page. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { build } from 'tsdown'

/** Bundles a module that exports `tellStory`, with all its dependencies, from the sources. */
export function bundleStory(): Promise<string> {
  return bundle('./story.ts')
}

/** Bundles the client alone, as an application does. */
export function bundleClient(): Promise<string> {
  return bundle('../../src/index.ts')
}

async function bundle(path: string): Promise<string> {
  const outDir = mkdtempSync(join(tmpdir(), 'tutti-bundle-'))
  try {
    await build({
      entry: { module: fileURLToPath(new URL(path, import.meta.url)) },
      config: false,
      outDir,
      format: 'esm',
      platform: 'browser',
      target: 'es2023',
      minify: true,
      dts: false,
      clean: false,
      logLevel: 'error',
      // Only Node modules stay external: an import of one would stay in the script.
      deps: { alwaysBundle: [/^(?!node:)/] },
      inputOptions: {
        resolve: { conditionNames: ['@tutti/source', 'browser', 'import', 'default'] },
      },
    })
    const [file = ''] = readdirSync(outDir)
    return readFileSync(join(outDir, file), 'utf8')
  } finally {
    rmSync(outDir, { recursive: true })
  }
}
