/** Writes all files of a project or none: what was made or replaced before a failure is as it was. */
import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { CreateError, EXIT } from './create-error.ts'

import type { ProjectFile } from './template.ts'

/**
 * Writes `files` below `folder`, which is made when it is not there. Nothing can come in between: all of it happens in
 * one turn of the event loop.
 *
 * @throws {CreateError} naming what could not be written, and what could not be taken back.
 */
export function writeProject(files: readonly ProjectFile[], folder: string): void {
  const undo: (() => void)[] = []
  try {
    for (const { path, content } of files) writeOne(join(folder, path), content, undo)
  } catch (error) {
    const problems = [error, ...takeBack(undo)].map(messageOf)
    throw new CreateError(EXIT.failed, `Cannot write the project: ${problems.join('; ')}`, {
      cause: error,
    })
  }
}

function writeOne(path: string, content: string, undo: (() => void)[]): void {
  makeFolder(dirname(path), undo)
  const before = existsSync(path) ? readFileSync(path) : undefined
  undo.push(() => {
    if (before === undefined) rmSync(path, { force: true })
    else writeFileSync(path, before)
  })
  writeFileSync(path, content)
}

/** Makes a folder and those above it. One call a folder: Node's own recursion never ends where the kernel refuses. */
function makeFolder(path: string, undo: (() => void)[]): void {
  if (existsSync(path)) return
  makeFolder(dirname(path), undo)
  mkdirSync(path)
  undo.push(() => rmdirSync(path))
}

/** Undoes the last first; gives what could not be undone. */
function takeBack(undo: readonly (() => void)[]): readonly unknown[] {
  return undo.toReversed().flatMap((step) => {
    try {
      step()
      return []
    } catch (error) {
      return [error]
    }
  })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
