/** Finds the script of the page at `/docs`: the build puts it beside itself, sources have the package. */
import { readFile } from 'node:fs/promises'

import { TuttiError } from '@tutti/core'

/** Beside the built file; see `tooling/build/docs-script.ts`. */
const BUILT = './docs/reference.js'

/** In the package, seen from its entry. */
const IN_PACKAGE = './browser/standalone.js'

/**
 * Reads the script.
 *
 * @throws {TuttiError} NOT_FOUND when this installation does not have it.
 */
export async function readDocsScript(): Promise<Uint8Array<ArrayBuffer>> {
  const tried: URL[] = []
  for (const find of [builtScript, packagedScript]) {
    const place = find()
    if (place === undefined) continue
    tried.push(place)
    const bytes = await readFile(place).catch(() => undefined)
    if (bytes !== undefined) return bytes
  }
  const places = tried.map(({ pathname }) => pathname).join(', ')
  throw new TuttiError(
    'NOT_FOUND',
    `The script of /docs is missing in this installation: it is not at ${places}`,
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
