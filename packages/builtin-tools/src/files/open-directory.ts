/**
 * A directory of the sandbox that is kept open, so that operations apply to this directory even if its path changes.
 *
 * On Linux a name is resolved in the open directory, as `/proc/self/fd/<number>/<name>`. On other systems it is resolved
 * by path, and the opened file is then compared with the target of the path.
 *
 * TOOLS-O1 Symbolic links are not followed: opening one fails.
 * TOOLS-O2 After opening, each file or directory is checked to be inside the sandbox before it is used.
 */
import { constants, type BigIntStats, type Stats } from 'node:fs'
import { lstat, mkdir, open, readlink, realpath, stat, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

import { outsideSandboxError, readSystemCode } from './file-error.ts'
import { namesBelow, pathOfOpen, type Sandbox } from './sandbox.ts'

// On systems without one of these, the constant is undefined, which counts as 0 in bit operations.
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants

/** Flags that open a file without following a link and without waiting for the other end of a pipe. */
export const SAFELY = O_NOFOLLOW | O_NONBLOCK

/** An open directory of the sandbox. The caller closes it. */
export class OpenDirectory {
  /** Names from the sandbox to it; none of them is a link. */
  readonly names: readonly string[]
  readonly #sandbox: Sandbox
  readonly #handle: FileHandle

  private constructor(sandbox: Sandbox, handle: FileHandle, names: readonly string[]) {
    this.#sandbox = sandbox
    this.#handle = handle
    this.names = names
  }

  /** Opens the sandbox itself. */
  static async root(sandbox: Sandbox): Promise<OpenDirectory> {
    return new OpenDirectory(sandbox, await openDirectory(sandbox.root), [])
  }

  /** Returns the path of a name in this directory, for a single file system call. */
  pathOf(name: string): string {
    const { namesOpenFiles, root } = this.#sandbox
    return namesOpenFiles
      ? join(pathOfOpen(this.#handle.fd), name)
      : join(root, ...this.names, name)
  }

  /** Returns the target of a symbolic link; undefined when it is not a link or does not exist. */
  async linkTarget(name: string): Promise<string | undefined> {
    try {
      return await readlink(this.pathOf(name))
    } catch (error) {
      const code = readSystemCode(error)
      if (code === 'EINVAL' || code === 'ENOENT') return undefined
      throw error
    }
  }

  /**
   * Opens a subdirectory; `path` is for messages.
   *
   * @throws {FileError} when it is no longer inside the sandbox.
   */
  async enter(name: string, path: string): Promise<OpenDirectory> {
    const handle = await openDirectory(this.pathOf(name))
    const entered = new OpenDirectory(this.#sandbox, handle, [...this.names, name])
    try {
      await entered.assertInside(path)
      return entered
    } catch (error) {
      await handle.close()
      throw error
    }
  }

  /** Creates a subdirectory, unless the name exists. */
  async make(name: string): Promise<void> {
    try {
      await mkdir(this.pathOf(name))
    } catch (error) {
      if (readSystemCode(error) !== 'EEXIST') throw error
    }
  }

  /** Returns the stats of a name without following a link; undefined when it does not exist. */
  async statOf(name: string): Promise<Stats | undefined> {
    try {
      return await lstat(this.pathOf(name))
    } catch (error) {
      if (readSystemCode(error) === 'ENOENT') return undefined
      throw error
    }
  }

  /** @throws {FileError} when this directory is no longer inside the sandbox. */
  async assertInside(path: string): Promise<void> {
    if (!(await this.#isInside(this.#handle, this.names))) throw outsideSandboxError(path)
  }

  /** @throws {FileError} when `handle`, opened by `name` in this directory, is not inside the sandbox. */
  async assertHolds(handle: FileHandle, name: string, path: string): Promise<void> {
    if (!(await this.#isInside(handle, [...this.names, name]))) throw outsideSandboxError(path)
  }

  async close(): Promise<void> {
    await this.#handle.close()
  }

  async #isInside(handle: FileHandle, names: readonly string[]): Promise<boolean> {
    const { root, namesOpenFiles } = this.#sandbox
    if (namesOpenFiles) {
      return namesBelow(root, await readlink(pathOfOpen(handle.fd))) !== undefined
    }
    const real = await realpath(join(root, ...names))
    const there = await stat(real, { bigint: true })
    const opened = await handle.stat({ bigint: true })
    return isSame(there, opened) && namesBelow(root, real) !== undefined
  }
}

function openDirectory(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | O_DIRECTORY | SAFELY)
}

function isSame(a: BigIntStats, b: BigIntStats): boolean {
  return a.dev === b.dev && a.ino === b.ino
}
