/** The client and its story as one script for a page. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { build } from 'tsdown'

/** A module that exports `tellStory`, with everything it is made of, from the sources. */
export function bundleStory(): Promise<string> {
  return bundle('./story.ts')
}

/** The client alone, as an application takes it in. */
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
      // Nothing is left outside: an import of a module of Node would stay in the script.
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
