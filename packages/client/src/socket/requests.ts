/**
 * Pending requests of a connection.
 *
 * CLIENT-P1 Requests are sent one after the other: replies and errors have no id, so they belong to the request in
 *    flight.
 * CLIENT-P2 When a socket is lost, the request in flight fails with CONNECTION_FAILED, since it may have been applied.
 *    Unsent requests are sent on the next socket, unless they concern the lost one.
 * CLIENT-P3 No request waits longer than its time limit, and none is left when the connection is closed.
 */
import { openScope } from '../call-scope.ts'
import { TuttiClientError, type ClientErrorCode, type TuttiClientErrorOptions } from '../errors.ts'

import type { CallOptions } from '../http/exchange.ts'
import type { ResolvedClientOptions } from '../options.ts'
import type { ClientMessage, ErrorMessage, ServerMessage } from '@tutti/protocol'

/** A message and the reading of its reply. */
export interface SocketRequest<T> {
  readonly message: ClientMessage
  /** Description for error messages, such as `cancel of run "r-1"`. */
  readonly what: string
  /** Whether the request concerns the socket itself and precedes waiting commands. @default false */
  readonly isFirst?: boolean
  /**
   * Returns the value of the reply; undefined for any other message.
   *
   * @throws {TuttiClientError} when the reply is a refusal.
   */
  reply(message: ServerMessage): { readonly value: T } | undefined
  /** Whether an error can be the reply. @default every error can */
  readonly mayFailWith?: ((error: ErrorMessage) => boolean) | undefined
}

interface Pending {
  readonly request: Omit<SocketRequest<unknown>, 'reply'>
  /** Settles the request if the message is its reply; returns whether it is. */
  readonly take: (message: ServerMessage) => boolean
  readonly fail: (error: TuttiClientError) => void
}

/** The requests of one connection. */
export class Requests {
  readonly #settings: ResolvedClientOptions
  readonly #life: AbortSignal
  #waiting: readonly Pending[] = []
  #sent: Pending | undefined
  #send: ((message: ClientMessage) => void) | undefined

  /** `life` aborts when the connection ends. */
  constructor(settings: ResolvedClientOptions, life: AbortSignal) {
    this.#settings = settings
    this.#life = life
  }

  /** Sends a request when its turn comes; resolves with its reply. */
  async ask<T>(request: SocketRequest<T>, options: CallOptions = {}): Promise<T> {
    const { signal, timeoutMs = this.#settings.timeoutMs } = options
    const scope = openScope(this.#settings.clock, [this.#life, signal])
    const stop = scope.limit(timeoutMs, `No reply to ${request.what} within ${timeoutMs} ms`)
    let pending: Pending | undefined
    try {
      scope.signal.throwIfAborted()
      const replied = new Promise<T>((resolve, reject) => {
        pending = { request, take: takeReply(request, resolve, reject), fail: reject }
        this.#waiting =
          request.isFirst === true ? [pending, ...this.#waiting] : [...this.#waiting, pending]
      })
      this.#sendNext()
      return await scope.race(replied)
    } finally {
      if (pending !== undefined) this.#forget(pending)
      stop()
      scope.close()
    }
  }

  /** Begins to send over a new socket. */
  attach(send: (message: ClientMessage) => void): void {
    this.#send = send
    this.#sendNext()
  }

  /** Fails the requests that a lost socket carried or concerns. */
  detach(error: TuttiClientError): void {
    this.#send = undefined
    const lost = [this.#sent, ...this.#waiting.filter(({ request }) => request.isFirst)]
    for (const pending of lost) {
      if (pending === undefined) continue
      this.#forget(pending)
      pending.fail(error)
    }
  }

  /** Passes a message to the request in flight. */
  take(message: ServerMessage): void {
    const sent = this.#sent
    if (sent === undefined) return
    if (message.type === 'error') {
      const { what, mayFailWith } = sent.request
      if (mayFailWith?.(message) === false) return
      const { error: code, message: reason, problems, retryAfterMs, requestId } = message
      sent.fail(refusalError(what, reason, { code, problems, retryAfterMs, requestId }))
    } else if (!sent.take(message)) return
    this.#forget(sent)
  }

  #forget(pending: Pending): void {
    if (this.#sent === pending) this.#sent = undefined
    this.#waiting = this.#waiting.filter((other) => other !== pending)
    this.#sendNext()
  }

  #sendNext(): void {
    const [next, ...others] = this.#waiting
    if (this.#send === undefined || this.#sent !== undefined || next === undefined) return
    this.#sent = next
    this.#waiting = others
    this.#send(next.request.message)
  }
}

/** Returns the error for a request that the server refused. */
export function refusalError(
  what: string,
  reason: string,
  {
    code = 'REFUSED',
    ...details
  }: TuttiClientErrorOptions & { readonly code?: ClientErrorCode | undefined } = {},
): TuttiClientError {
  return new TuttiClientError(code, `The server refused ${what} with ${code}: ${reason}`, details)
}

function takeReply<T>(
  request: SocketRequest<T>,
  resolve: (value: T) => void,
  reject: (error: unknown) => void,
): Pending['take'] {
  return (message) => {
    try {
      const reply = request.reply(message)
      if (reply === undefined) return false
      resolve(reply.value)
    } catch (error) {
      reject(error)
    }
    return true
  }
}
