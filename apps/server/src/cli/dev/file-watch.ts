/**
 * Watches files for changes. It watches their folders, as editors replace files, and files may come and go; what
 * counts is whether a file is still as it was.
 */
import { watch, type FSWatcher } from 'node:fs'
import { basename, dirname } from 'node:path'

import { signatureOf } from './imported-files.ts'

import type { SeenFile } from './dev-messages.ts'

/** How long files have to be quiet before a change counts: saving is several steps, and often several files. */
const QUIET_MS = 100

/** Told of files that have changed, when they are quiet again. */
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

  /** The files that are watched. */
  get paths(): readonly string[] {
    return [...this.#signatures.keys()]
  }

  /** Watches a file too, there or not; one that is no longer as it was seen has changed. */
  add({ path, signature }: SeenFile): void {
    this.#signatures.set(path, signature)
    this.#watchFolder(dirname(path))
    this.#look(path)
  }

  /** Watches these files only. */
  keepOnly(paths: ReadonlySet<string>): void {
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
        this.#lookInto(folder, name)
      })
      // A folder that is deleted; what was in it has been told of.
      watcher.on('error', () => {
        watcher.close()
        this.#folders.delete(folder)
      })
      this.#folders.set(folder, watcher)
    } catch (error) {
      // A file that is looked for in a folder that is not there either.
      if (!isMissing(error)) throw error
    }
  }

  /** Without a name, which not every system tells, it may be any file of the folder. */
  #lookInto(folder: string, name: string | null): void {
    for (const path of this.#signatures.keys()) {
      const isMeant = dirname(path) === folder && (name === null || basename(path) === name)
      if (isMeant) this.#look(path)
    }
  }

  #look(path: string): void {
    if (signatureOf(path) === this.#signatures.get(path)) return
    this.#changed.add(path)
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.#tell(), QUIET_MS)
  }

  #tell(): void {
    const paths = [...this.#changed].filter((path) => this.#signatures.has(path))
    this.#changed.clear()
    for (const path of paths) this.#signatures.set(path, signatureOf(path))
    if (paths.length > 0) this.#onChange(paths)
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
