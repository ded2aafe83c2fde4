/**
 * The way from the sandbox to a file, one name after the other. Symbolic links are not followed by the
 * system: each is read here, and its names are gone like those of a path.
 *
 *   docs/latest/a.txt    docs ─▶ latest is a link to ../v2 ─▶ v2 ─▶ a.txt
 *
 * W1 Nothing outside the sandbox is ever touched: a link that leads out is refused by its text.
 * W2 A link that stays inside is followed, for reading and for writing, also by its last name.
 * W3 What changes meanwhile makes the way fail; it never leads it elsewhere.
 */
import { isAbsolute, sep } from 'node:path'

import { accessDenied, outsideSandbox, notAFile, systemCode } from './file-error.ts'
import { OpenDirectory } from './open-directory.ts'
import { namesBelow, type Sandbox } from './sandbox.ts'

/** Links of one way and steps up in them, at most: as many as Linux follows. */
const MAX_DETOURS = 40

/** Where a file is, or may be made. */
export interface FileLocation {
  /** Whoever has the place closes it. */
  readonly directory: OpenDirectory
  /** Its name there; when the place was found it was no link. */
  readonly name: string
}

/** How the way is gone. */
export interface LocateOptions {
  /** The path as the model wrote it, for messages. */
  readonly path: string
  readonly signal: AbortSignal
  /** Whether directories that are not there are made. @default false */
  readonly makeDirectories?: boolean
}

/**
 * Goes the way.
 *
 * @throws {FileError} when it leads out of the sandbox, or ends at a directory.
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
      if (name === undefined) throw notAFile(options.path, 'a directory')
      const detour = await detourOf(directory, name, { sandbox, path: options.path })
      if (detour === undefined && rest.length === 0) return { directory, name }
      detours += detour === undefined ? 0 : 1
      if (detours > MAX_DETOURS) throw accessDenied(options.path, 'too many symbolic links')
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

/** The names to go by from the sandbox on, where `name` is a link or a step up in one. */
async function detourOf(
  directory: OpenDirectory,
  name: string,
  { sandbox, path }: Origin,
): Promise<readonly string[] | undefined> {
  if (name === '..') {
    if (directory.names.length === 0) throw outsideSandbox(path)
    return directory.names.slice(0, -1)
  }
  const target = await directory.linkTarget(name)
  if (target === undefined) return undefined
  const names = isAbsolute(target)
    ? (namesBelow(sandbox.root, target) ?? namesBelow(sandbox.given, target))
    : [...directory.names, ...target.split(sep)]
  if (names === undefined) throw outsideSandbox(path)
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
    if (!makeDirectories || systemCode(error) !== 'ENOENT') throw error
    await directory.make(name)
    return directory.enter(name, path)
  }
}
