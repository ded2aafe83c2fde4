/** Facts about this program from its package manifest. */
import { createRequire } from 'node:module'

/** Returns the version of this program. */
export function programVersion(): string {
  return manifest().version
}

/** Returns the range of supported Node versions, such as `>=22.18`. */
export function supportedNodeRange(): string {
  return manifest().engines.node
}

interface Manifest {
  readonly version: string
  readonly engines: { readonly node: string }
}

/** Loads the manifest by the name of the package, which works for the sources and for the build. */
function manifest(): Manifest {
  // NOTE: this is the manifest of this package, which has both fields.
  return createRequire(import.meta.url)('@tutti/server/package.json') as Manifest
}
