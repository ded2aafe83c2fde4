/**
 * Packs every public package as it would be published, and has publint and "are the types wrong" look
 * at the result.
 */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

/** Findings of "are the types wrong" that ESM-only packages have by choice. */
const BY_CHOICE = new Set(['CJSResolvesToESM', 'NoResolution', 'UntypedResolution'])

const { packageManager } = readJson('package.json')
const folder = mkdtempSync(join(tmpdir(), 'tutti-pack-'))
let problems = 0
try {
  for (const directory of packageDirectories()) problems += await checkDirectory(directory)
} finally {
  rmSync(folder, { recursive: true })
}
process.exitCode = problems === 0 ? 0 : 1

async function checkDirectory(directory: string): Promise<number> {
  const tarball = pack(directory)
  const found = [...(await lint(tarball)), ...(await checkTypes(tarball))]
  for (const problem of found) console.error(`${directory}: ${problem}`)
  console.log(
    `${directory}: ${(tarball.byteLength / 1024).toFixed(1)} KiB, ${found.length} problems`,
  )
  return found.length
}

async function lint(tarball: Uint8Array<ArrayBuffer>): Promise<readonly string[]> {
  const { messages, pkg } = await publint({
    strict: true,
    pack: { tarball: tarball.buffer },
  })
  return messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code)
}

async function checkTypes(tarball: Uint8Array): Promise<readonly string[]> {
  const result = await checkPackage(createPackageFromTarballData(tarball))
  if (!result.types) return ['it ships no types']
  return result.problems
    .filter((problem) => {
      const cjs =
        'resolutionKind' in problem &&
        problem.resolutionKind !== 'node16-esm' &&
        problem.resolutionKind !== 'bundler'
      return !cjs && !(BY_CHOICE.has(problem.kind) && isJsonDoor(problem))
    })
    .map((problem) => `${problem.kind} ${JSON.stringify(problem)}`)
}

/** `./package.json` is a door without types. */
function isJsonDoor(problem: object): boolean {
  return 'entrypoint' in problem && problem.entrypoint === './package.json'
}

function pack(directory: string): Uint8Array<ArrayBuffer> {
  const before = new Set(readdirSync(folder))
  const { status, stderr, stdout } = spawnSync(
    'npx',
    ['--yes', String(packageManager), 'pack', '--pack-destination', folder],
    { cwd: directory, encoding: 'utf8' },
  )
  if (status !== 0) throw new Error(`Cannot pack ${directory}: ${stderr}${stdout}`)
  const made = readdirSync(folder).find((name) => !before.has(name))
  if (made === undefined) throw new Error(`Packing ${directory} made no file`)
  return new Uint8Array(readFileSync(join(folder, made)))
}

function packageDirectories(): readonly string[] {
  return ['packages', 'apps']
    .flatMap((parent) => readdirSync(parent).map((name) => join(parent, name)))
    .filter((directory) => readJson(join(directory, 'package.json'))['private'] !== true)
}

function readJson(path: string): Readonly<Record<string, unknown>> {
  return JSON.parse(readFileSync(path, 'utf8'))
}
