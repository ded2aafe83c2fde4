/** Runs the TypeScript compilers that users have on a project with the code of `fixtures/user-module.ts`. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../../..')
const PROJECT = join(ROOT, 'node_modules/.cache/tutti/type-checking')
const MODULE = join(import.meta.dirname, '../fixtures/user-module.ts')

/** Number of copies of the module in the file that is checked. */
const COPIES = 5

/** Installed compilers, by the names of their dependencies. */
export const COMPILERS = ['typescript', 'typescript-5'] as const
export type Compiler = (typeof COMPILERS)[number]

/** A project: that of a user's file with tools and pipelines, or an empty one. */
export type CheckedProject = 'tools' | 'empty'

/** Work of a compiler. */
export interface TypeCheck {
  /** Duration of the process. */
  readonly ms: number
  /** Number of instantiated generic types; it is the same on every machine. */
  readonly instantiations: number
}

/** Returns the version of a compiler. */
export function compilerVersion(compiler: Compiler): string {
  const manifest = join(ROOT, 'node_modules', compiler, 'package.json')
  const { version }: { readonly version: string } = JSON.parse(readFileSync(manifest, 'utf8'))
  return version
}

/**
 * Type-checks a project against the built packages in a new process.
 *
 * @throws when the project has an error.
 */
export function checkProject(compiler: Compiler, project: CheckedProject): TypeCheck {
  const program = join(ROOT, 'node_modules', compiler, 'bin/tsc')
  const config = writeProject(project)
  const words = [program, '--project', config, '--pretty', 'false', '--extendedDiagnostics']
  const startedAt = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  const ms = performance.now() - startedAt
  if (status !== 0)
    throw new Error(`${compiler} rejects the project ${project}: ${stdout}${stderr}`)
  const [, instantiations] = /^Instantiations: +(\d+)$/m.exec(stdout) ?? []
  return { ms, instantiations: Number(instantiations) }
}

/** Writes a project with the settings of a new one. Its packages are those of a user: published, not sources. */
function writeProject(project: CheckedProject): string {
  mkdirSync(PROJECT, { recursive: true })
  const module = readFileSync(MODULE, 'utf8')
  const begin = module.indexOf('\nconst ')
  // One file, because TypeScript 7 checks files concurrently and instantiates types for each.
  const block = `{${module.slice(begin).replace('\nexport ', '\n')}}\n`
  const file = module.slice(0, begin) + block.repeat(COPIES)
  writeFileSync(join(PROJECT, 'empty.ts'), 'export {}\n')
  writeFileSync(join(PROJECT, 'tools.ts'), file)
  const config = join(PROJECT, `${project}.tsconfig.json`)
  const template = join(ROOT, 'packages/create-tutti/template/tsconfig.json')
  writeFileSync(
    config,
    JSON.stringify({ extends: template, include: [], files: [`${project}.ts`] }),
  )
  return config
}
