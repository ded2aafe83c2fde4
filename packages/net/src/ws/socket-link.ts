/**
 * One WebSocket that several users share.
 *
 *   user ─hold─▶ link ═══ WebSocket ═══ server          messages ─by id─▶ the users that hold it
 *
 * NET-K1 The link opens when it is created. When the last user has left, it is closed after `UNUSED_MS`, or
 *    immediately if it is not open yet. Without users it does not keep the process alive.
 * NET-K2 The guard checks the URL, and the socket connects only to an address that the guard has checked.
 * NET-K3 When the link ends, every user gets the reason once. A link that has ended never reopens.
 * NET-K4 Any bytes show every user that the server is alive. A link that was silent for `SILENT_MS` takes no new users,
 *    because the server may have disappeared without closing the connection.
 */

import { toByteStream } from '../http/byte-stream.ts'
import { NetworkError, toNetworkError } from '../http/network-error.ts'

import type { Clock } from '@tutti/core'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import type { NetworkGuard } from '../http/network-guard.ts'

/** A message with the id of its exchange; a message without an id is for every user. */
export type Addressed<Message> = { readonly id: string | undefined } & (
  | { readonly message: Message }
  | { readonly problem: Error }
)

/** The protocol of a link. */
export interface SocketDialect<Message> {
  /** Sent when the link opens. */
  readonly greeting: object
  /** Parses a message; undefined when it concerns no user. Throws when the link must end. */
  read(data: Buffer): Addressed<Message> | undefined
  /**
   * Converts the reason of an end to the error that users get. The reason is a {@link NetworkError}, a
   * {@link LinkClosedError}, a refusal of the guard, or the error of `headers` or `read`.
   */
  toError(reason: unknown): Error
  /** Converts a response that rejects the handshake to the error that users get. */
  toHandshakeError(response: Response): Promise<Error>
}

export interface SocketLinkSettings<Message> {
  /** URL with the scheme `ws:` or `wss:`. */
  readonly url: URL
  readonly guard: NetworkGuard
  /** Returns the headers of the handshake. */
  readonly headers: () => Promise<Readonly<Record<string, string>>>
  readonly dialect: SocketDialect<Message>
  readonly clock: Pick<Clock, 'after' | 'elapsed'>
}

/** A user of a link. */
export interface SocketUser<Message> {
  /** Called when the link is open. */
  readonly onOpen: () => void
  /** Called with messages of the user's id and messages without an id. */
  readonly onMessage: (message: Message) => void
  readonly onBytes: () => void
  /** Called when the link has ended, or a message for the user cannot be read. */
  readonly onEnd: (reason: Error) => void
}

/** The reason when this process closed the link. */
export class LinkClosedError extends Error {
  override readonly name = 'LinkClosedError'
}

/** Time for which a link without users stays open, in milliseconds. */
export const UNUSED_MS = 60_000

/** Silence after which a link takes no new users, in milliseconds; three heartbeats of a Tutti server. */
export const SILENT_MS = 45_000

/** Maximum time for the server to confirm a close, in milliseconds. */
const CLOSE_GRACE_MS = 1_000

/** Maximum size of a message, in bytes. The greeting of a busy server has megabytes. */
const MAX_MESSAGE_BYTES = 128 * 1_024 * 1_024

/** A WebSocket to one server. */
export class SocketLink<Message> {
  readonly #settings: SocketLinkSettings<Message>
  readonly #users = new Map<SocketUser<Message>, string>()
  readonly #onEnded: (link: SocketLink<Message>) => void
  #phase: 'opening' | 'open' | 'ended' = 'opening'
  /** Whether the link ends when its last user leaves. */
  #isLast = false
  #endReason: Error | undefined
  #socket: WebSocket | undefined
  /** The connection that carries the WebSocket; undefined until it is open. */
  #carrier: Socket | undefined
  #lastBytesAt: number
  #stopWaiting = (): void => undefined

  /** Opens a link. Calls `onEnded` once, when the link has ended. */
  constructor(settings: SocketLinkSettings<Message>, onEnded: (link: SocketLink<Message>) => void) {
    this.#settings = settings
    this.#onEnded = onEnded
    this.#lastBytesAt = settings.clock.elapsed()
    void this.#open()
  }

