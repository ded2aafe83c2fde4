/** Reads files of the sandbox as text. */
import { constants, type Stats } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'

import { accessDeniedError, FileError, notAFileError, quotePath } from './file-error.ts'
import { SAFELY } from './open-directory.ts'

import type { FileLocation } from './locate.ts'

/** Options of reading a file. */
export interface TextReadOptions {
  /** Path as written by the model, for messages. */
  readonly path: string
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/**
 * Returns the text of a file, without a byte order mark.
 *
 * @throws {FileError} when it is not a regular file, larger than `maxBytes`, or not UTF-8 text.
 */
export async function readFileText(
  location: FileLocation,
  options: TextReadOptions,
): Promise<string> {
  const { path } = options
  const handle = await openFile(location, constants.O_RDONLY, path)
  if (handle === undefined) throw new FileError(`File not found: ${quotePath(path)}`)
  try {
    return decodeText(await readBytes(handle, options), path)
  } finally {
    await handle.close()
  }
}

/**
 * Opens a file; returns undefined when it does not exist.
 *
 * @throws {FileError} when it is not a regular file or not inside the sandbox.
 */
export async function openFile(
  { directory, name }: FileLocation,
  flags: number,
  path: string,
): Promise<FileHandle | undefined> {
  const there = await directory.statOf(name)
  if (there === undefined) return undefined
  // Checked before opening, because opening a device can have side effects.
  assertFile(there, path)
  const handle = await open(directory.pathOf(name), flags | SAFELY)
  try {
    assertFile(await handle.stat(), path)
    await directory.assertHolds(handle, name, path)
    return handle
  } catch (error) {
    await handle.close()
    throw error
  }
}

function assertFile(stats: Stats, path: string): void {
  if (stats.isFile()) return
  if (stats.isSymbolicLink()) throw accessDeniedError(path, 'it has become a symbolic link')
  throw notAFileError(path, stats.isDirectory() ? 'a directory' : 'a pipe, a socket or a device')
}

/** Reads all bytes of a file. The limit applies to the bytes read, because a file may grow. */
async function readBytes(
  handle: FileHandle,
  { path, maxBytes, signal }: TextReadOptions,
): Promise<Buffer> {
  const { size } = await handle.stat()
  if (size > maxBytes) throw tooLargeError(path, `${size} bytes`, maxBytes)
  const chunks: Buffer[] = []
  let total = 0
  for (;;) {
    signal.throwIfAborted()
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(CHUNK_BYTES))
    if (bytesRead === 0) return Buffer.concat(chunks)
    total += bytesRead
    if (total > maxBytes) throw tooLargeError(path, `more than ${maxBytes} bytes`, maxBytes)
    chunks.push(buffer.subarray(0, bytesRead))
  }
}

const CHUNK_BYTES = 64 * 1024

function tooLargeError(path: string, size: string, maxBytes: number): FileError {
  return new FileError(`File too large: ${quotePath(path)} has ${size}, the maximum is ${maxBytes}`)
}

function decodeText(bytes: Buffer, path: string): string {
  const text = decodeUtf8(bytes)
  if (text === undefined) throw new FileError(`Not a text file: ${quotePath(path)} is not UTF-8`)
  if (text.includes('\0')) {
    throw new FileError(`Not a text file: ${quotePath(path)} contains NUL characters`)
  }
  return text
}

function decodeUtf8(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
