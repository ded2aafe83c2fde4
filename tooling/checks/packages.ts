/**
 * Packs every public package as it would be published, and checks the tarball: its contents and its
 * `package.json` against our own rules, and the findings of publint and "are the types wrong".
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { checkPackage } from '@arethetypeswrong/core'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'

import { contentsProblems } from '../packages/contents-rules.ts'
import { manifestProblems } from '../packages/manifest-rules.ts'
import { packPackages, publicPackages } from '../packages/pack.ts'
import { codeEntryPoints, readTarball, type Packed } from '../packages/tarball.ts'

/** Findings of "are the types wrong" that ESM-only packages have by choice. */
const BY_CHOICE = new Set(['CJSResolvesToESM', 'NoResolution', 'UntypedResolution'])

const packages = publicPackages()
const versions = new Map(packages.map(({ name, version }) => [name, version]))
const license = readFileSync('LICENSE', 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'tutti-packed-'))
process.once('exit', () => rmSync(folder, { recursive: true }))
const tarballs = await packPackages(folder)

let problems = 0
for (const { name, directory } of packages) {
  const packed = readTarball(tarballs.get(name) ?? '')
  const found = [
    ...manifestProblems(packed.manifest, directory, versions),
    ...contentsProblems(packed, license),
    ...linkProblems(packed, directory),
    ...(await lint(packed)),
    ...(await checkTypes(packed)),
  ]
  for (const problem of found) console.error(`${directory}: ${problem}`)
  const kib = (packed.bytes.byteLength / 1024).toFixed(1)
  console.log(`${directory}: ${kib} KiB, ${packed.files.length} files, ${found.length} problems`)
  problems += found.length
}
process.exitCode = problems === 0 ? 0 : 1

/** `publishConfig` is written by hand next to `exports`; the two must have the same entry points. */
function linkProblems({ manifest }: Packed, directory: string): readonly string[] {
  const source: unknown = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'))
  const entryPoints = exportsOf(source)
  const packed = Object.keys(manifest.exports ?? {})
  return entryPoints.join() === packed.join()
    ? []
    : [`exports has ${entryPoints.join(', ')}, publishConfig.exports has ${packed.join(', ')}`]
}

function exportsOf(manifest: unknown): readonly string[] {
  if (typeof manifest !== 'object' || manifest === null || !('exports' in manifest)) return []
  return Object.keys(manifest.exports ?? {})
}

async function lint({ bytes }: Packed): Promise<readonly string[]> {
  const { messages, pkg } = await publint({ strict: true, pack: { tarball: bytes.buffer } })
  return messages.map((message) => formatMessage(message, pkg, { color: false }) ?? message.code)
}

async function checkTypes({ contents, manifest }: Packed): Promise<readonly string[]> {
  // A package that contains only programs has no types.
  if (codeEntryPoints(manifest).size === 0) return []
  const result = await checkPackage(contents)
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

/** `./package.json` is an entry point without types. */
function isJsonDoor(problem: object): boolean {
  return 'entrypoint' in problem && problem.entrypoint === './package.json'
}
