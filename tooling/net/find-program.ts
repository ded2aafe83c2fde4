/**
 * Finds programs for tests that the npm registry lacks: that of a variable, or the installed one; on Debian and Ubuntu the
 * package of the distribution is otherwise downloaded, which needs no rights, and unpacked in the directory for temporary
 * files.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** An executable file, and what it needs. */
export interface Program {
  readonly path: string
  /** Directories of libraries that are not installed. */
  readonly libraries: readonly string[]
}

export interface ProgramSource {
  /** Name of the program and of its package. */
  readonly name: string
  /** Environment variable with the path of another one. */
  readonly variable: string
  /** Matches dependencies of the package that are unpacked too. @default none */
  readonly libraries?: RegExp
}

/** Finds a program. @throws {Error} that says what is missing and how to install it. */
export function findProgram(source: ProgramSource): Program {
  const { name, variable } = source
  const directories = (process.env['PATH'] ?? '').split(delimiter)
  const installed = [...directories, '/usr/sbin', '/usr/local/sbin', '/opt/homebrew/bin']
    .map((directory) => join(directory, name))
    .find((path) => existsSync(path))
  const path = process.env[variable] ?? installed
  if (path !== undefined) return { path, libraries: [] }
  try {
    return unpackPackage(source)
  } catch (error) {
    throw new Error(
      `Tests need ${name}, which is not installed. Install it (Debian and Ubuntu: "apt-get install ${name}"; ` +
        `macOS: "brew install ${name}"), or set ${variable} to the path of its binary. Its package could not be ` +
        `downloaded: ${String(error)}`,
      { cause: error },
    )
  }
}

/** Returns whether tests of a program run. Without it, they are skipped with a warning; in CI they fail. */
export function hasProgram(source: ProgramSource): boolean {
  try {
    findProgram(source)
    return true
  } catch (error) {
    if (process.env['CI'] !== undefined) throw error
    console.warn(String(error))
    return false
  }
}

/** Unpacks the package of the distribution and its libraries, once. */
function unpackPackage({ name, libraries }: ProgramSource): Program {
  const [product] = name.split('-')
  const root = join(tmpdir(), `tutti-${product}-${process.getuid?.() ?? 0}`)
  if (!existsSync(root)) {
    const parts = mkdtempSync(`${root}-`)
    chmodSync(parts, 0o755)
    const run = (command: string, ...args: string[]): string =>
      execFileSync(command, args, {
        cwd: parts,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    try {
      const needed = run('apt-cache', 'depends', name)
        .split('\n')
        .map((line) => line.replace(/^\s*\|?Depends:\s*/, ''))
        .filter((dependency) => libraries?.test(dependency))
      run('apt-get', 'download', name, ...needed)
      run('sh', '-c', 'for file in *.deb; do dpkg -x "$file" . && rm "$file"; done')
      renameSync(parts, root)
    } catch (error) {
      // Another process may have unpacked it meanwhile.
      if (!existsSync(root)) throw error
    } finally {
      rmSync(parts, { recursive: true, force: true })
    }
  }
  const lib = join(root, 'usr', 'lib')
  return {
    path: join(root, 'usr', 'sbin', name),
    libraries: existsSync(lib) ? readdirSync(lib).map((entry) => join(lib, entry)) : [],
  }
}
