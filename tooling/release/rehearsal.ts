/** The steps of a reader after a release: a project of `npm create tutti`, and each package alone. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { findUndocumented } from '../packages/find-undocumented.ts'
import { codeEntryPoints, type PackedManifest } from '../packages/tarball.ts'

import type { Reader } from './reader.ts'

/** A step with a title that is printed. */
export interface RehearsalStep {
  readonly title: string
  run(): Promise<void> | void
}

/** An installed version of the compiler. */
export interface Compiler {
  readonly version: string
  /** Path of its program. */
  readonly program: string
}

/** Warning of Node 22 about its SQLite. */
const WARNING_OF_NODE =
  /^\(node:\d+\) ExperimentalWarning: SQLite .*\n\(Use `node --trace-warnings.*\n/gm

/** Settings of a strict project that runs TypeScript directly. */
const STRICT = {
  target: 'es2023',
  module: 'nodenext',
  lib: ['es2023', 'dom', 'dom.iterable'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noEmit: true,
  types: ['node'],
}

/** Installs a compiler into `folder`. */
export function installCompiler(reader: Reader, folder: string, version: string): Compiler {
  mkdirSync(folder, { recursive: true })
  writeJson(join(folder, 'package.json'), { private: true })
  reader.run(folder, 'npm', 'install', `typescript@${version}`)
  return { version, program: join(folder, 'node_modules', '.bin', 'tsc') }
}

/** Returns the steps of a project in the new folder `desk` of `folder`. */
export function projectSteps(reader: Reader, folder: string): readonly RehearsalStep[] {
  const project = join(folder, 'desk')
  return [
    {
      title: 'npm create tutti',
      run: () => void reader.run(folder, 'npm', 'create', 'tutti@latest', 'desk', '--', '--yes'),
    },
    { title: 'npm run check', run: () => void reader.run(project, 'npm', 'run', 'check') },
    { title: 'npm test', run: () => void reader.run(project, 'npm', 'test') },
    { title: 'npm start, then npm run run', run: () => completeRun(reader, project) },
  ]
}

/** Serves the project and completes a run on its server. */
async function completeRun(reader: Reader, project: string): Promise<void> {
  await using server = await reader.serve(project, 'start')
  const url = `TUTTI_URL=${server.url}`
  const { stdout } = reader.run(project, 'env', url, 'npm', 'run', '--silent', 'run')
  if (!stdout.includes('We offer 49 USD.')) throw new Error(`The run printed ${stdout}`)
}

/** Returns the step that installs each package alone, in a folder of `folder`. */
export function installAlone(
  reader: Reader,
  folder: string,
  packages: readonly PackedManifest[],
): RehearsalStep {
  return {
    title: 'npm install of each package alone',
    run() {
      writeJson(join(folder, 'package.json'), { private: true })
      // Types that a reader has anyway.
      reader.run(folder, 'npm', 'install', '@types/node', '@types/react')
      for (const manifest of packages) {
        const path = folderOf(folder, manifest)
        mkdirSync(path)
        writeJson(join(path, 'package.json'), { private: true, type: 'module' })
        reader.run(path, 'npm', 'install', manifest.name)
        const lines = [...codeEntryPoints(manifest).keys()].map(
          (entryPoint, index) => `export * as entryPoint${index} from '${entryPoint}'`,
        )
        writeFileSync(join(path, 'entry-points.ts'), [...lines, 'export {}', ''].join('\n'))
      }
    },
  }
}

/** Returns the step that searches all packages, each installed alone, for `names`. */
export function searchAlone(
  folder: string,
  packages: readonly PackedManifest[],
  names: readonly string[],
): RehearsalStep {
  return {
    title: 'node_modules have every option, event, error code and variable',
    run() {
      let missing = names
      for (const manifest of packages) {
        missing = findUndocumented(join(folderOf(folder, manifest), 'node_modules'), missing)
      }
      if (missing.length > 0) throw new Error(`Not found: ${missing.join(', ')}`)
    },
  }
}

/** Returns the step that imports every entry point of each package that is installed alone. */
export function importAlone(
  reader: Reader,
  folder: string,
  packages: readonly PackedManifest[],
): RehearsalStep {
  return {
    title: 'import of each package alone',
    run() {
      for (const manifest of packages) {
        const path = folderOf(folder, manifest)
        const imports = [...codeEntryPoints(manifest).keys()].map(
          (name) => `await import('${name}')`,
        )
        const code = imports.join('\n')
        const { stderr } = reader.run(path, 'node', '--input-type=module', '--eval', code)
        const output = stderr.replaceAll(WARNING_OF_NODE, '')
        if (output !== '') throw new Error(`The import of ${manifest.name} printed ${output}`)
      }
    },
  }
}

/** Returns the steps that check the types of a project and of each package alone with a compiler. */
export function typeSteps(
  reader: Reader,
  { project, alone }: { readonly project: string; readonly alone: string },
  { version, program }: Compiler,
): readonly RehearsalStep[] {
  return [true, false].flatMap((skipLibCheck) => {
    const flags = ['-p', '.', '--pretty', 'false', '--skipLibCheck', String(skipLibCheck)]
    const title = `TypeScript ${version}, skipLibCheck ${skipLibCheck ? 'on' : 'off'}`
    return [
      {
        title: `${title}: the project`,
        run: () => checkTypes(reader, project, [program, ...flags]),
      },
      {
        title: `${title}: each package alone`,
        run() {
          writeJson(join(alone, 'tsconfig.json'), {
            compilerOptions: STRICT,
            include: ['*/entry-points.ts'],
          })
          checkTypes(reader, alone, [program, ...flags])
        },
      },
    ]
  })
}

/** Matches the path of a compiler error, up to its last package. */
const TYPE_ERROR = /^(?:.*\bnode_modules\/((?:@[^/]+\/)?[^/]+)\/)?[^(\n]*\(\d+,\d+\): error .*$/gm

/**
 * Checks the types of a project. With `skipLibCheck` off, errors in the declarations of third-party packages are left
 * out: LangChain has some with `exactOptionalPropertyTypes`.
 */
function checkTypes(reader: Reader, cwd: string, command: readonly [string, ...string[]]): void {
  try {
    const [program, ...words] = command
    reader.run(cwd, program, ...words)
  } catch (error) {
    const output = error instanceof Error ? error.message : String(error)
    const errors = [...output.matchAll(TYPE_ERROR)]
    const own = errors.filter(([, name]) => name === undefined || name.startsWith('@tutti/'))
    if (errors.length === 0) throw error
    if (own.length > 0) throw new Error(own.map(([line]) => line).join('\n'), { cause: error })
  }
}

function folderOf(folder: string, { name }: PackedManifest): string {
  return join(folder, name.replace(/^@tutti\//, ''))
}

function writeJson(path: string, value: unknown): void {
  writeFileSync(path, `${JSON.stringify(value, null, 2)}\n`)
}