  /** Whether a new user may use the link. */
  get isFresh(): boolean {
    const silentMs = this.#settings.clock.elapsed() - this.#lastBytesAt
    if (this.#isLast) return false
    return this.#phase === 'opening' || (this.#phase === 'open' && silentMs < SILENT_MS)
  }

  /** Adds a user for the messages of `id`, until the returned function is called. */
  hold(id: string, user: SocketUser<Message>): () => void {
    this.#stopWaiting()
    this.#users.set(user, id)
    this.#carrier?.ref()
    if (this.#phase === 'open') user.onOpen()
    if (this.#endReason !== undefined) user.onEnd(this.#endReason)
    return () => {
      if (!this.#users.delete(user) || this.#users.size > 0) return
      if (this.#phase === 'opening' || this.#isLast) this.#drop()
      if (this.#phase === 'open') this.#closeLater()
    }
  }

  /** Ends the link for the users of `id`: immediately, or when the other users have left. */
  leave(id: string): void {
    this.#isLast = true
    if ([...this.#users.values()].every((held) => held === id)) this.#drop()
  }

  /** Sends a message as JSON once the link is open; a link that has ended sends nothing. */
  send(message: object): void {
    if (this.#phase === 'open') this.#socket?.send(JSON.stringify(message))
  }

  /** Ends the link; resolves when the server has confirmed, at the latest after a second. Never rejects. */
  async close(): Promise<void> {
    const socket = this.#phase === 'open' ? this.#socket : undefined
    if (socket === undefined) {
      this.#drop()
      return
    }
    const { promise: closed, resolve } = Promise.withResolvers<void>()
    socket.once('close', () => {
      resolve()
    })
    const stop = this.#settings.clock.after(CLOSE_GRACE_MS, () => {
      socket.terminate()
    })
    this.#notifyEnd(this.#toError(new LinkClosedError('the connection was closed locally')))
    socket.close(1000)
    await closed
    stop()
  }

  async #open(): Promise<void> {
    const { url, guard, headers } = this.#settings
    try {
      guard.assertUrl(url.href.replace(/^ws/, 'http'))
      const [{ WebSocket }, sent] = await Promise.all([import('ws'), headers()])
      if (this.#phase === 'ended') return
      const options = { headers: sent, maxPayload: MAX_MESSAGE_BYTES, lookup: guard.lookup }
      this.#listen(new WebSocket(url, options))
    } catch (error) {
      this.#end(error)
    }
  }

  #listen(socket: WebSocket): void {
    const { dialect } = this.#settings
    this.#socket = socket
    socket.on('upgrade', ({ socket: carrier }) => {
      this.#carrier = carrier
    })
    socket.on('open', () => {
      // Not earlier: a listener that is added to the carrier before the WebSocket's own would take its first bytes.
      this.#carrier?.on('data', () => {
        this.#noteBytes()
      })
      this.#phase = 'open'
      this.send(dialect.greeting)
      for (const user of this.#users.keys()) user.onOpen()
    })
    socket.on('unexpected-response', (_request, response) => {
      void dialect.toHandshakeError(toResponse(response)).then((error) => {
        this.#finish(error)
      })
    })
    socket.on('message', (data) => {
      this.#receive(toBuffer(data))
    })
    socket.on('error', (error) => {
      this.#end(this.#phase === 'open' ? toLinkFailure(error) : toHandshakeFailure(error))
    })
    socket.on('close', (code, reason) => {
      const why = reason.length === 0 ? '' : ` ${JSON.stringify(reason.toString())}`
      this.#end(new NetworkError('lost', `closed with code ${code}${why}`))
    })
  }

  #noteBytes(): void {
    this.#lastBytesAt = this.#settings.clock.elapsed()
    for (const user of this.#users.keys()) user.onBytes()
  }

  #receive(data: Buffer): void {
    let addressed: Addressed<Message> | undefined
    try {
      addressed = this.#settings.dialect.read(data)
    } catch (error) {
      this.#end(error)
    }
    if (addressed === undefined) return
    for (const [user, id] of this.#users) {
      if (addressed.id !== undefined && addressed.id !== id) continue
      if ('message' in addressed) user.onMessage(addressed.message)
      else user.onEnd(addressed.problem)
    }
  }

  #closeLater(): void {
    this.#carrier?.unref()
    this.#stopWaiting = this.#settings.clock.after(UNUSED_MS, () => {
      void this.close()
    })
  }

  #drop(): void {
    this.#end(new LinkClosedError('the connection was closed locally'))
  }

  #end(reason: unknown): void {
    this.#finish(this.#toError(reason))
  }

  #finish(error: Error): void {
    this.#notifyEnd(error)
    this.#socket?.terminate()
  }

  #toError(reason: unknown): Error {
    return this.#settings.dialect.toError(reason)
  }

  #notifyEnd(reason: Error): void {
    if (this.#phase === 'ended') return
    this.#phase = 'ended'
    this.#endReason = reason
    this.#stopWaiting()
    for (const user of this.#users.keys()) user.onEnd(reason)
    this.#onEnded(this)
  }
}

/** Converts an error before the link is open. Errors of the system have a code, those of the handshake have none. */
function toHandshakeFailure(error: Error): Error {
  if ('code' in error) return toNetworkError(error, false)
  return new NetworkError('invalid', `WebSocket handshake failed: ${error.message}`, error)
}

function toLinkFailure(error: Error): Error {
  const isInvalid = 'code' in error && String(error.code).startsWith('WS_ERR_')
  if (!isInvalid) return toNetworkError(error, true)
  return new NetworkError('invalid', `invalid message: ${error.message}`, error)
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304])

/** Converts a response that rejects the handshake. */
function toResponse(message: IncomingMessage): Response {
  const { statusCode: status = 0, statusMessage: statusText = '' } = message
  const retryAfter = message.headers['retry-after']
  const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
  if (!WITHOUT_BODY.has(status)) {
    return new Response(
      toByteStream(message, (error) => error),
      { status, statusText, headers },
    )
  }
  message.destroy()
  return new Response(null, { status, statusText, headers })
}

function toBuffer(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data)
  return data instanceof ArrayBuffer ? Buffer.from(data) : data
}
