/** Reads request bodies: limits their size, parses JSON and validates it. */
import { errorMessage, TuttiError } from '@tutti/core'
import { decode } from '@tutti/protocol'

import { badRequest } from './api-error.ts'
import { parseJsonBytes } from './parse-json.ts'

import type { Static, TSchema } from '@tutti/core'

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
  const decoded = decode(schema, bytes.length === 0 ? {} : parseBody(request, bytes))
  if (decoded.ok) return decoded.value
  throw badRequest('request body', decoded.problems)
}

async function readBytes(request: Request, maxBodyBytes: number): Promise<Uint8Array> {
  const tooLarge = (): TuttiError =>
    new TuttiError('PAYLOAD_TOO_LARGE', `Request body must be at most ${maxBodyBytes} bytes`)
  if (Number(request.headers.get('content-length') ?? 0) > maxBodyBytes) throw tooLarge()
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of request.body ?? []) {
      size += chunk.length
      if (size > maxBodyBytes) throw tooLarge()
      chunks.push(chunk)
    }
  } catch (error) {
    if (TuttiError.isInstance(error)) throw error
    // The connection broke, so no client reads the answer.
    const message = `was cut off after ${size} bytes (${errorMessage(error)})`
    throw badRequest('request body', [{ path: '', message }])
  }
  return Buffer.concat(chunks)
}

function parseBody(request: Request, bytes: Uint8Array): unknown {
  assertJson(request.headers.get('content-type'))
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
