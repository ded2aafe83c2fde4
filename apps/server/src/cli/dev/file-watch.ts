/**
 * Watches files for changes. It watches their folders, because editors replace files, and files may appear and
 * disappear. A file has changed when its signature differs.
 */
import { watch, type FSWatcher } from 'node:fs'
import { basename, dirname } from 'node:path'

import { readFileSignature } from './imported-files.ts'

import type { SeenFile } from './dev-messages.ts'

/** Time without changes before a change is reported, in milliseconds: saving takes several steps, often in several files. */
const QUIET_MS = 100

/** Called with the paths of changed files, once the changes have stopped. */
export type OnChange = (paths: readonly string[]) => void

/** Watches files until it is closed. */
export class FileWatch {
  readonly #onChange: OnChange
  readonly #signatures = new Map<string, string>()
  readonly #folders = new Map<string, FSWatcher>()
  readonly #changed = new Set<string>()
  #timer: NodeJS.Timeout | undefined

  constructor(onChange: OnChange) {
    this.#onChange = onChange
  }

  /** Paths of the watched files. */
  get paths(): readonly string[] {
    return [...this.#signatures.keys()]
  }

  /** Adds a file, which need not exist. Reports a change if its signature differs from `before`. */
  add({ path, signature }: SeenFile): void {
    this.#signatures.set(path, signature)
    this.#watchFolder(dirname(path))
    this.#check(path)
  }

  /** Stops watching all other files. */
  retainOnly(paths: ReadonlySet<string>): void {
    for (const path of this.#signatures.keys()) if (!paths.has(path)) this.#signatures.delete(path)
    const folders = new Set(this.paths.map((path) => dirname(path)))
    for (const [folder, watcher] of this.#folders) {
      if (folders.has(folder)) continue
      watcher.close()
      this.#folders.delete(folder)
    }
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const watcher of this.#folders.values()) watcher.close()
    this.#folders.clear()
    this.#signatures.clear()
  }

  #watchFolder(folder: string): void {
    if (this.#folders.has(folder)) return
    try {
      const watcher = watch(folder, (_event, name) => {
        this.#checkFolder(folder, name)
      })
      // The folder was deleted; the changes of its files have been reported.
      watcher.on('error', () => {
        watcher.close()
        this.#folders.delete(folder)
      })
      this.#folders.set(folder, watcher)
    } catch (error) {
      // The folder of a missing file may be missing, too.
      if (!isMissing(error)) throw error
    }
  }

  /** Checks the file that an event names, or all files of the folder on systems that provide no name. */
  #checkFolder(folder: string, name: string | null): void {
    for (const path of this.#signatures.keys()) {
      const mayHaveChanged = dirname(path) === folder && (name === null || basename(path) === name)
      if (mayHaveChanged) this.#check(path)
    }
  }

  #check(path: string): void {
    if (readFileSignature(path) === this.#signatures.get(path)) return
    this.#changed.add(path)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#report(), QUIET_MS)
  }

  #report(): void {
    const paths = [...this.#changed].filter((path) => this.#signatures.has(path))
    this.#changed.clear()
    for (const path of paths) this.#signatures.set(path, readFileSignature(path))
    if (paths.length > 0) this.#onChange(paths)
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
