/**
 * Installs each public package alone, as its users do: packed, in a separate folder outside this repository,
 * with only its declared dependencies in reach. Optional peers are not installed.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { stringify } from 'yaml'

import { lockedVersions } from './locked-versions.ts'
import { packPackages, runPnpm } from './pack.ts'
import { readTarball, type PackedManifest } from './tarball.ts'

/** A package alone in a folder. */
export interface FreshFolder {
  readonly path: string
  readonly manifest: PackedManifest
  /** Path of its tarball. */
  readonly tarball: string
}

/** All packages, each in its folder. Disposing removes the folders. */
export interface FreshFolders extends Disposable {
  /** Parent of the folders. */
  readonly root: string
  /** Folders by package name. */
  readonly folders: ReadonlyMap<string, FreshFolder>
}

/**
 * Packs and installs every public package; all must be built.
 *
 * @throws {Error} with pnpm's output if the install fails.
 */
export async function freshFolders(): Promise<FreshFolders> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'tutti-fresh-')))
  const remove = (): void => rmSync(root, { recursive: true, force: true })
  try {
    const tarballs = await packPackages(join(root, 'packed'))
    const folders = new Map(
      [...tarballs].map(([name, tarball]) => {
        const path = join(root, 'of', name.replace(/^@tutti\//, ''))
        mkdirSync(path, { recursive: true })
        writeJson(join(path, 'package.json'), {
          name: `fresh-${name.replace(/^@tutti\//, '')}`,
          private: true,
          type: 'module',
          dependencies: { [name]: `file:${tarball}` },
        })
        return [name, { path, tarball, manifest: readTarball(tarball).manifest }]
      }),
    )
    writeJson(join(root, 'package.json'), { name: 'fresh', private: true })
    writeFileSync(join(root, 'pnpm-workspace.yaml'), stringify(settings(tarballs)))
    await runPnpm(root, ['install', '--prefer-offline', '--ignore-scripts'])
    return { root, folders, [Symbol.dispose]: remove }
  } catch (error) {
    remove()
    throw error
  }
}

/** Settings that hide undeclared packages and keep the folders independent. */
function settings(tarballs: ReadonlyMap<string, string>): unknown {
  const own = [...tarballs].map(([name, tarball]) => [name, `file:${tarball}`])
  return {
    packages: ['of/*'],
    hoist: false,
    dedupePeerDependents: false,
    pmOnFail: 'ignore',
    overrides: { ...lockedVersions(), ...Object.fromEntries(own) },
  }
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
}
