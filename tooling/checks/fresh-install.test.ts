/**
 * Tests every public package as its users have it: packed and installed alone, with only its declared
 * dependencies. Its entry points can be imported and typed, its programs run, and browser packages need
 * nothing of Node.
 */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import ts from 'typescript-api'
import { afterAll, beforeAll, expect, test } from 'vitest'

import { bundleEntryPoint } from '../packages/bundle-entry-point.ts'
import { freshFolders, type FreshFolder, type FreshFolders } from '../packages/fresh-folders.ts'
import { NEUTRAL_ENTRY_POINTS } from '../packages/neutral-entry-points.ts'
import { publicPackages } from '../packages/pack.ts'
import { codeEntryPoints } from '../packages/tarball.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const run = promisify(execFile)

/** Compiler settings of a strict project, and the types of Node. */
const STRICT = {
  target: 'es2023',
  lib: ['es2023', 'dom', 'dom.iterable'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  types: ['node'],
  typeRoots: [join(ROOT, 'node_modules/@types')],
}

/** Format of a compiler error. */
const FORMAT: ts.FormatDiagnosticsHost = {
  getCanonicalFileName: (name) => name,
  getCurrentDirectory: () => ROOT,
  getNewLine: () => '\n',
}

let fresh: FreshFolders
beforeAll(async () => {
  fresh = await freshFolders()
})
afterAll(() => fresh?.[Symbol.dispose]())

test.for(publicPackages())('$name can be imported alone and prints nothing', async ({ name }) => {
  const { path, manifest } = folderOf(name)
  const entryPoints = [...codeEntryPoints(manifest).keys()]
  const code = `for (const entryPoint of ${JSON.stringify(entryPoints)})
    console.log(entryPoint, Object.keys(await import(entryPoint)).length > 0)`
  const words = ['--trace-warnings', '--input-type=module', '--eval', code]
  const { stdout, stderr } = await run('node', words, { cwd: path })
  expect(stdout).toBe(entryPoints.map((entryPoint) => `${entryPoint} true\n`).join(''))
  expect(stderr).toBe('')
})

test('A package cannot import what it does not declare', async () => {
  const { path } = folderOf('@tutti/protocol')
  const code = "await import('@tutti/core')"
  const attempt = run('node', ['--input-type=module', '--eval', code], { cwd: path })
  await expect(attempt).rejects.toThrow(/ERR_MODULE_NOT_FOUND/)
})

test('The types of every entry point resolve for Node and for bundlers', async () => {
  writeDoorFiles()
  for (const [module, moduleResolution] of [
    ['node16', 'node16'],
    ['esnext', 'bundler'],
  ] as const) {
    const options = { ...STRICT, module, moduleResolution, skipLibCheck: true }
    await expect(compile(options)).resolves.toBe('')
  }
})

test('Our declarations type-check without skipLibCheck, also with the previous compiler version', () => {
  writeDoorFiles()
  const { options } = ts.convertCompilerOptionsFromJson(
    { ...STRICT, module: 'node16', moduleResolution: 'node16', skipLibCheck: false },
    fresh.root,
  )
  const files = [...fresh.folders.values()].map(({ path }) => join(path, 'entryPoints.ts'))
  const program = ts.createProgram(files, options)
  // Types of third-party packages are not checked here; that would take minutes.
  const own = program
    .getSourceFiles()
    .filter(({ fileName }) => /\/node_modules\/@tutti\/[^/]+\/dist\//.test(fileName))
  expect(own.length).toBeGreaterThan(fresh.folders.size)
  const faults = own.flatMap((file) => program.getSemanticDiagnostics(file))
  expect(ts.formatDiagnostics(faults, FORMAT)).toBe('')
})

test.for([...NEUTRAL_ENTRY_POINTS])('%s can be bundled for browsers', async (entryPoint) => {
  const owner = [...fresh.folders].find(([, { manifest }]) =>
    codeEntryPoints(manifest).has(entryPoint),
  )
  const { imports, warnings } = await bundleEntryPoint(entryPoint, owner?.[1].path ?? '')
  expect(imports.filter((name) => isBuiltin(name))).toEqual([])
  expect(imports).toEqual([])
  expect(warnings).toEqual([])
})

test.for(
  publicPackages().flatMap(({ name }) =>
    name === '@tutti/server' || name === 'create-tutti' ? [name] : [],
  ),
)('The program of %s prints its version and its usage', async (name) => {
  const { path, manifest } = folderOf(name)
  const [program = ''] = Object.keys(manifest.bin ?? {})
  const bin = join(path, 'node_modules/.bin', program)
  const version = await run(bin, ['--version'], { cwd: path })
  expect(version.stdout).toContain(manifest.version)
  const help = await run(bin, ['--help'], { cwd: path })
  expect(help.stdout).toMatch(new RegExp(`Usage: ${program}`))
  expect(version.stderr + help.stderr).toBe('')
})

/** Writes a file in each folder that imports everything from every entry point. */
function writeDoorFiles(): void {
  for (const { path, manifest } of fresh.folders.values()) {
    const entryPoints = [...codeEntryPoints(manifest).keys()]
    const lines = entryPoints.map(
      (entryPoint, index) => `export * as entryPoint${index} from '${entryPoint}'`,
    )
    writeFileSync(join(path, 'entryPoints.ts'), [...lines, 'export {}', ''].join('\n'))
  }
}

/** Returns the compiler errors of these files. */
async function compile(compilerOptions: Readonly<Record<string, unknown>>): Promise<string> {
  const project = join(fresh.root, 'tsconfig.json')
  writeFileSync(project, JSON.stringify({ compilerOptions, include: ['of/*/entryPoints.ts'] }))
  try {
    return (await run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project])).stdout
  } catch (error) {
    if (error instanceof Error && 'stdout' in error) return String(error.stdout)
    throw error
  }
}

function folderOf(name: string): FreshFolder {
  const folder = fresh.folders.get(name)
  if (folder === undefined) throw new Error(`${name} was not installed`)
  return folder
}
