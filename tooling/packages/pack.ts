/**
 * Packs every public package as it would be published. Packing takes seconds, so tarballs are cached under a
 * signature of their sources. Concurrent test files and checks of one CI run share them.
 */
import { spawn } from 'node:child_process'
import { createHash, type Hash } from 'node:crypto'
import {
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** Packages of the workspace that are published. */
export interface PublicPackage {
  readonly name: string
  readonly version: string
  /** Folder, from the root of the repository. */
  readonly directory: string
}

/** Paths that are packed if they exist, in addition to those in `files`. */
const ALWAYS = ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md']

/** Time for which an outdated tarball is retained, because another process may still read it. */
const KEPT_MS = 60 * 60 * 1_000

/** Returns the public packages in the order of their folders. */
export function publicPackages(): readonly PublicPackage[] {
  return globSync('{packages,apps}/*/package.json', { cwd: ROOT })
    .toSorted()
    .map((path) => ({ ...manifestOf(dirname(path)), directory: dirname(path) }))
    .filter((manifest) => manifest.private !== true)
    .map(({ name, version, directory }) => ({ name, version, directory }))
}

/**
 * Packs all public packages, which must be built. Returns the path of the tarball of each package. The files are
 * shared; copy before changing.
 *
 * @throws {Error} when a package is not built, or pnpm cannot pack it.
 */
export async function packPackages(
  directory = join(ROOT, 'node_modules/.cache/tutti/packed'),
): Promise<ReadonlyMap<string, string>> {
  const packages = publicPackages()
  const target = join(directory, signatureOf(packages))
  mkdirSync(directory, { recursive: true })
  while (!existsSync(target)) {
    if (takeLock(`${target}.lock`)) await packInto(target, packages).finally(() => unlock(target))
    else await wait(100)
  }
  removeOld(directory, target)
  return new Map(
    packages.map(({ name, version }) => [name, join(target, tarballName(name, version))]),
  )
}

/** Packs into a temporary folder and renames it, so that `target` appears atomically. */
async function packInto(target: string, packages: readonly PublicPackage[]): Promise<void> {
  // The previous holder of the lock may have packed already.
  if (existsSync(target)) return
  const draft = mkdtempSync(`${target}.`)
  const filters = packages.flatMap(({ name }) => ['--filter', name])
  const { packageManager = '' } = manifestOf('.')
  await run('npx', [
    '--yes',
    '--prefer-offline',
    packageManager,
    ...filters,
    'pack',
    '--pack-destination',
    draft,
  ])
  const missing = packages.filter(
    ({ name, version }) => !existsSync(join(draft, tarballName(name, version))),
  )
  if (missing.length > 0) throw new Error(`Not packed: ${missing.map(({ name }) => name).join()}`)
  renameSync(draft, target)
}

/** Returns the file name that `npm pack` and `pnpm pack` produce. */
function tarballName(name: string, version: string): string {
  return `${name.replace(/^@/, '').replace('/', '-')}-${version}.tgz`
}

/** Returns a signature of everything that is packed and of the packing itself. */
function signatureOf(packages: readonly PublicPackage[]): string {
  const hash = createHash('sha256')
  const of = (path: string): void => {
    if (existsSync(join(ROOT, path)))
      hash.update(`${path}\n`).update(readFileSync(join(ROOT, path)))
  }
  for (const path of ['package.json', 'pnpm-workspace.yaml', 'LICENSE']) of(path)
  for (const { directory } of packages) {
    for (const name of ALWAYS) of(join(directory, name))
    const listed = (manifestOf(directory).files ?? []).filter((name) => !ALWAYS.includes(name))
    for (const name of listed) addTree(hash, join(directory, name))
  }
  return hash.digest('hex').slice(0, 16)
}

function addTree(hash: Hash, path: string): void {
  const whole = join(ROOT, path)
  if (!existsSync(whole)) throw new Error(`${path} is missing: run "npm run build"`)
  if (statSync(whole).isFile()) {
    hash.update(`${path}\n`).update(readFileSync(whole))
    return
  }
  for (const name of readdirSync(whole).toSorted()) addTree(hash, join(path, name))
}

/** Takes the lock and returns whether it succeeded; the lock of a dead process is free. */
function takeLock(path: string): boolean {
  try {
    writeFileSync(path, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
  if (existsSync(path) && !isAlive(Number(readFileSync(path, 'utf8'))))
    rmSync(path, { force: true })
  return false
}

function unlock(target: string): void {
  rmSync(`${target}.lock`, { force: true })
}

function isAlive(pid: number): boolean {
  try {
    return pid === 0 || process.kill(pid, 0)
  } catch {
    return false
  }
}

function removeOld(directory: string, current: string): void {
  for (const name of readdirSync(directory)) {
    const path = join(directory, name)
    if (basename(current) === name || name.startsWith(`${basename(current)}.`)) continue
    const age = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
    if (age > KEPT_MS) rmSync(path, { recursive: true, force: true })
  }
}

async function run(program: string, words: readonly string[]): Promise<void> {
  const child = spawn(program, words, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data: Buffer) => (said += data.toString()))
  }
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject).on('close', resolve)
  })
  if (code !== 0) throw new Error(`${program} ${words.join(' ')} ended with ${code}:\n${said}`)
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly private?: boolean
  readonly files?: readonly string[]
  readonly packageManager?: string
}

function manifestOf(directory: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, directory, 'package.json'), 'utf8'))
}
