/**
 * Opens files and directories of the workspace, and nothing outside of it.
 *
 *   path ─names─▶ real path ─inside?─▶ a file?─▶ opened ─still inside?─▶ handle
 *
 * API-O1 A path is opened only if its real path, with all links resolved, is below the root and not hidden.
 * API-O2 After opening, the location is checked again by the handle, so that a directory replaced by a link meanwhile
 *    gives no access.
 * API-O3 Only regular files and directories are opened, never devices, pipes or sockets.
 *
 * On Linux, where the system reports the paths of open files, API-O2 is exact. Elsewhere paths are compared, so an
 * attacker who renames directories at the right moment is unlikely to succeed, but not certain to fail.
 */
import { constants, existsSync, type Stats } from 'node:fs'
import { lstat, open, readlink, realpath, stat, type FileHandle } from 'node:fs/promises'
import { join, sep } from 'node:path'

import { TuttiError } from '@tutti/core'

import {
  isHidden,
  outsideWorkspace,
  notInWorkspace,
  formatPath,
  parseWorkspacePath,
} from './workspace-names.ts'

/** Directory to which requests are confined. */
export interface Root {
  /** Real path of the directory. */
  readonly path: string
  /** Whether the system reports the paths of open files under `/proc/self/fd` (Linux). */
  readonly namesOpenFiles: boolean
}

/** An open file or directory. The caller closes the handle. */
export interface Opened {
  readonly handle: FileHandle
  /** Path for further access. On Linux it refers to the open file itself, even if its name was reused. */
  readonly path: string
}

type Kind = 'file' | 'directory'

const OPEN_FILES = '/proc/self/fd'

// Undefined on systems that lack the flag; a bitwise OR treats undefined as 0.
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants

/** Returns the root at a real path. */
export function rootAt(path: string): Root {
  return { path, namesOpenFiles: existsSync(OPEN_FILES) }
}

/**
 * Opens a file or directory by the path of a request.
 *
 * @throws {TuttiError} BAD_REQUEST for a malformed path, FORBIDDEN when it leads out of the workspace or is not readable,
 * NOT_FOUND when it does not exist, is hidden or is of another kind.
 */
export async function openInside(root: Root, path: string, kind: Kind): Promise<Opened> {
  const names = parseWorkspacePath(path)
  try {
    const real = await realpath(join(root.path, ...names))
    assertShown(root, real, path)
    // Checked before opening, because opening a device can have side effects.
    assertKind(await lstat(real), kind, path)
    const flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | (kind === 'directory' ? O_DIRECTORY : 0)
    const handle = await open(real, flags)
    try {
      assertKind(await handle.stat(), kind, path)
      await assertStillInside(root, { handle, path: real }, path)
      return { handle, path: root.namesOpenFiles ? `${OPEN_FILES}/${handle.fd}` : real }
    } catch (error) {
      await handle.close()
      throw error
    }
  } catch (error) {
    throw toWorkspaceError(error, path)
  }
}

/** Returns the stats of an entry of an open directory, with links resolved; undefined when it is not accessible. */
export async function statInside(
  root: Root,
  { path }: Opened,
  name: string,
): Promise<Stats | undefined> {
  try {
    const stats = await lstat(join(path, name))
    if (!stats.isSymbolicLink()) return stats
    const target = await realpath(join(path, name))
    return isShown(root, target) ? await lstat(target) : undefined
  } catch (error) {
    if (readSystemCode(error) === undefined) throw error
    return undefined
  }
}

/**
 * Checks that an open file or directory is still in the workspace.
 *
 * @throws {TuttiError} FORBIDDEN or NOT_FOUND.
 */
export async function assertStillInside(root: Root, opened: Opened, path: string): Promise<void> {
  const { handle } = opened
  if (root.namesOpenFiles) {
    assertShown(root, await readlink(`${OPEN_FILES}/${handle.fd}`), path)
    return
  }
  const real = await realpath(opened.path)
  assertShown(root, real, path)
  const [there, here] = [await stat(real, EXACT), await handle.stat(EXACT)]
  const isSame = there.dev === here.dev && there.ino === here.ino
  if (!isSame || (await realpath(opened.path)) !== real) throw outsideWorkspace(path)
}

const EXACT = { bigint: true } as const

function assertShown(root: Root, real: string, path: string): void {
  const names = namesBelow(root, real)
  if (names === undefined) throw outsideWorkspace(path)
  if (names.some(isHidden)) throw notInWorkspace(path)
}

function isShown(root: Root, real: string): boolean {
  return namesBelow(root, real)?.some(isHidden) === false
}

/** Returns the names from the root to a real path; undefined when the path is outside. */
function namesBelow(root: Root, real: string): readonly string[] | undefined {
  const start = root.path.endsWith(sep) ? root.path : `${root.path}${sep}`
  return `${real}${sep}`.startsWith(start) ? real.slice(start.length).split(sep) : undefined
}

function assertKind(stats: Stats, kind: Kind, path: string): void {
  if (kind === 'file' ? stats.isFile() : stats.isDirectory()) return
  throw notInWorkspace(path, `is not a ${kind}`)
}

/** Converts a file system error to one that names no path outside of the workspace; returns other errors as they are. */
export function toWorkspaceError(error: unknown, path: string): unknown {
  switch (readSystemCode(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
    case 'ELOOP':
    case 'ENAMETOOLONG':
    case 'ENXIO':
      return notInWorkspace(path)
    case 'EACCES':
    case 'EPERM': {
      const message = `The server has no permission to read "${formatPath(path)}"`
      return new TuttiError('FORBIDDEN', message, { cause: error })
    }
    default:
      return error
  }
}

/** Returns the code of a file system error, such as ENOENT. */
function readSystemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined
  return String(error.code)
}
