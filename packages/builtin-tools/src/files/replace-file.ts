/**
 * Replaces a whole file of the sandbox atomically: the content is written to a temporary file in the same directory, which
 * is then renamed.
 *
 *   content ─▶ .tutti-….tmp ─chmod─▶ ─rename─▶ the file
 *
 * TOOLS-F1 Concurrent readers see the old content or the new one, never a part of it. A call that fails or is
 *    cancelled leaves the old content.
 * TOOLS-F2 Only the name gets the new content: a link with its name is replaced and not followed, and other hard links
 *    keep the old content.
 * TOOLS-F3 The new file has the mode of the old one, and its owner if the system permits. A file without write
 *    permission is not replaced.
 */
import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { open, rename, unlink, type FileHandle } from 'node:fs/promises'

import { countLineChanges, type LineChanges } from './line-changes.ts'
import { SAFELY } from './open-directory.ts'
import { openFile } from './read-text.ts'

import type { FileLocation } from './locate.ts'

/** Options of replacing a file. */
export interface ReplaceOptions {
  /** Path as written by the model, for messages. */
  readonly path: string
  readonly signal: AbortSignal
}

/** The change of a file. */
export interface Replaced extends LineChanges {
  readonly changeType: 'CREATED' | 'MODIFIED'
}

/**
 * Creates a file or replaces its content.
 *
 * @throws {FileError} when it is not a regular file or not inside the sandbox.
 */
export async function replaceFile(
  location: FileLocation,
  content: Buffer,
  options: ReplaceOptions,
): Promise<Replaced> {
  const old = await openFile(location, constants.O_RDWR, options.path)
  if (old === undefined) {
    await putInPlace(location, content, options)
    return { changeType: 'CREATED', ...countLineChanges('', content.toString('latin1')) }
  }
  try {
    const stats = await old.stat()
    const changes = await measureChanges(old, content, options.signal)
    await putInPlace(location, content, { ...options, stats })
    return { changeType: 'MODIFIED', ...changes }
  } finally {
    await old.close()
  }
}

interface NewFile extends ReplaceOptions {
  /** Stats of the replaced file. */
  readonly stats?: Stats
}

async function putInPlace(
  { directory, name }: FileLocation,
  content: Buffer,
  { path, signal, stats }: NewFile,
): Promise<void> {
  const temporaryName = `.tutti-${randomUUID()}.tmp`
  const temporary = directory.pathOf(temporaryName)
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | SAFELY
  const handle = await open(temporary, flags, 0o666)
  try {
    try {
      await directory.assertHolds(handle, temporaryName, path)
      if (stats !== undefined) await copyOwnership(handle, stats)
      await handle.writeFile(content, { signal })
    } finally {
      await handle.close()
    }
    await directory.assertInside(path)
    signal.throwIfAborted()
    await rename(temporary, directory.pathOf(name))
  } catch (error) {
    await unlink(temporary).catch(() => undefined)
    throw error
  }
}

/** Gives a new file the owner and the mode of the old one. The mode is set last, because a change of owner clears bits of it. */
async function copyOwnership(handle: FileHandle, old: Stats): Promise<void> {
  const own = await handle.stat()
  if (own.uid !== old.uid || own.gid !== old.gid) {
    // Changing the owner needs privileges; the content is written without them too.
    await handle.chown(old.uid, old.gid).catch(() => undefined)
  }
  await handle.chmod(old.mode & 0o777)
}

/** Maximum size of a file that is compared line by line, in bytes; all lines of a larger one count as removed. */
const COMPARED_BYTES = 4 * 1024 * 1024

async function measureChanges(
  old: FileHandle,
  content: Buffer,
  signal: AbortSignal,
): Promise<LineChanges> {
  const after = content.toString('latin1')
  const { size } = await old.stat()
  if (size > COMPARED_BYTES) {
    return { ...countLineChanges('', after), linesRemoved: await countLines(old, signal) }
  }
  const before = await old.readFile({ signal })
  return countLineChanges(before.toString('latin1'), after)
}

async function countLines(handle: FileHandle, signal: AbortSignal): Promise<number> {
  const chunk = Buffer.alloc(64 * 1024)
  let lines = 0
  let last = NEW_LINE
  for (;;) {
    signal.throwIfAborted()
    const { bytesRead } = await handle.read(chunk)
    if (bytesRead === 0) return last === NEW_LINE ? lines : lines + 1
    for (const byte of chunk.subarray(0, bytesRead)) lines += byte === NEW_LINE ? 1 : 0
    last = chunk[bytesRead - 1] ?? NEW_LINE
  }
}

const NEW_LINE = 0x0a
