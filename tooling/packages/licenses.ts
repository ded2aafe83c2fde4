/** Lists the third-party packages that an install of our packages or the image contains, with their licenses. */
import { existsSync, globSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'

import type { PackedManifest } from './tarball.ts'

/** Third-party package with its license, as an SPDX expression. */
export interface LicensedPackage {
  readonly name: string
  readonly version: string
  readonly license: string
}

/** Manifests whose dependencies users install, or the image contains. */
const SHIPPED_MANIFESTS = [
  'packages/*/package.json',
  'apps/server/package.json',
  'tooling/image/package.json',
]

/**
 * Lists the dependencies of all shipped packages, also those that a user installs on demand, sorted by name and version.
 * `root` is the root of the repository, whose dependencies are installed.
 */
export function listShippedPackages(root: string): readonly LicensedPackage[] {
  const manifests = globSync([...SHIPPED_MANIFESTS], { cwd: root })
  const folders = new Set(manifests.map((path) => realpathSync(join(root, dirname(path)))))
  for (const folder of folders) for (const needed of neededFolders(folder)) folders.add(needed)
  return [...folders]
    .filter((folder) => folder.includes('/node_modules/'))
    .map((folder) => {
      const { name, version, license = 'none' } = manifestIn(folder)
      return { name, version, license }
    })
    .toSorted((a, b) => (`${a.name}@${a.version}` < `${b.name}@${b.version}` ? -1 : 1))
}

/** pnpm links the dependencies of a package next to it, and those of a workspace package below it. */
function neededFolders(folder: string): readonly string[] {
  const { dependencies, optionalDependencies, peerDependencies } = manifestIn(folder)
  const [store] = /^.*\/node_modules(?=\/)/.exec(folder) ?? []
  const modules = store ?? join(folder, 'node_modules')
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies })
    .map((name) => join(modules, name))
    .filter((path) => existsSync(path))
    .map((path) => realpathSync(path))
}

function manifestIn(folder: string): PackedManifest {
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
}
