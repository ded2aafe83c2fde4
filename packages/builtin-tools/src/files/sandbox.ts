/** Sandboxes of file tools. */
import { existsSync, realpathSync, statSync } from 'node:fs'
import { resolve, sep } from 'node:path'

import { errorMessage } from '@tutti/core/internal'

/** A directory that file tools are confined to. */
export interface Sandbox {
  /** Its real path. */
  readonly root: string
  /** Its configured path, made absolute; links may use this path. */
  readonly given: string
  /** Whether the system lists open files under `/proc/self/fd` (Linux). */
  readonly namesOpenFiles: boolean
}

const OPEN_FILES = '/proc/self/fd'

/**
 * Creates a sandbox of a directory.
 *
 * @throws {TypeError} when the directory does not exist.
 */
export function createSandbox(directory: string, toolName: string): Sandbox {
  const given = resolve(directory)
  try {
    const root = realpathSync(given)
    if (statSync(root).isDirectory()) {
      return { root, given, namesOpenFiles: existsSync(OPEN_FILES) }
    }
  } catch (error) {
    throw new TypeError(
      `Cannot define tool ${JSON.stringify(toolName)}: directory must exist: ${errorMessage(error)}`,
      { cause: error },
    )
  }
  throw new TypeError(
    `Cannot define tool ${JSON.stringify(toolName)}: directory must be a directory, got ${JSON.stringify(directory)}`,
  )
}

/** Returns the path of an open file or directory, which other paths can start with. */
export function pathOfOpen(fd: number): string {
  return `${OPEN_FILES}/${fd}`
}

/** Returns the names from a directory to an absolute path; undefined when the path is outside. */
export function namesBelow(directory: string, path: string): readonly string[] | undefined {
  const start = directory.endsWith(sep) ? directory : `${directory}${sep}`
  return `${path}${sep}`.startsWith(start) ? path.slice(start.length).split(sep) : undefined
}
