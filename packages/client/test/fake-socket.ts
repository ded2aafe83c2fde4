/** A WebSocket whose other end is the test. */
import type { ClientMessage, ServerMessage } from '@tutti/protocol'
import type { OpenSocket, SocketLike } from '../src/index.ts'

type Listener = (event: never) => void

/** One socket that a client has opened. */
export class FakeSocket implements SocketLike {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** What the client sent, in order. */
  readonly sent: ClientMessage[] = []
  /** Whether the client has closed it. */
  isClosed = false
  readonly #listeners = new Map<string, Listener[]>()

  constructor(url: string, headers: Readonly<Record<string, string>>) {
    this.url = url
    this.headers = headers
  }

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, [...(this.#listeners.get(type) ?? []), listener])
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text))
  }

  close(): void {
    this.isClosed = true
  }

  /** Does the handshake and greets. */
  greet(): void {
    this.#tell('open', {})
    this.say({ type: 'hello' })
  }

  /** Sends a message, or anything else that is JSON. */
  say(message: ServerMessage | Readonly<Record<string, unknown>>): void {
    this.raw(JSON.stringify(message))
  }

  /** Sends data as it is. */
  raw(data: unknown): void {
    this.#tell('message', { data })
  }

  /** Is lost. */
  lose(code = 1006, reason = ''): void {
    this.#tell('close', { code, reason })
  }

  #tell(type: string, event: object): void {
    // NOTE: each listener takes what its type of event brings.
    for (const listener of this.#listeners.get(type) ?? []) listener(event as never)
  }
}

/** Every socket that a client has opened. */
export interface FakeSockets {
  readonly open: OpenSocket
  readonly all: readonly FakeSocket[]
  /** Socket number `index`, as soon as it was opened. */
  socket(index: number): Promise<FakeSocket>
}

/** Sockets for one client. */
export function fakeSockets(): FakeSockets {
  const all: FakeSocket[] = []
  const watchers = new Set<() => void>()
  return {
    all,
    open(url, { headers }) {
      const socket = new FakeSocket(url, headers)
      all.push(socket)
      for (const look of watchers) look()
      return socket
    },
    socket: (index) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = all[index]
          // The client listens to it only after this call has returned.
          if (found !== undefined) queueMicrotask(() => queueMicrotask(() => resolve(found)))
        }
        watchers.add(look)
        look()
      }),
  }
}
