/**
 * The libraries that benchmarks measure against. They are heavy, so they are in no package.json of the
 * workspace: `peers/package.json` pins them, and they are installed beside the caches on first use.
 */
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const PINS = fileURLToPath(new URL('../peers/package.json', import.meta.url))
const FOLDER = fileURLToPath(new URL('../../../node_modules/.cache/tutti/peers', import.meta.url))

/** Imports a module of a peer, installing the peers when they are not there as pinned. */
export async function importPeer(specifier: string): Promise<Record<string, unknown>> {
  installPeers()
  const path = createRequire(join(FOLDER, 'package.json')).resolve(specifier)
  const loaded: Record<string, unknown> = await import(pathToFileURL(path).href)
  return loaded
}

function installPeers(): void {
  const installed = join(FOLDER, 'package.json')
  const pins = readFileSync(PINS, 'utf8')
  const complete = existsSync(join(FOLDER, 'node_modules/.package-lock.json'))
  if (complete && readFileSync(installed, 'utf8') === pins) return
  mkdirSync(FOLDER, { recursive: true })
  copyFileSync(PINS, installed)
  console.log('Installing the peers to measure against …')
  const { status, stderr } = spawnSync('npm', ['install', '--no-audit', '--no-fund'], {
    cwd: FOLDER,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`Cannot install the peers: ${stderr}`)
}
