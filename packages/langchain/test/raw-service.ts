/** A service on loopback that sends given bodies, for streams that no stub of a provider sends. */
import { createServer } from 'node:http'

/** A body to send. */
export interface RawAnswer {
  readonly body: string
  /** @default 'text/event-stream' */
  readonly type?: string
  /** Number of bytes in each write. @default the whole body */
  readonly bytesPerWrite?: number
  /** Whether the connection stays open after the body. @default false */
  readonly staysOpen?: boolean
}

/** A running service. */
export interface RawService extends AsyncDisposable {
  readonly url: string
  /** JSON bodies of the requests. */
  readonly requests: readonly unknown[]
}

/** Starts a service that sends `answers`, one for each request; the last one repeats. */
export async function startRawService(
  answers: readonly (RawAnswer | string)[],
): Promise<RawService> {
  const requests: unknown[] = []
  const server = createServer((request, response) => {
    let received = ''
    request.on('data', (data: Buffer) => (received += data.toString()))
    request.on('end', () => {
      requests.push(JSON.parse(received))
      const answer = answers[Math.min(requests.length, answers.length) - 1] ?? ''
      const { body, type, bytesPerWrite, staysOpen }: RawAnswer =
        typeof answer === 'string' ? { body: answer } : answer
      response.writeHead(200, { 'content-type': type ?? 'text/event-stream' })
      const bytes = Buffer.from(body)
      const size = bytesPerWrite ?? bytes.length
      for (let start = 0; start < bytes.length; start += size) {
        response.write(bytes.subarray(start, start + size))
      }
      if (staysOpen !== true) response.end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
