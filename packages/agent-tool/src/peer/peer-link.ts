/**
 * One WebSocket to a peer, which calls share.
 *
 *   call ─hold─▶ link ═══ WebSocket ═══ peer          replies ─by requestId─▶ whoever holds it
 *
 * K1 It is opened when it is made, for its first user; when the last user has gone it is closed after a
 *    while, and at once when it is not open yet. Without users it does not keep the process alive.
 * K2 It gets only replies and signs of life: events of the peer's runs are not sent, and what was sent
 *    before that could be said is not even parsed.
 * K3 When it ends every user is told so, once, with the reason; a link that has ended stays so.
 * K4 Any bytes are a sign of life for every user. A link that was silent for long takes no new users: what
 *    was at its other end may be gone without a word.
 */
import { errorMessage } from '@tutti/core'
import { AgentError } from '@tutti/agent-call'
import { decodeServerMessage } from '@tutti/protocol'

import { refused } from '../http/http-failure.ts'
import { failedHandshake, refusedHandshake } from './handshake-failure.ts'
import { brokenFailure, closedFailure, lostFailure, notJsonFailure } from './link-failure.ts'
import { misfitFailure } from './peer-failure.ts'
import { REPLY_TYPES, SUBSCRIBE_TO_REPLIES, type PeerReply } from './peer-request.ts'

import type { AgentHeaders } from '../http/own-headers.ts'
import type { Clock } from '@tutti/core'
import type { ClientMessage } from '@tutti/protocol'
import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'

/** How a link is made. */
export interface PeerLinkSettings {
  readonly url: URL
  /** As errors show it. */
  readonly origin: string
  /** Sent with the handshake. */
  readonly headers: () => Promise<AgentHeaders>
  readonly clock: Pick<Clock, 'after' | 'elapsed'>
}

/** Who uses a link. */
export interface PeerLinkUser {
  /** The link is open. */
  readonly onOpen: () => void
  /** A reply to what the user asked, or one that says nobody's id. */
  readonly onReply: (reply: PeerReply) => void
  readonly onBytes: () => void
  /** The link has ended, or what came for the user cannot be read. */
  readonly onEnd: (reason: AgentError) => void
}

/** How long a link stays open for the next call, in milliseconds. */
export const UNUSED_MS = 60_000

/** After how long without a byte a link gets no new user: three heartbeats of AgentEnsemble and of ours. */
export const SILENT_MS = 45_000

/** How long a peer may take to agree that the connection is closed, in milliseconds. */
const CLOSE_GRACE_MS = 1_000

/** The largest message that is read, in bytes: the greeting of a busy peer has megabytes. */
const MAX_MESSAGE_BYTES = 128 * 1_024 * 1_024

/** How far into a message its type is looked for. */
const HEAD_BYTES = 64

/** A WebSocket to a peer. */
export class PeerLink {
  readonly #settings: PeerLinkSettings
  readonly #users = new Map<PeerLinkUser, string>()
  readonly #onEnded: (link: PeerLink) => void
  #phase: 'opening' | 'open' | 'ended' = 'opening'
  /** Whether it ends with its last user. */
  #isLast = false
  #endReason: AgentError | undefined
  #socket: WebSocket | undefined
  /** What carries the WebSocket; undefined until it is there. */
  #carrier: Socket | undefined
  #heardAt: number
  #stopWaiting = (): void => undefined

  /** Opens a link. `onEnded` is called once, when it has ended. */
  constructor(settings: PeerLinkSettings, onEnded: (link: PeerLink) => void) {
    this.#settings = settings
    this.#onEnded = onEnded
    this.#heardAt = settings.clock.elapsed()
    void this.#open()
  }

