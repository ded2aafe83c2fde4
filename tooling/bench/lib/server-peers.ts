/**
 * The servers of others that ours is measured beside. Each is a program of `peers/servers` with the
 * packages it pins, installed on first use into a folder of its own beside the caches: they need
 * versions of shared packages that exclude each other.
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

/** A server that is installed, or why it is not. */
export type InstalledPeer = { readonly folder: string } | { readonly reason: string }

const PROGRAMS = fileURLToPath(new URL('../peers/servers', import.meta.url))
const FOLDERS = fileURLToPath(
  new URL('../../../node_modules/.cache/tutti/peer-servers', import.meta.url),
)

/** The longest that an install may take. */
const INSTALL_TIMEOUT_MS = 300_000

/** Written when an install has ended well; holds what was installed. */
const COMPLETE = '.installed.json'

/** Installs the peer of that name when it is not there as pinned, and brings its program up to date. */
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

/** A workspace of the one folder, so that pnpm does not look for ours. JSON is YAML. */
function workspaceOf(pins: string): string {
  const { overrides = {} } = JSON.parse(pins)
  return JSON.stringify({ packages: ['.'], overrides })
}

/** What went wrong; undefined when nothing did. No program of a package is run. */
function install(folder: string): string | undefined {
  const { status, stdout, stderr, error } = spawnSync(
    'npx',
    ['--yes', pnpmName(), 'install', '--ignore-scripts', '--no-strict-peer-dependencies'],
    { cwd: folder, encoding: 'utf8', timeout: INSTALL_TIMEOUT_MS },
  )
  if (status === 0) return undefined
  return error?.message ?? `${stdout}${stderr}`.trim().split('\n').slice(-3).join(' ')
}

/** The pnpm of the workspace, such as `pnpm@12.21.0+sha512.…`; npx ignores the hash. */
function pnpmName(): string {
  const root = new URL('../../../package.json', import.meta.url)
  return JSON.parse(readFileSync(root, 'utf8')).packageManager
}
