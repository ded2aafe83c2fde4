/**
 * Resolves a path within the sandbox, name by name. The system does not follow symbolic links; each is read here, and its
 * names are resolved like those of a path.
 *
 *   docs/latest/a.txt    docs ─▶ latest is a link to ../v2 ─▶ v2 ─▶ a.txt
 *
 * TOOLS-L1 Files outside the sandbox are never accessed: a link that leaves the sandbox is refused by its text.
 * TOOLS-L2 A link within the sandbox is followed for reading and writing, also as the last name.
 * TOOLS-L3 Concurrent changes can make the resolution fail, but never lead it out of the sandbox.
 */
import { isAbsolute, sep } from 'node:path'

import {
  accessDeniedError,
  outsideSandboxError,
  notAFileError,
  readSystemCode,
} from './file-error.ts'
import { OpenDirectory } from './open-directory.ts'
import { namesBelow, type Sandbox } from './sandbox.ts'

/** Maximum number of links and `..` in links per path, as on Linux. */
const MAX_DETOURS = 40

/** The location of an existing or new file. */
export interface FileLocation {
  /** The directory of the file; the caller closes it. */
  readonly directory: OpenDirectory
  /** Name in the directory; it was not a link when it was resolved. */
  readonly name: string
}

/** Options of resolving a path. */
export interface LocateOptions {
  /** Path as written by the model, for messages. */
  readonly path: string
  readonly signal: AbortSignal
  /** Whether missing directories are created. @default false */
  readonly makeDirectories?: boolean
}

/**
 * Resolves a path.
 *
 * @throws {FileError} when it leaves the sandbox or ends at a directory.
 */
export async function locate(
  sandbox: Sandbox,
  names: readonly string[],
  options: LocateOptions,
): Promise<FileLocation> {
  let directory = await OpenDirectory.root(sandbox)
  let left = names
  let detours = 0
  try {
    for (;;) {
      options.signal.throwIfAborted()
      const [name, ...rest] = left
      if (name === undefined) throw notAFileError(options.path, 'a directory')
      const detour = await readDetour(directory, name, { sandbox, path: options.path })
      if (detour === undefined && rest.length === 0) return { directory, name }
      detours += detour === undefined ? 0 : 1
      if (detours > MAX_DETOURS) throw accessDeniedError(options.path, 'too many symbolic links')
      const next =
        detour === undefined
          ? await enter(directory, name, options)
          : await OpenDirectory.root(sandbox)
      left = detour === undefined ? rest : [...detour, ...rest]
      await directory.close()
      directory = next
    }
  } catch (error) {
    await directory.close()
    throw error
  }
}

interface Origin {
  readonly sandbox: Sandbox
  readonly path: string
}

/** Returns the names from the sandbox on if `name` is a link or `..`; undefined for another name. */
async function readDetour(
  directory: OpenDirectory,
  name: string,
  { sandbox, path }: Origin,
): Promise<readonly string[] | undefined> {
  if (name === '..') {
    if (directory.names.length === 0) throw outsideSandboxError(path)
    return directory.names.slice(0, -1)
  }
  const target = await directory.linkTarget(name)
  if (target === undefined) return undefined
  const names = isAbsolute(target)
    ? (namesBelow(sandbox.root, target) ?? namesBelow(sandbox.given, target))
    : [...directory.names, ...target.split(sep)]
  if (names === undefined) throw outsideSandboxError(path)
  return names.filter((part) => part !== '' && part !== '.')
}

async function enter(
  directory: OpenDirectory,
  name: string,
  { path, makeDirectories = false }: LocateOptions,
): Promise<OpenDirectory> {
  try {
    return await directory.enter(name, path)
  } catch (error) {
    if (!makeDirectories || readSystemCode(error) !== 'ENOENT') throw error
    await directory.make(name)
    return directory.enter(name, path)
  }
}
