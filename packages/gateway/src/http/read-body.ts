/** Reads request bodies: limits their size, parses JSON and validates it. */
import { TuttiError } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'
import { decode } from '@tutti/protocol'
import { readTurn } from '@tutti/runs/internal'

import { badRequest } from './api-error.ts'
import { MAX_CHUNKS, readBodyStart, type BodyStart } from './body-source.ts'
import { parseJsonBytes } from './parse-json.ts'

import type { Static, TSchema } from '@tutti/core'

/** Size of the largest body that is parsed and validated at once, in bytes. A larger one waits for its turn. */
export const LARGE_BODY_BYTES = 16_384

/**
 * Reads and validates the body of `request`. An empty body is an empty object, so that a call without parameters needs
 * no body.
 *
 * @throws {TuttiError} PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, or BAD_REQUEST with every problem.
 */
export async function readJsonBody<Schema extends TSchema>(
  request: Request,
  schema: Schema,
  maxBodyBytes: number,
): Promise<Static<Schema>> {
  const bytes = await readBytes(request, maxBodyBytes)
  return decodeBody(schema, bytes.length === 0 ? {} : parseBody(request, bytes))
}

/**
 * Reads and validates a body as {@link readJsonBody} does, also when the request has no content type.
 *
 * @throws {TuttiError} PAYLOAD_TOO_LARGE, UNSUPPORTED_MEDIA_TYPE, or BAD_REQUEST with every problem.
 */
export async function readUntypedJsonBody<Schema extends TSchema>(
  request: Request,
  schema: Schema,
  maxBodyBytes: number,
): Promise<Static<Schema>> {
  if (request.headers.has('content-type')) return readJsonBody(request, schema, maxBodyBytes)
  const bytes = await readBytes(request, maxBodyBytes)
  return decodeBody(schema, bytes.length === 0 ? {} : parseUntyped(request, bytes))
}

function decodeBody<Schema extends TSchema>(schema: Schema, body: unknown): Static<Schema> {
  const decoded = decode(schema, body)
  if (decoded.ok) return decoded.value
  throw badRequest('request body', decoded.problems)
}

/** Reads a body and, if it is large, waits for the turn to parse it. */
async function readBytes(request: Request, maxBodyBytes: number): Promise<Uint8Array> {
  const length = request.headers.get('content-length')
  if (Number(length ?? 0) > maxBodyBytes) throw tooLarge(maxBodyBytes)
  const bytes =
    length === null ? await readUnsized(request, maxBodyBytes) : await readSized(request)
  if (bytes.length > LARGE_BODY_BYTES) await readTurn()
  return bytes
}

function tooLarge(maxBodyBytes: number): TuttiError {
  return new TuttiError('PAYLOAD_TOO_LARGE', `Request body must be at most ${maxBodyBytes} bytes`)
}

/** Reads a body whose length is not known. */
async function readUnsized(request: Request, maxBodyBytes: number): Promise<Uint8Array> {
  let body: BodyStart
  try {
    body = await readBodyStart(request, maxBodyBytes)
  } catch (error) {
    throw cutOff(error)
  }
  const { bytes, size, chunks } = body
  if (size > maxBodyBytes) throw tooLarge(maxBodyBytes)
  if (chunks <= MAX_CHUNKS) return bytes
  throw new TuttiError(
    'PAYLOAD_TOO_LARGE',
    `Request body must have at most ${MAX_CHUNKS} chunks, got more in its first ${size} bytes`,
  )
}

/** Reads a body whose length the server's parser enforces, without the cost of a stream. */
async function readSized(request: Request): Promise<Uint8Array> {
  try {
    return new Uint8Array(await request.arrayBuffer())
  } catch (error) {
    throw cutOff(error)
  }
}

/** Returns the error for a broken connection, which no client reads. */
function cutOff(error: unknown): TuttiError {
  const message = `was cut off (${errorMessage(error)})`
  return badRequest('request body', [{ path: '', message }])
}

function parseBody(request: Request, bytes: Uint8Array): unknown {
  assertJson(request.headers.get('content-type'))
  return parseUntyped(request, bytes)
}

function parseUntyped(request: Request, bytes: Uint8Array): unknown {
  assertNotCompressed(request)
  const parsed = parseJsonBytes(bytes)
  if (parsed.ok) return parsed.value
  throw badRequest('request body', [parsed.problem])
}

const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i

/**
 * Rejects a body whose content type is not JSON, or missing.
 *
 * @throws {TuttiError} UNSUPPORTED_MEDIA_TYPE.
 */
export function assertJson(contentType: string | null): void {
  if (contentType !== null && JSON_TYPE.test(contentType)) return
  throw new TuttiError(
    'UNSUPPORTED_MEDIA_TYPE',
    `Content-Type must be application/json, got ${contentType === null ? 'none' : `"${contentType}"`}`,
  )
}

/**
 * Rejects a compressed body.
 *
 * @throws {TuttiError} UNSUPPORTED_MEDIA_TYPE.
 */
export function assertNotCompressed({ headers }: Pick<Request, 'headers'>): void {
  const coding = headers.get('content-encoding')?.trim() ?? ''
  if (coding === '' || coding.toLowerCase() === 'identity') return
  throw new TuttiError(
    'UNSUPPORTED_MEDIA_TYPE',
    `The body must not be compressed: Content-Encoding must be absent, got "${coding}"`,
  )
}
