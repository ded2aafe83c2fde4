/** What the package says of this program. */
import { createRequire } from 'node:module'

/** Its version. */
export function programVersion(): string {
  return manifest().version
}

/** The versions of Node that it runs on, such as `>=22.13`. */
export function neededNode(): string {
  return manifest().engines.node
}

interface Manifest {
  readonly version: string
  readonly engines: { readonly node: string }
}

/** Sources and the built program are in different folders; the package finds itself from both. */
function manifest(): Manifest {
  // NOTE: the manifest of this package, which has both.
  return createRequire(import.meta.url)('@tutti/server/package.json') as Manifest
}
