/**
 * Finds the NATS server for tests: that of `TUTTI_TEST_NATS_SERVER`, or the installed one; on Debian and Ubuntu the package of
 * the distribution is otherwise downloaded, which needs no rights, and unpacked in the directory for temporary files. The npm
 * registry has none.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

/** Returns the path of the server. @throws {Error} that says what is missing and how to install it. */
export function findNatsServer(): string {
  const { TUTTI_TEST_NATS_SERVER: chosen, PATH = '' } = process.env
  const directories = [
    ...PATH.split(delimiter),
    '/usr/sbin',
    '/usr/local/sbin',
    '/opt/homebrew/bin',
  ]
  const installed = directories
    .map((directory) => join(directory, 'nats-server'))
    .find((path) => existsSync(path))
  const path = chosen ?? installed
  if (path !== undefined) return path
  try {
    return unpackPackage()
  } catch (error) {
    throw new Error(
      'Tests of runs over NATS need nats-server, which is not installed. Install it (Debian and Ubuntu: ' +
        '"apt-get install nats-server"; macOS: "brew install nats-server"), or set TUTTI_TEST_NATS_SERVER to the path of its ' +
        `binary. Its package could not be downloaded: ${String(error)}`,
      { cause: error },
    )
  }
}

/** Unpacks the package of the distribution, once. */
function unpackPackage(): string {
  const root = join(tmpdir(), `tutti-nats-${process.getuid?.() ?? 0}`)
  if (!existsSync(root)) {
    const parts = mkdtempSync(`${root}-`)
    const run = (command: string, ...args: string[]): string =>
      execFileSync(command, args, {
        cwd: parts,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'pipe'],
      })
    run('apt-get', 'download', 'nats-server')
    run('sh', '-c', 'for file in *.deb; do dpkg -x "$file" . && rm "$file"; done')
    renameSync(parts, root)
  }
  return join(root, 'usr', 'sbin', 'nats-server')
}

/** Whether tests of NATS run. Where there is no server, they are skipped with a warning; in CI they fail. */
export function hasNatsServer(): boolean {
  try {
    findNatsServer()
    return true
  } catch (error) {
    if (process.env['CI'] !== undefined) throw error
    console.warn(String(error))
    return false
  }
}