  /** Whether a new call may use it. */
  get isFresh(): boolean {
    const silentMs = this.#settings.clock.elapsed() - this.#heardAt
    if (this.#isLast) return false
    return this.#phase === 'opening' || (this.#phase === 'open' && silentMs < SILENT_MS)
  }

  /** Uses the link, for the replies to `id`, until the returned function is called. */
  hold(id: string, user: PeerLinkUser): () => void {
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

  /** Ends the link for who waits for the replies to `id`: at once, or when the others are done. */
  leave(id: string): void {
    this.#isLast = true
    if ([...this.#users.values()].every((held) => held === id)) this.#drop()
  }

  /** Sends a message; to be called once the link is open. One that has ended sends nothing. */
  send(message: ClientMessage): void {
    if (this.#phase === 'open') this.#socket?.send(JSON.stringify(message))
  }

  #drop(): void {
    this.#end(closedFailure(this.#settings.origin))
  }

  /** Ends the link; resolves when the peer has agreed, or soon after. Never rejects. */
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
    this.#tellEnd(closedFailure(this.#settings.origin))
    socket.close(1000)
    await closed
    stop()
  }

  async #open(): Promise<void> {
    const { url, origin, headers } = this.#settings
    try {
      const [{ WebSocket }, sent] = await Promise.all([import('ws'), headers()])
      if (this.#phase === 'ended') return
      this.#listen(new WebSocket(url, { headers: sent, maxPayload: MAX_MESSAGE_BYTES }))
    } catch (error) {
      this.#end(
        error instanceof AgentError
          ? error
          : refused(`Cannot ask the peer at ${origin}: ${errorMessage(error)}`, error),
      )
    }
  }

  #listen(socket: WebSocket): void {
    const { origin } = this.#settings
    this.#socket = socket
    socket.on('upgrade', ({ socket: carrier }) => {
      this.#carrier = carrier
    })
    socket.on('open', () => {
      // Not before: who listens to the carrier before the WebSocket does takes its first bytes away.
      this.#carrier?.on('data', () => {
        this.#hear()
      })
      this.#phase = 'open'
      this.send(SUBSCRIBE_TO_REPLIES)
      for (const user of this.#users.keys()) user.onOpen()
    })
    socket.on('unexpected-response', (_request, response) => {
      void refusedHandshake(response).then((refusal) => {
        this.#end(refusal)
      })
    })
    socket.on('message', (data) => {
      this.#receive(data)
    })
    socket.on('error', (error) => {
      this.#end(
        this.#phase === 'open' ? brokenFailure(error, origin) : failedHandshake(error, origin),
      )
    })
    socket.on('close', (code, reason) => {
      this.#end(lostFailure(origin, { code, reason: reason.toString() }))
    })
  }

  #hear(): void {
    this.#heardAt = this.#settings.clock.elapsed()
    for (const user of this.#users.keys()) user.onBytes()
  }

  #receive(data: RawData): void {
    const bytes = bytesOf(data)
    const start = bytes.toString('utf8', 0, HEAD_BYTES)
    const [, head] = /^\s*\{\s*"type"\s*:\s*"(\w+)"/.exec(start) ?? []
    if (head !== undefined && !isReplyType(head)) return
    const message = parse(bytes)
    if (message === undefined) this.#end(notJsonFailure(this.#settings.origin, start))
    else if (isReplyType(message.type)) this.#deliver(message)
  }

  #deliver(message: Head): void {
    const decoded = decodeServerMessage(message)
    const id = message.type === 'run_control_ack' ? message.runId : message.requestId
    for (const [user, asked] of this.#users) {
      if (id !== undefined && id !== asked) continue
      // NOTE: the type is one of REPLY_TYPES, and the message fits the schema of that type.
      if (decoded.ok) user.onReply(decoded.value as PeerReply)
      else if (id !== undefined) user.onEnd(misfitFailure(String(message.type), decoded.problems))
    }
  }

  #closeLater(): void {
    this.#carrier?.unref()
    this.#stopWaiting = this.#settings.clock.after(UNUSED_MS, () => {
      void this.close()
    })
  }

  #end(reason: AgentError): void {
    this.#tellEnd(reason)
    this.#socket?.terminate()
  }

  #tellEnd(reason: AgentError): void {
    if (this.#phase === 'ended') return
    this.#phase = 'ended'
    this.#endReason = reason
    this.#stopWaiting()
    for (const user of this.#users.keys()) user.onEnd(reason)
    this.#onEnded(this)
  }
}

/** What is looked at of a message before it is known to fit. */
interface Head {
  readonly type?: unknown
  readonly requestId?: unknown
  readonly runId?: unknown
}

function isReplyType(type: unknown): boolean {
  return REPLY_TYPES.some((known) => known === type)
}

function parse(bytes: Buffer): Head | undefined {
  try {
    const value: unknown = JSON.parse(bytes.toString())
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function bytesOf(data: RawData): Buffer {
  if (Array.isArray(data)) return Buffer.concat(data)
  return data instanceof ArrayBuffer ? Buffer.from(data) : data
}
