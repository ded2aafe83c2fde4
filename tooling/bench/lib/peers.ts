/**
 * Installs and imports the libraries that benchmarks compare with. They are heavy, so no package.json of the
 * workspace has them: `peers/package.json` pins them. They are installed next to the caches at their first
 * use, and again when the pins change.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const PINS = fileURLToPath(new URL('../peers', import.meta.url))
const FOLDER = fileURLToPath(new URL('../../../node_modules/.cache/tutti/peers', import.meta.url))

/** Files that are copied to the folder of the peers. */
const FILES = ['package.json', 'load.mjs']

/** Maximum time of an install. */
const INSTALL_TIMEOUT_MS = 600_000

/**
 * Imports a module of a peer; installs the pinned peers if necessary. The type argument has the used parts of
 * the module: the peers' types are not installed with the workspace.
 */
export async function importPeer<T = Record<string, unknown>>(specifier: string): Promise<T> {
  installPeers()
  const { load } = await import(pathToFileURL(join(FOLDER, 'load.mjs')).href)
  // NOTE: the versions are pinned, and the caller knows their exports.
  return (await load(specifier)) as T
}

function installPeers(): void {
  // npm writes this file last; a folder without it is an incomplete install.
  const complete = existsSync(join(FOLDER, 'node_modules', '.package-lock.json'))
  if (complete && FILES.every(isAsPinned)) return
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER, { recursive: true })
  for (const file of FILES) copyFileSync(join(PINS, file), join(FOLDER, file))
  console.log('Installing the peers to measure against …')
  const { status, stderr, error } = spawnSync('npm', ['install', '--no-audit', '--no-fund'], {
    cwd: FOLDER,
    encoding: 'utf8',
    timeout: INSTALL_TIMEOUT_MS,
  })
  if (status !== 0) throw new Error(`Cannot install the peers: ${error?.message ?? stderr}`)
}

function isAsPinned(file: string): boolean {
  const installed = join(FOLDER, file)
  return (
    existsSync(installed) &&
    readFileSync(installed, 'utf8') === readFileSync(join(PINS, file), 'utf8')
  )
}
