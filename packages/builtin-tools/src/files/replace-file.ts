/**
 * Writing a file of the sandbox as a whole. The content goes into a new file beside it, which then takes
 * its name in one step.
 *
 *   content ─▶ .tutti-….tmp ─chmod─▶ ─rename─▶ the file
 *
 * F1 Whoever reads the file meanwhile finds the old content or the new one, never a part; a call that
 *    fails or is cancelled leaves the old one.
 * F2 The name is given anew: a link that took its place is replaced and not followed, and a file that has
 *    the content under another name too (a hard link) keeps it.
 * F3 The mode of the old file stays, and its owner where the system lets it. A file that may not be
 *    written is not replaced either.
 */
import { randomUUID } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { open, rename, unlink, type FileHandle } from 'node:fs/promises'

import { lineChanges, type LineChanges } from './line-changes.ts'
import { SAFELY } from './open-directory.ts'
import { openFile } from './read-text.ts'

import type { FileLocation } from './locate.ts'

/** How a file is written. */
export interface ReplaceOptions {
  /** The path as the model wrote it, for messages. */
  readonly path: string
  readonly signal: AbortSignal
}

/** What was done. */
export interface Replaced extends LineChanges {
  readonly changeType: 'CREATED' | 'MODIFIED'
}

/**
 * Gives the file of a place a content.
 *
 * @throws {FileError} when what is there is no regular file, or not inside the sandbox.
 */
export async function replaceFile(
  place: FileLocation,
  content: Buffer,
  options: ReplaceOptions,
): Promise<Replaced> {
  const old = await openFile(place, constants.O_RDWR, options.path)
  if (old === undefined) {
    await putInPlace(place, content, options)
    return { changeType: 'CREATED', ...lineChanges('', content.toString('latin1')) }
  }
  try {
    const stats = await old.stat()
    const changes = await changesOf(old, content, options.signal)
    await putInPlace(place, content, { ...options, stats })
    return { changeType: 'MODIFIED', ...changes }
  } finally {
    await old.close()
  }
}

interface NewFile extends ReplaceOptions {
  /** Of the file that is replaced. */
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
      if (stats !== undefined) await takeOver(handle, stats)
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

/** Gives a new file the owner and the mode of an old one; the mode last, a change of owner takes from it. */
async function takeOver(handle: FileHandle, old: Stats): Promise<void> {
  const own = await handle.stat()
  if (own.uid !== old.uid || own.gid !== old.gid) {
    // Only some may give files away; the content matters more than whose it is.
    await handle.chown(old.uid, old.gid).catch(() => undefined)
  }
  await handle.chmod(old.mode & 0o777)
}

/** Larger files are not compared line by line: all their lines count as removed. */
const COMPARED_BYTES = 4 * 1024 * 1024

async function changesOf(
  old: FileHandle,
  content: Buffer,
  signal: AbortSignal,
): Promise<LineChanges> {
  const after = content.toString('latin1')
  const { size } = await old.stat()
  if (size > COMPARED_BYTES) {
    return { ...lineChanges('', after), linesRemoved: await countLines(old, signal) }
  }
  const before = await old.readFile({ signal })
  return lineChanges(before.toString('latin1'), after)
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
