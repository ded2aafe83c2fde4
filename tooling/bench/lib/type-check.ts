/** Runs the TypeScript compilers that users have on the projects in `fixtures/type-checking`. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '../../..')
const PROJECTS = join(ROOT, 'tooling/bench/fixtures/type-checking')

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
  const config = join(PROJECTS, `${project}.tsconfig.json`)
  const words = [program, '--project', config, '--pretty', 'false', '--extendedDiagnostics']
  const startedAt = performance.now()
  const { status, stdout, stderr } = spawnSync(process.execPath, words, { encoding: 'utf8' })
  const ms = performance.now() - startedAt
  if (status !== 0) throw new Error(`${compiler} rejects ${project}.ts: ${stdout}${stderr}`)
  const [, instantiations] = /^Instantiations: +(\d+)$/m.exec(stdout) ?? []
  return { ms, instantiations: Number(instantiations) }
}
