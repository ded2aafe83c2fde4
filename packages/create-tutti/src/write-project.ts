/** Writes all files of a project, or none: a failure undoes the previous writes. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { CreateError, EXIT } from './create-error.ts'

import type { ProjectFile } from './template.ts'

/**
 * Writes `files` to `folder`, and creates it if necessary. All writes are synchronous, so a signal cannot interrupt them.
 *
 * @throws {CreateError} naming what could not be written, and what could not be undone.
 */
export function writeProject(files: readonly ProjectFile[], folder: string): void {
  const undo: (() => void)[] = []
  try {
    for (const { path, content } of files) writeFile(join(folder, path), content, undo)
  } catch (error) {
    const problems = [error, ...undoAll(undo)].map(toMessage)
    throw new CreateError(EXIT.failed, `Cannot write the project: ${problems.join('; ')}`, {
      cause: error,
    })
  }
}

function writeFile(path: string, content: string, undo: (() => void)[]): void {
  createFolder(dirname(path), undo)
  const before = existsSync(path) ? readFileSync(path) : undefined
  undo.push(() => {
    if (before === undefined) rmSync(path, { force: true })
    else writeFileSync(path, before)
  })
  writeFileSync(path, content)
}

/** Creates a folder and its ancestors, one call each: Node's recursive call never ends where the kernel refuses. */
function createFolder(path: string, undo: (() => void)[]): void {
  if (existsSync(path)) return
  createFolder(dirname(path), undo)
  mkdirSync(path)
  undo.push(() => rmdirSync(path))
}

/** Undoes the steps in reverse order. Returns the errors. */
function undoAll(undo: readonly (() => void)[]): readonly unknown[] {
  return undo.toReversed().flatMap((step) => {
    try {
      step()
      return []
    } catch (error) {
      return [error]
    }
  })
}

function toMessage(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
