/** Reads the body of a request over A2A: bounded, and as JSON. */
import { assertJson } from '../http/read-body.ts'
import { parseJson, type ParsedJson } from '../http/parse-json.ts'
import { invalidParams } from './errors.ts'

/** How much of a body that is too long is taken, as a multiple of what may be: callers that still send read no answer. */
const PATIENCE = 8

/**
 * The body, parsed; undefined when there is none.
 *
 * @throws {A2aError} INVALID_PARAMS when it is too long.
 * @throws {TuttiError} UNSUPPORTED_MEDIA_TYPE when it is not said to be JSON.
 */
export async function readRequest(
  request: Request,
  maxBodyBytes: number,
): Promise<ParsedJson | undefined> {
  const bytes = await readBytes(request, maxBodyBytes)
  const type = request.headers.get('content-type')
  if (bytes.length === 0 && type === null) return undefined
  assertJson(type)
  return bytes.length === 0 ? undefined : parseJson(bytes)
}

async function readBytes({ body }: Request, maxBodyBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for await (const chunk of body ?? []) {
      size += chunk.length
      if (size <= maxBodyBytes) chunks.push(chunk)
      if (size > maxBodyBytes * PATIENCE) break
    }
  } catch {
    // The connection broke: nobody is there to read the answer, and nothing is wrong here.
    throw invalidParams([{ path: '', message: `the request broke off after ${size} bytes` }])
  }
  if (size <= maxBodyBytes) return Buffer.concat(chunks)
  throw invalidParams([{ path: '', message: `a request must be at most ${maxBodyBytes} bytes` }])
}
