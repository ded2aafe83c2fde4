/**
 * The libraries that benchmarks measure against. They are heavy, so they are in no package.json of the
 * workspace: `peers/package.json` pins them, and they are installed beside the caches on first use, and
 * anew when the pins have changed.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const PINS = fileURLToPath(new URL('../peers', import.meta.url))
const FOLDER = fileURLToPath(new URL('../../../node_modules/.cache/tutti/peers', import.meta.url))

/** What is copied into the folder of the peers. */
const FILES = ['package.json', 'load.mjs']

/** The longest that an install may take. */
const INSTALL_TIMEOUT_MS = 600_000

/**
 * Imports a module of a peer, installing the peers when they are not there as pinned. Give it the type
 * of what is used of the module: the peers' own types are not installed with the workspace.
 */
export async function importPeer<T = Record<string, unknown>>(specifier: string): Promise<T> {
  installPeers()
  const { load } = await import(pathToFileURL(join(FOLDER, 'load.mjs')).href)
  // NOTE: the versions are pinned, and whoever imports one says what it has.
  return (await load(specifier)) as T
}

function installPeers(): void {
  // npm writes this file last, so a folder without it was left in the middle of an install.
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
