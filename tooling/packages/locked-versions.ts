/** Reads the versions of the lock file, for installs outside of this repository. */
import { readFileSync } from 'node:fs'

import { parse } from 'yaml'

/**
 * Returns the versions in the lock file, for packages with a single version there. The result of a test then
 * does not depend on new releases, and the packages are already in the store.
 */
export function lockedVersions(): Readonly<Record<string, string>> {
  const lock: unknown = parse(readFileSync('pnpm-lock.yaml', 'utf8'))
  const versions = new Map<string, Set<string>>()
  for (const entry of Object.keys(packagesOf(lock))) {
    const at = entry.lastIndexOf('@')
    const name = entry.slice(0, at)
    versions.set(name, (versions.get(name) ?? new Set()).add(entry.slice(at + 1)))
  }
  return Object.fromEntries(
    [...versions].flatMap(([name, [first, ...others]]) =>
      first === undefined || others.length > 0 ? [] : [[name, first]],
    ),
  )
}

function packagesOf(lock: unknown): object {
  const hasPackages = typeof lock === 'object' && lock !== null && 'packages' in lock
  if (!hasPackages || typeof lock.packages !== 'object' || lock.packages === null) {
    throw new Error('pnpm-lock.yaml names no packages')
  }
  return lock.packages
}
