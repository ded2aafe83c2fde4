/** Reads the versions and the bodies of A2A requests. */
import { errorMessage } from '@tutti/core/internal'
import { readTurn } from '@tutti/runs/internal'

import { MAX_CHUNKS, readBodyStart } from '../http/body-source.ts'
import { assertJson, assertNotCompressed, LARGE_BODY_BYTES } from '../http/read-body.ts'
import { parseJsonBytes, type ParsedJson } from '../http/parse-json.ts'
import { A2aError, invalidParams } from './errors.ts'

/**
 * Part of a too long body that is read, as a multiple of the limit: a caller that still sends does not read the answer.
 */
const MAX_EXCESS = 8

/**
 * Reads and parses the body; undefined when there is none.
 *
 * @throws {A2aError} INVALID_PARAMS when it is too long or cut off.
 * @throws {TuttiError} UNSUPPORTED_MEDIA_TYPE when its content type is not JSON, or it is compressed.
 */
export async function readRequest(
  request: Request,
  maxBodyBytes: number,
): Promise<ParsedJson | undefined> {
  const bytes = await readBytes(request, maxBodyBytes)
  const type = request.headers.get('content-type')
  if (bytes.length === 0 && type === null) return undefined
  assertNotCompressed(request)
  assertJson(type)
  if (bytes.length > LARGE_BODY_BYTES) await readTurn()
  return bytes.length === 0 ? undefined : parseJsonBytes(bytes)
}

async function readBytes(request: Request, maxBodyBytes: number): Promise<Uint8Array> {
  const maxExcess = maxBodyBytes * (MAX_EXCESS - 1)
  const refuse = (message: string): A2aError => invalidParams([{ path: '', message }])
  const body = await readBodyStart(request, maxBodyBytes, { maxExcess }).catch((error: unknown) => {
    // The connection broke, so no client reads the answer.
    throw refuse(`the body was cut off (${errorMessage(error)})`)
  })
  const { bytes, size, chunks } = body
  if (size > maxBodyBytes) throw refuse(`the body must be at most ${maxBodyBytes} bytes`)
  if (chunks <= MAX_CHUNKS) return bytes
  throw refuse(
    `the body must have at most ${MAX_CHUNKS} chunks, got more in its first ${size} bytes`,
  )
}

export type A2aVersion = '0.3' | '1.0'

/**
 * Returns the version in the header `A2A-Version`, whose third number is ignored; undefined when there is none.
 *
 * @throws {A2aError} VERSION_NOT_SUPPORTED when it is not among `known`.
 */
export function readVersion(
  headers: Headers,
  known: readonly A2aVersion[],
): A2aVersion | undefined {
  const given = (headers.get('a2a-version') ?? '').trim()
  if (given === '') return undefined
  const named = given.replace(/^(\d+\.\d+)\.\d+$/, '$1')
  const found = known.find((version) => version === named || version === `${named}.0`)
  if (found !== undefined) return found
  throw new A2aError(
    'VERSION_NOT_SUPPORTED',
    `A2A version "${given}" is not supported; supported: ${known.join(', ')}`,
  )
}
