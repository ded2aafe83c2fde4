/** Sends one HTTP request and reads the response, up to a limit. */
import { Agent, request as send } from 'node:http'

/** A request that is sent without normalization. */
export interface Request {
  readonly method: string
  /** Path and query, already encoded or deliberately not. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** Response to a request. */
export interface Answer {
  readonly status: number
  readonly contentType: string
  readonly body: string
  readonly bytes: number
  /** Whether the server ended the answer; a stream that stays open is left after {@link STREAM_MS}. */
  readonly isComplete: boolean
}

/** Maximum size of a response, in bytes: a page of runs with its envelope. */
export const MAX_ANSWER_BYTES = 8 * 1024 * 1024

/** Maximum size of an error body, in bytes. */
export const MAX_ERROR_BYTES = 16 * 1024

/** Time for which an event stream is read, in milliseconds. */
const STREAM_MS = 100

/** Maximum time of a response, in milliseconds; requests with `wait` are answered at its end. */
const ANSWER_MS = 30_000

const agent = new Agent({ keepAlive: true, maxSockets: 16 })

/**
 * Sends a request and reads its answer. A connection that the server closed while it was idle can fail when the
 * agent uses it again, before it sees the end; only then is the request repeated, once and on a new connection.
 *
 * @see https://nodejs.org/api/http.html#requestreusedsocket
 */
export async function exchange(url: string, request: Request): Promise<Answer> {
  try {
    return await sendOver(agent, url, request)
  } catch (error) {
    if (!(error instanceof ReusedConnectionError)) throw error
    return sendOver(false, url, request)
  }
}

/** Thrown when a reused connection ended without a response. */
class ReusedConnectionError extends Error {
  override readonly name = 'ReusedConnectionError'
}

function sendOver(
  connections: Agent | false,
  url: string,
  { method, path, headers, body }: Request,
): Promise<Answer> {
  const { hostname, port } = new URL(url)
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const options = { agent: connections, hostname, port, method, path, headers }
  const sent = send(options, (response) => {
    const { statusCode: status = 0, headers: got } = response
    const contentType = got['content-type'] ?? ''
    const pieces: Buffer[] = []
    let bytes = 0
    const finish = (isComplete: boolean): void => {
      const text = Buffer.concat(pieces).toString()
      resolve({ status, contentType, body: text, bytes, isComplete })
      if (!isComplete) sent.destroy()
    }
    response.on('data', (data: Buffer) => {
      bytes += data.length
      pieces.push(data)
      if (bytes > MAX_ANSWER_BYTES) finish(false)
    })
    response.on('end', () => {
      finish(true)
    })
    response.on('error', reject)
    if (/event-stream|ndjson/.test(contentType)) {
      setTimeout(() => {
        finish(false)
      }, STREAM_MS).unref()
    }
  })
  sent.setTimeout(ANSWER_MS, () => {
    sent.destroy(new Error(`No answer within ${ANSWER_MS} ms`))
  })
  sent.on('error', (error: NodeJS.ErrnoException) => {
    const wasClosed = error.code === 'ECONNRESET' || error.code === 'EPIPE'
    reject(sent.reusedSocket && wasClosed ? new ReusedConnectionError(error.message) : error)
  })
  sent.end(body)
  return promise
}
