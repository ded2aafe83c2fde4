/** Reads text files of the workspace. */
import { isUtf8 } from 'node:buffer'

import { TuttiError } from '@tutti/core'

import { openInside, type Root } from './open-inside.ts'
import { formatPath } from './workspace-names.ts'

import type { FileHandle } from 'node:fs/promises'

/** Maximum size of a file, in bytes. */
export const MAX_FILE_BYTES = 1024 * 1024

const CHUNK_BYTES = 64 * 1024

/**
 * Returns the bytes of a UTF-8 text file.
 *
 * @throws {TuttiError} like `openInside`; PAYLOAD_TOO_LARGE; UNSUPPORTED_MEDIA_TYPE when it is not UTF-8.
 */
export async function readTextFile(root: Root, path: string): Promise<Buffer<ArrayBuffer>> {
  const { handle } = await openInside(root, path, 'file')
  try {
    const bytes = await readBytes(handle, path)
    if (isUtf8(bytes)) return bytes
    throw new TuttiError('UNSUPPORTED_MEDIA_TYPE', `File "${formatPath(path)}" is not UTF-8 text`)
  } finally {
    await handle.close()
  }
}

/** Reads all bytes of a file. The limit is also checked while reading, because the file can grow. */
async function readBytes(handle: FileHandle, path: string): Promise<Buffer<ArrayBuffer>> {
  const { size } = await handle.stat()
  if (size > MAX_FILE_BYTES) throw tooLarge(path, `${size}`)
  const chunks: Buffer[] = []
  let total = 0
  for (;;) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(CHUNK_BYTES))
    if (bytesRead === 0) return Buffer.concat(chunks)
    total += bytesRead
    if (total > MAX_FILE_BYTES) throw tooLarge(path, `more than ${MAX_FILE_BYTES}`)
    chunks.push(buffer.subarray(0, bytesRead))
  }
}

function tooLarge(path: string, size: string): TuttiError {
  const message = `File "${formatPath(path)}" has ${size} bytes; the maximum is ${MAX_FILE_BYTES}`
  return new TuttiError('PAYLOAD_TOO_LARGE', message)
}
