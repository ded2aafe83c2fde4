/** A WebSocket whose server is the test. */
import type { ClientMessage, ServerMessage } from '@tutti/protocol'
import type { OpenSocket, SocketLike } from '../src/internal.ts'

type Listener = (event: never) => void

/** A socket that a client has opened. */
export class FakeSocket implements SocketLike {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  /** Messages that the client sent, in order. */
  readonly sent: ClientMessage[] = []
  /** Whether the client has closed the socket. */
  isClosed = false
  #answered = 0
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

  /** Opens the socket and sends the greeting. */
  greet(): void {
    this.#tell('open', {})
    this.say({ type: 'hello' })
  }

  /** Sends a message, or another JSON value. */
  say(message: ServerMessage | Readonly<Record<string, unknown>>): void {
    this.raw(JSON.stringify(message))
  }

  /** Sends the reply to the first message that has none: `reply` with its id. */
  answer(reply: Readonly<Record<string, unknown>>): void {
    const message = this.sent[this.#answered]
    this.#answered += 1
    const requestId = message !== undefined && 'requestId' in message ? message.requestId : ''
    this.say({ ...reply, requestId })
  }

  /** Sends data unchanged. */
  raw(data: unknown): void {
    this.#tell('message', { data })
  }

  /** Closes the socket as if the connection were lost. */
  lose(code = 1006, reason = ''): void {
    this.#tell('close', { code, reason })
  }

  #tell(type: string, event: object): void {
    // NOTE: each listener accepts the events of its type.
    for (const listener of this.#listeners.get(type) ?? []) listener(event as never)
  }
}

/** Every socket that a client has opened. */
export interface FakeSockets {
  readonly open: OpenSocket
  readonly all: readonly FakeSocket[]
  /** Resolves with socket number `index` as soon as it is opened. */
  socket(index: number): Promise<FakeSocket>
}

/** Creates sockets for one client. */
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
          // The client adds its listeners only after this call has returned.
          if (found !== undefined) queueMicrotask(() => queueMicrotask(() => resolve(found)))
        }
        watchers.add(look)
        look()
      }),
  }
}
