/**
 * The requests of a connection that wait for their replies.
 *
 * P1 A request whose reply names its id goes out at once. The others go one after the other, so that a
 *    reply, or an error without an id, can only belong to the one that is out.
 * P2 What waits when a socket is lost and is safe is sent again on the next one; the rest fails with
 *    CONNECTION_FAILED if it was sent, and is sent for the first time if not.
 * P3 No request waits longer than its time limit, and none is left when the connection is closed.
 */
import { openScope } from '../call-scope.ts'
import { refusal } from './refusal.ts'

import type { CallOptions } from '../http/exchange.ts'
import type { ResolvedClientOptions } from '../options.ts'
import type { TuttiClientError } from '../errors.ts'
import type { ClientMessage, ErrorMessage, ServerMessage } from '@tutti/protocol'

/** A message and how its reply looks. */
export interface SocketRequest<T> {
  readonly message: ClientMessage
  /** For people, such as `the cancel of run "r-1"`. */
  readonly what: string
  /** Whether sending it twice is the same as once. */
  readonly isSafe: boolean
  /** Whether it goes before what waits already. @default false */
  readonly isFirst?: boolean
  /**
   * The value of its reply; undefined for a message that is none.
   *
   * @throws {TuttiClientError} when the reply is a refusal.
   */
  reply(message: ServerMessage): { readonly value: T } | undefined
  /** Whether an error that names no request can be the reply. */
  mayFailWith?(error: ErrorMessage): boolean
}

interface Pending {
  readonly request: SocketRequest<unknown>
  readonly requestId: string | undefined
  isSent: boolean
  readonly settle: (reply: () => unknown) => void
}

/** Sends a message over the socket that is open. */
export type SendMessage = (message: ClientMessage) => void

/** The requests of one connection. */
export class Requests {
  readonly #settings: ResolvedClientOptions
  readonly #life: AbortSignal
  #pending: ReadonlySet<Pending> = new Set()
  #send: SendMessage | undefined

  /** `life` ends with the connection. */
  constructor(settings: ResolvedClientOptions, life: AbortSignal) {
    this.#settings = settings
    this.#life = life
  }

  /** Sends a request, now or when there is a socket; gives what its reply says. */
  async ask<T>(request: SocketRequest<T>, options: CallOptions = {}): Promise<T> {
    const { signal, timeoutMs = this.#settings.timeoutMs } = options
    const scope = openScope(this.#settings.clock, [this.#life, signal])
    const stop = scope.limit(timeoutMs, `No reply to ${request.what} within ${timeoutMs} ms`)
    let pending: Pending | undefined
    try {
      scope.signal.throwIfAborted()
      return await scope.race(
        new Promise<T>((resolve, reject) => {
          pending = this.#wait(request, (reply) => {
            try {
              // NOTE: `reply` is that of this request, and so gives a T.
              resolve(reply() as T)
            } catch (error) {
              reject(error)
            }
          })
        }),
      )
    } finally {
      if (pending !== undefined) this.#forget(pending)
      stop()
      scope.close()
      this.#flush()
    }
  }

  /** A socket is there: sends what waits. */
  attach(send: SendMessage): void {
    this.#send = send
    this.#flush()
  }

  /** The socket is lost: what it may have taken along fails, unless it is safe to ask again. */
  detach(error: TuttiClientError): void {
    this.#send = undefined
    for (const pending of this.#pending) {
      if (!pending.isSent) continue
      pending.isSent = false
      if (pending.request.isSafe) continue
      this.#settle(pending, () => {
        throw error
      })
    }
  }

  /** Gives a message to the request that it answers; false when there is none. */
  take(message: ServerMessage): boolean {
    const sent = [...this.#pending].filter(({ isSent }) => isSent)
    if (message.type === 'error') return this.#fail(message, sent)
    for (const pending of sent) {
      const outcome = replyOf(pending.request, message)
      if (outcome === undefined) continue
      this.#settle(pending, outcome)
      return true
    }
    return false
  }

  /** An error is for the request that it names, else for the one whose turn it is. */
  #fail(error: ErrorMessage, sent: readonly Pending[]): boolean {
    const pending =
      sent.find(({ requestId }) => requestId !== undefined && requestId === error.requestId) ??
      sent.find(({ requestId }) => requestId === undefined)
    if (pending === undefined) return false
    const { what, mayFailWith } = pending.request
    if (pending.requestId === undefined && mayFailWith?.(error) === false) return false
    this.#settle(pending, () => {
      throw refusal(what, error)
    })
    return true
  }

  #wait(request: SocketRequest<unknown>, settle: Pending['settle']): Pending {
    const { message } = request
    const requestId = 'requestId' in message ? message.requestId : undefined
    const pending: Pending = { request, requestId, isSent: false, settle }
    const others = [...this.#pending]
    this.#pending = new Set(request.isFirst === true ? [pending, ...others] : [...others, pending])
    this.#flush()
    return pending
  }

  #settle(pending: Pending, reply: () => unknown): void {
    this.#forget(pending)
    pending.settle(reply)
    this.#flush()
  }

  #forget(pending: Pending): void {
    this.#pending = new Set([...this.#pending].filter((other) => other !== pending))
  }

  #flush(): void {
    const send = this.#send
    if (send === undefined) return
    let isBusy = [...this.#pending].some((one) => one.isSent && one.requestId === undefined)
    for (const pending of this.#pending) {
      const isInTurn = pending.requestId === undefined
      if (pending.isSent) continue
      // What comes behind it counts on what it changes.
      if (isInTurn && isBusy && pending.request.isFirst === true) return
      if (isInTurn && isBusy) continue
      isBusy ||= isInTurn
      pending.isSent = true
      send(pending.request.message)
    }
  }
}

/** What a message says to a request: gives its value, or throws why not; undefined when it is no reply. */
function replyOf(
  request: SocketRequest<unknown>,
  message: ServerMessage,
): (() => unknown) | undefined {
  try {
    const reply = request.reply(message)
    return reply && (() => reply.value)
  } catch (error) {
    return () => {
      throw error
    }
  }
}
