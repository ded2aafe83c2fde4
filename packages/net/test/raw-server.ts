/** A local server that records received bytes and sends fixed ones. */
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

/** One received request. */
export interface RawRequest {
  /** Method and path, such as `POST /path`. */
  readonly line: string
  /** Head and body, byte for byte. */
  readonly text: string
  /** Headers by lower-case name. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Handles a request; may write any bytes at any time, or none. */
export type RawAnswer = (socket: Socket, request: RawRequest) => void

/** A server that is closed at the end of the test. */
export interface RawServer {
  readonly port: number
  /** Origin, such as `http://127.0.0.1:40123`. */
  readonly origin: string
  /** Requests received so far, in order. */
  readonly requests: readonly RawRequest[]
  /** Number of connections so far. */
  readonly connections: number
  /** Open connections. */
  readonly open: ReadonlySet<Socket>
  /** Resolves with the request of this index when it has arrived. */
  request(index: number): Promise<RawRequest>
  /** Resolves when no connection is open. */
  allClosed(): Promise<void>
}

/** Starts the server of `listen` on 127.0.0.1. */
export async function rawServer(
  answer: RawAnswer,
  listen: (onSocket: (socket: Socket) => void) => Server = createServer,
): Promise<RawServer> {
  const requests: RawRequest[] = []
  const open = new Set<Socket>()
  const changed = new Set<() => void>()
  let connections = 0
  const notify = (): void => {
    for (const look of changed) look()
  }
  const until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (!holds()) return
        changed.delete(look)
        resolve()
      }
      changed.add(look)
      look()
    })
  const server = listen((socket) => {
    connections += 1
    open.add(socket)
    let bytes = Buffer.alloc(0)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      open.delete(socket)
      notify()
    })
    socket.on('data', (piece) => {
      bytes = Buffer.concat([bytes, piece])
      for (let whole = wholeRequest(bytes); whole !== undefined; whole = wholeRequest(bytes)) {
        bytes = bytes.subarray(whole.size)
        requests.push(whole.request)
        answer(socket, whole.request)
        notify()
      }
    })
    notify()
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  onTestFinished(async () => {
    for (const socket of open) socket.destroy()
    await new Promise((resolve) => {
      server.close(resolve)
    })
  })
  // NOTE: the address of a TCP server has this type.
  const { port } = server.address() as AddressInfo
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    requests,
    open,
    get connections() {
      return connections
    },
    async request(index) {
      await until(() => requests.length > index)
      const found = requests[index]
      if (found === undefined) throw new RangeError(`There is no request ${index}`)
      return found
    },
    allClosed: () => until(() => open.size === 0),
  }
}

/** Returns the bytes of a response with a body and its length. */
export function whole(
  body: string,
  { status = '200 OK', headers = [] as readonly string[] } = {},
): string {
  const length = `content-length: ${Buffer.byteLength(body)}`
  return [`HTTP/1.1 ${status}`, ...headers, length, '', body].join('\r\n')
}

/** Head of a response whose body ends with the connection. */
export const STREAM_HEAD =
  'HTTP/1.1 200 OK\r\ncontent-type: application/x-ndjson\r\nconnection: close\r\n\r\n'

function wholeRequest(
  bytes: Buffer,
): { readonly size: number; readonly request: RawRequest } | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...fields] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const headers = Object.fromEntries(
    fields.map((field) => {
      const colon = field.indexOf(':')
      return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()]
    }),
  )
  const size = end + 4 + Number(headers['content-length'] ?? 0)
  if (bytes.length < size) return undefined
  const body = bytes.subarray(end + 4, size).toString()
  const text = bytes.subarray(0, size).toString()
  return { size, request: { line: first.replace(/ HTTP\/1\.1$/, ''), text, headers, body } }
}
