/** Measures an install: a package and all its dependencies. */
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'

import type { PackedManifest } from './tarball.ts'

/** Contents of an install. */
export interface Installed {
  /** Number of third-party packages. */
  readonly others: readonly string[]
  /** Size of all files, unpacked. */
  readonly bytes: number
}

/** Measures `name` and its dependencies, installed in `folder` by pnpm. */
export function installedWith(name: string, folder: string): Installed {
  const packages = new Set([realpathSync(join(folder, 'node_modules', name))])
  for (const path of packages) for (const needed of neededBy(path)) packages.add(needed)
  const isOther = (path: string): boolean => !/^(?:@tutti\/|create-tutti$)/.test(nameIn(path))
  return {
    others: [...packages].filter(isOther).map(nameIn).toSorted(),
    bytes: [...packages].reduce((sum, path) => sum + bytesIn(path), 0),
  }
}

/** pnpm puts the dependencies of a package next to it. */
function neededBy(path: string): readonly string[] {
  const manifest: PackedManifest = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'))
  const names = Object.keys({
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.peerDependencies,
  })
  const modules = path.slice(0, path.lastIndexOf('/node_modules/') + '/node_modules'.length)
  return names
    .map((name) => join(modules, name))
    .filter((directory) => existsSync(directory))
    .map((directory) => realpathSync(directory))
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf('/node_modules/') + '/node_modules/'.length)
}

function bytesIn(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}
