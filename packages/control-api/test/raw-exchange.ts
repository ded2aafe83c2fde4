/** Sends bytes that no HTTP client would send, and reads the responses. */
import { connect, type Socket } from 'node:net'

/** A received response. */
export interface RawAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A connection that sends any bytes. */
export interface RawConnection extends AsyncDisposable {
  readonly socket: Socket
  send(text: string | Buffer): void
  /** Returns the bytes received so far. */
  text(): string
  /** Resolves with all received bytes when the server has closed. */
  closed(): Promise<string>
}

/** Opens a connection. */
export function open(url: string): RawConnection {
  const { port, hostname } = new URL(url)
  const socket = connect(Number(port), hostname)
  let text = ''
  const closed = new Promise<string>((resolve) => {
    socket.on('close', () => resolve(text))
  })
  socket.on('error', () => undefined)
  socket.on('data', (data: Buffer) => (text += data.toString('latin1')))
  return {
    socket,
    send: (sent) => void socket.write(sent),
    text: () => text,
    closed: () => closed,
    async [Symbol.asyncDispose]() {
      socket.destroy()
      await closed
    },
  }
}

/** Sends bytes and returns the responses until the server closes. */
export async function exchange(url: string, text: string | Buffer): Promise<readonly RawAnswer[]> {
  await using connection = open(url)
  connection.send(text)
  return parseResponses(await connection.closed())
}

/** Returns a request head with an allowed Host and `Connection: close`. */
export function head(requestLine: string, ...headers: readonly string[]): string {
  return [requestLine, 'Host: localhost', 'Connection: close', ...headers, '', ''].join('\r\n')
}

/** Parses consecutive responses with a Content-Length. */
export function parseResponses(text: string): readonly RawAnswer[] {
  const answers: RawAnswer[] = []
  let rest = text
  while (rest.startsWith('HTTP/')) {
    const end = rest.indexOf('\r\n\r\n')
    const [first = '', ...lines] = rest.slice(0, end).split('\r\n')
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':')
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
      }),
    )
    const length = Number(headers['content-length'] ?? rest.length)
    const body = rest.slice(end + 4, end + 4 + length)
    answers.push({ status: Number(first.split(' ')[1]), headers, body })
    rest = rest.slice(end + 4 + length)
  }
  return answers
}

/** Returns status and code of each response. */
export function codesOf(answers: readonly RawAnswer[]): readonly (readonly [number, unknown])[] {
  return answers.map(({ status, body }) => {
    const value: unknown = body.startsWith('{') ? JSON.parse(body) : {}
    return [
      status,
      value !== null && typeof value === 'object' && 'error' in value ? value.error : undefined,
    ]
  })
}
