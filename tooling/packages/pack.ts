/** Packs every public package as it would be published. */
import { spawn } from 'node:child_process'
import { existsSync, globSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { pnpmArguments } from './pnpm.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Packages of the workspace that are published. */
export interface PublicPackage {
  readonly name: string
  readonly version: string
  /** Folder, from the root of the repository. */
  readonly directory: string
}

/** Listed files that do not exist before the first release. */
const WRITTEN_LATER = ['CHANGELOG.md']

/** Returns the public packages in the order of their folders. */
export function publicPackages(): readonly PublicPackage[] {
  return globSync('{packages,apps}/*/package.json', { cwd: ROOT })
    .toSorted()
    .map((path) => ({ ...manifestOf(dirname(path)), directory: dirname(path) }))
    .filter((manifest) => manifest.private !== true)
    .map(({ name, version, directory }) => ({ name, version, directory }))
}

/**
 * Packs all public packages, which must be built, into the folder `target`. Returns the path of the tarball of each package.
 *
 * @throws {Error} when a package is not built, or pnpm cannot pack it.
 */
export async function packPackages(target: string): Promise<ReadonlyMap<string, string>> {
  const packages = publicPackages()
  for (const { directory } of packages) {
    const listed = (manifestOf(directory).files ?? []).map((name) => join(directory, name))
    const missing = listed.find(
      (path) => !existsSync(join(ROOT, path)) && !WRITTEN_LATER.some((name) => path.endsWith(name)),
    )
    if (missing !== undefined) throw new Error(`${missing} is missing: run "npm run build"`)
  }
  mkdirSync(target, { recursive: true })
  const filters = packages.flatMap(({ name }) => ['--filter', name])
  await runPnpm(ROOT, [...filters, 'pack', '--pack-destination', target])
  const tarballs = packages.map(
    ({ name, version }) => [name, join(target, tarballName(name, version))] as const,
  )
  const missing = tarballs.filter(([, path]) => !existsSync(path))
  if (missing.length > 0) throw new Error(`Not packed: ${missing.map(([name]) => name).join()}`)
  return new Map(tarballs)
}

/** Runs the pnpm of this repository in a folder. @throws {Error} with its output when it fails. */
export async function runPnpm(cwd: string, words: readonly string[]): Promise<void> {
  const child = spawn('npx', pnpmArguments(...words), {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => (said += data.toString()))
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve)
  })
  if (code !== 0) throw new Error(`pnpm ${words.join(' ')} ended with ${code}:\n${said}`)
}

/** Returns the file name that `npm pack` and `pnpm pack` produce. */
function tarballName(name: string, version: string): string {
  return `${name.replace(/^@/, '').replace('/', '-')}-${version}.tgz`
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly files?: readonly string[]
}

function manifestOf(directory: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, directory, 'package.json'), 'utf8'))
}
