/**
 * Installs the servers that ours is compared with. Each is a program of `peers/servers` with its pinned
 * packages, installed at its first use into a separate folder next to the caches, because they need
 * conflicting versions of shared packages.
 */
import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** An installed server, or the reason why it is not installed. */
export type InstalledPeer = { readonly folder: string } | { readonly reason: string }

const PROGRAMS = fileURLToPath(new URL('../peers/servers', import.meta.url))
const FOLDERS = fileURLToPath(
  new URL('../../../node_modules/.cache/tutti/peer-servers', import.meta.url),
)

/** Maximum time of an install. */
const INSTALL_TIMEOUT_MS = 300_000

/** Written when an install has succeeded; contains the installed versions. */
const COMPLETE = '.installed.json'

/** Installs the peer if it is not installed as pinned, and updates its program. */
export function installServerPeer(name: string): InstalledPeer {
  const folder = join(FOLDERS, name)
  const pins = readFileSync(join(PROGRAMS, name, 'package.json'), 'utf8')
  if (!isInstalled(folder, pins)) {
    console.log(`Installing ${name} to measure against …`)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), pins)
    writeFileSync(join(folder, 'pnpm-workspace.yaml'), workspaceOf(pins))
    const reason = install(folder)
    if (reason !== undefined) return { reason }
    writeFileSync(join(folder, COMPLETE), pins)
  }
  for (const from of [PROGRAMS, join(PROGRAMS, name)]) {
    for (const file of readdirSync(from).filter((it) => /\.js(?:on)?$/.test(it))) {
      copyFileSync(join(from, file), join(folder, file))
    }
  }
  return { folder }
}

function isInstalled(folder: string, pins: string): boolean {
  const complete = join(folder, COMPLETE)
  return existsSync(complete) && readFileSync(complete, 'utf8') === pins
}

/** Returns a workspace of one folder, so that pnpm does not use ours. JSON is valid YAML. */
function workspaceOf(pins: string): string {
  const { overrides = {} } = JSON.parse(pins)
  return JSON.stringify({ packages: ['.'], overrides })
}

/** Runs the install without scripts of packages. Returns the error; undefined on success. */
function install(folder: string): string | undefined {
  const { status, stdout, stderr, error } = spawnSync(
    'npx',
    ['--yes', pnpmName(), 'install', '--ignore-scripts', '--no-strict-peer-dependencies'],
    { cwd: folder, encoding: 'utf8', timeout: INSTALL_TIMEOUT_MS },
  )
  if (status === 0) return undefined
  return error?.message ?? `${stdout}${stderr}`.trim().split('\n').slice(-3).join(' ')
}

/** Returns the pnpm of the workspace, such as `pnpm@12.21.0+sha512.…`; npx ignores the hash. */
function pnpmName(): string {
  const root = new URL('../../../package.json', import.meta.url)
  return JSON.parse(readFileSync(root, 'utf8')).packageManager
}
