/** Reads a text file of the workspace. */
import { isUtf8 } from 'node:buffer'

import { TuttiError } from '@tutti/core'

import { openInside, type Root } from './open-inside.ts'
import { formatPath } from './workspace-names.ts'

import type { FileHandle } from 'node:fs/promises'

/** Longest file that is sent, in bytes; AgentEnsemble's number. */
export const MAX_FILE_BYTES = 1024 * 1024

const CHUNK_BYTES = 64 * 1024

/**
 * The bytes of a file, which are UTF-8 text.
 *
 * @throws {TuttiError} as `openInside`; PAYLOAD_TOO_LARGE; UNSUPPORTED_MEDIA_TYPE when it is no text.
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

/** All bytes of a file; its size is not believed, because it may grow. */
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
  const message = `File "${formatPath(path)}" has ${size} bytes, at most ${MAX_FILE_BYTES} are sent`
  return new TuttiError('PAYLOAD_TOO_LARGE', message)
}
