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

import { bundleDoor } from '../packages/bundle-door.ts'
import { freshFolders, type FreshFolder, type FreshFolders } from '../packages/fresh-folders.ts'
import { NEUTRAL_DOORS } from '../packages/neutral-doors.ts'
import { publicPackages } from '../packages/pack.ts'
import { doorsOf } from '../packages/tarball.ts'

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

test.for(publicPackages())('$name is imported alone, and says nothing', async ({ name }) => {
  const { path, manifest } = folderOf(name)
  const doors = [...doorsOf(manifest).keys()]
  const code = `for (const door of ${JSON.stringify(doors)})
    console.log(door, Object.keys(await import(door)).length > 0)`
  const words = ['--trace-warnings', '--input-type=module', '--eval', code]
  const { stdout, stderr } = await run('node', words, { cwd: path })
  expect(stdout).toBe(doors.map((door) => `${door} true\n`).join(''))
  expect(stderr).toBe('')
})

test('a package finds nothing that it does not declare', async () => {
  const { path } = folderOf('@tutti/protocol')
  const code = "await import('@tutti/core')"
  const attempt = run('node', ['--input-type=module', '--eval', code], { cwd: path })
  await expect(attempt).rejects.toThrow(/ERR_MODULE_NOT_FOUND/)
})

test('the types of every door resolve as Node and as bundlers do', async () => {
  writeDoorFiles()
  for (const [module, moduleResolution] of [
    ['node16', 'node16'],
    ['esnext', 'bundler'],
  ] as const) {
    const options = { ...STRICT, module, moduleResolution, skipLibCheck: true }
    await expect(compile(options)).resolves.toBe('')
  }
})

test('our declarations hold when they are checked themselves, by the compiler before ours too', () => {
  writeDoorFiles()
  const { options } = ts.convertCompilerOptionsFromJson(
    { ...STRICT, module: 'node16', moduleResolution: 'node16', skipLibCheck: false },
    fresh.root,
  )
  const files = [...fresh.folders.values()].map(({ path }) => join(path, 'doors.ts'))
  const program = ts.createProgram(files, options)
  // Types of third-party packages are not checked here; that would take minutes.
  const own = program
    .getSourceFiles()
    .filter(({ fileName }) => /\/node_modules\/@tutti\/[^/]+\/dist\//.test(fileName))
  expect(own.length).toBeGreaterThan(fresh.folders.size)
  const faults = own.flatMap((file) => program.getSemanticDiagnostics(file))
  expect(ts.formatDiagnostics(faults, FORMAT)).toBe('')
})

test.for([...NEUTRAL_DOORS])('%s is bundled for browsers with all it needs', async (door) => {
  const owner = [...fresh.folders].find(([, { manifest }]) => doorsOf(manifest).has(door))
  const { imports, warnings } = await bundleDoor(door, owner?.[1].path ?? '')
  expect(imports.filter((name) => isBuiltin(name))).toEqual([])
  expect(imports).toEqual([])
  expect(warnings).toEqual([])
})

test.for(
  publicPackages().flatMap(({ name }) =>
    name === '@tutti/server' || name === 'create-tutti' ? [name] : [],
  ),
)('the program of %s says its version and how it is used', async (name) => {
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
    const doors = [...doorsOf(manifest).keys()]
    const lines = doors.map((door, index) => `export * as door${index} from '${door}'`)
    writeFileSync(join(path, 'doors.ts'), [...lines, 'export {}', ''].join('\n'))
  }
}

/** Returns the compiler errors of these files. */
async function compile(compilerOptions: Readonly<Record<string, unknown>>): Promise<string> {
  const project = join(fresh.root, 'tsconfig.json')
  writeFileSync(project, JSON.stringify({ compilerOptions, include: ['of/*/doors.ts'] }))
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
