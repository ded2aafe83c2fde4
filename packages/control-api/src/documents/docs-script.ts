/** Reads the script of the page at `/docs`: from the built files, or from its package when running from source. */
import { readFile } from 'node:fs/promises'

import { TuttiError } from '@tutti/core'

/** Path relative to the built file; `tooling/build/docs-script.ts` copies it there. */
const BUILT = './docs/reference.js'

/** Path relative to the entry of the package. */
const IN_PACKAGE = './browser/standalone.js'

/**
 * Reads the script.
 *
 * @throws {TuttiError} NOT_FOUND when this installation has no script.
 */
export async function readDocsScript(): Promise<Uint8Array<ArrayBuffer>> {
  const tried: URL[] = []
  for (const find of [builtScript, packagedScript]) {
    const location = find()
    if (location === undefined) continue
    tried.push(location)
    const bytes = await readFile(location).catch(() => undefined)
    if (bytes !== undefined) return bytes
  }
  const paths = tried.map(({ pathname }) => pathname).join(', ')
  throw new TuttiError(
    'NOT_FOUND',
    `Cannot find the script of /docs at ${paths}; reinstall the package`,
  )
}

function builtScript(): URL {
  return new URL(BUILT, import.meta.url)
}

function packagedScript(): URL | undefined {
  try {
    return new URL(IN_PACKAGE, import.meta.resolve('@scalar/api-reference'))
  } catch {
    return undefined
  }
}
