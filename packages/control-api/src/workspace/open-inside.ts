/**
 * Opens a file or directory of the workspace, and nothing outside of it.
 *
 *   path ─names─▶ real path ─inside?─▶ a file?─▶ opened ─still inside?─▶ handle
 *
 * API-O1 The real path, with all links gone, is below the root and not hidden, or nothing is opened.
 * API-O2 What was opened is looked at once more, by its handle: a directory that became a link meanwhile
 *    leads nowhere.
 * API-O3 Only regular files and directories are opened; never a device, a pipe or a socket.
 *
 * API-O2 holds against whoever renames directories of the workspace at that very moment only where the system
 * names what is open (Linux). Elsewhere paths are compared, which makes it improbable and not impossible.
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

/** The directory that requests are confined to. */
export interface Root {
  /** Its real path. */
  readonly path: string
  /** Whether the system names what is open, under `/proc/self/fd` (Linux). */
  readonly namesOpenFiles: boolean
}

/** What is open, and where it is. Whoever has it closes the handle. */
export interface Opened {
  readonly handle: FileHandle
  /** The path to go on from: on Linux that of the open file itself, whatever its name leads to. */
  readonly path: string
}

type Kind = 'file' | 'directory'

const OPEN_FILES = '/proc/self/fd'

// A system that lacks one of these has no such constant; among bits, nothing counts as 0.
const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants

/** Takes the real path of a directory as the root. */
export function rootAt(path: string): Root {
  return { path, namesOpenFiles: existsSync(OPEN_FILES) }
}

/**
 * Opens what a request asks for.
 *
 * @throws {TuttiError} BAD_REQUEST, FORBIDDEN when it leads out or may not be read, NOT_FOUND when it is not
 * there or is of another kind.
 */
export async function openInside(root: Root, path: string, kind: Kind): Promise<Opened> {
  const names = parseWorkspacePath(path)
  try {
    const real = await realpath(join(root.path, ...names))
    assertShown(root, real, path)
    // Before it is opened: to open a device may do something.
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

/** What a name of an open directory is, all links gone; undefined when it is nothing that is shown. */
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

/** @throws {TuttiError} when a directory is not, by now, where it was opened. */
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

/** The names that lead from the root to a real path; undefined when it is outside. */
function namesBelow(root: Root, real: string): readonly string[] | undefined {
  const start = root.path.endsWith(sep) ? root.path : `${root.path}${sep}`
  return `${real}${sep}`.startsWith(start) ? real.slice(start.length).split(sep) : undefined
}

function assertKind(stats: Stats, kind: Kind, path: string): void {
  if (kind === 'file' ? stats.isFile() : stats.isDirectory()) return
  throw notInWorkspace(path, `is no ${kind}`)
}

/** What failed, in words that name nothing outside of the workspace; a fault of ours as it is. */
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

/** The code of an error of the file system, such as ENOENT. */
function readSystemCode(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined
  return String(error.code)
}
