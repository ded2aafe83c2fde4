/**
 * A directory of the sandbox that is held open, so that what happens in it happens in this very
 * directory, whatever its path leads to meanwhile.
 *
 * On Linux a name is looked up in the open directory itself, by `/proc/self/fd/<number>/<name>`. Elsewhere
 * it is looked up by the path, and what was opened is then compared with what the path leads to.
 *
 * O1 No symbolic link is followed: opening one fails.
 * O2 Whatever was opened is inside the sandbox at a moment after that, or it is not used.
 */
import { constants, type BigIntStats, type Stats } from 'node:fs'
import { lstat, mkdir, open, readlink, realpath, stat, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

import { outsideSandbox, systemCode } from './file-error.ts'
import { namesBelow, pathOfOpen, type Sandbox } from './sandbox.ts'

// A system that lacks one of these has no such constant; among bits, nothing counts as 0.
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK } = constants

/** For opening a file itself, never what a link leads to, and without waiting for the other end of a pipe. */
export const SAFELY = O_NOFOLLOW | O_NONBLOCK

/** A directory of the sandbox. Whoever has it closes it. */
export class OpenDirectory {
  /** The names that lead to it from the sandbox; none of them is a link. */
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

  /** The path of a name in this directory, for one call of the file system. */
  pathOf(name: string): string {
    const { namesOpenFiles, root } = this.#sandbox
    return namesOpenFiles
      ? join(pathOfOpen(this.#handle.fd), name)
      : join(root, ...this.names, name)
  }

  /** What the symbolic link of a name holds; nothing when it is no link or is not there. */
  async linkTarget(name: string): Promise<string | undefined> {
    try {
      return await readlink(this.pathOf(name))
    } catch (error) {
      const code = systemCode(error)
      if (code === 'EINVAL' || code === 'ENOENT') return undefined
      throw error
    }
  }

  /**
   * Opens a directory of this one; `path` is for messages.
   *
   * @throws {FileError} when it is not inside the sandbox any more.
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

  /** Makes a directory in this one, unless there is something of that name. */
  async make(name: string): Promise<void> {
    try {
      await mkdir(this.pathOf(name))
    } catch (error) {
      if (systemCode(error) !== 'EEXIST') throw error
    }
  }

  /** What is there under a name, be it a link; nothing when there is nothing. */
  async statOf(name: string): Promise<Stats | undefined> {
    try {
      return await lstat(this.pathOf(name))
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined
      throw error
    }
  }

  /** @throws {FileError} when this directory is not inside the sandbox any more. */
  async assertInside(path: string): Promise<void> {
    if (!(await this.#isInside(this.#handle, this.names))) throw outsideSandbox(path)
  }

  /** @throws {FileError} when `handle`, opened by `name` in this directory, is not inside the sandbox. */
  async assertHolds(handle: FileHandle, name: string, path: string): Promise<void> {
    if (!(await this.#isInside(handle, [...this.names, name]))) throw outsideSandbox(path)
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
