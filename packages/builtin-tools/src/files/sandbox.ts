/** The directory that file tools are confined to. */
import { existsSync, realpathSync, statSync } from 'node:fs'
import { resolve, sep } from 'node:path'

import { errorMessage } from '@tutti/core'

/** A directory that file tools are confined to. */
export interface Sandbox {
  /** Its real path. */
  readonly root: string
  /** Its path as it was given, made absolute: links may lead back to it by this name. */
  readonly given: string
  /** Whether the system names what is open, under `/proc/self/fd` (Linux). */
  readonly namesOpenFiles: boolean
}

const OPEN_FILES = '/proc/self/fd'

/**
 * Takes a directory as a sandbox.
 *
 * @throws {TypeError} when there is no such directory.
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

/** The path under which the system names something open, and from which it can be gone on. */
export function pathOfOpen(fd: number): string {
  return `${OPEN_FILES}/${fd}`
}

/** The names that lead from a directory to an absolute path, or nothing when it is outside. */
export function namesBelow(directory: string, path: string): readonly string[] | undefined {
  const start = directory.endsWith(sep) ? directory : `${directory}${sep}`
  return `${path}${sep}`.startsWith(start) ? path.slice(start.length).split(sep) : undefined
}
