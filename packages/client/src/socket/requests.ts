/**
 * The requests of a connection that wait for their replies.
 *
 * P1 Requests go out one after the other: replies and errors carry no id, so that they can only belong to the one
 *    that is out.
 * P2 When a socket is lost, the request that is out fails with CONNECTION_FAILED, since it may have been done. What
 *    was not sent yet is sent on the next socket, unless it was about the lost one.
 * P3 No request waits longer than its time limit, and none is left when the connection is closed.
 */
import { openScope } from '../call-scope.ts'
import { TuttiClientError, type ClientErrorCode, type TuttiClientErrorOptions } from '../errors.ts'

import type { CallOptions } from '../http/exchange.ts'
import type { ResolvedClientOptions } from '../options.ts'
import type { ClientMessage, ErrorMessage, ServerMessage } from '@tutti/protocol'

/** A message and how its reply looks. */
export interface SocketRequest<T> {
  readonly message: ClientMessage
  /** For people, such as `cancel of run "r-1"`. */
  readonly what: string
  /** Whether it is about the socket itself, and goes before commands that wait. @default false */
  readonly isFirst?: boolean
  /**
   * The value of its reply; undefined for a message that is none.
   *
   * @throws {TuttiClientError} when the reply is a refusal.
   */
  reply(message: ServerMessage): { readonly value: T } | undefined
  /** Whether an error can be the reply. @default any can */
  readonly mayFailWith?: ((error: ErrorMessage) => boolean) | undefined
}

interface Pending {
  readonly request: Omit<SocketRequest<unknown>, 'reply'>
  /** Settles with a message that is the reply; false for any other. */
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

  /** `life` ends with the connection. */
  constructor(settings: ResolvedClientOptions, life: AbortSignal) {
    this.#settings = settings
    this.#life = life
  }

  /** Sends a request, now or when its turn has come; resolves with its reply. */
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

  /** A socket is there: sends what waits. */
  attach(send: (message: ClientMessage) => void): void {
    this.#send = send
    this.#sendNext()
  }

  /** The socket is lost. */
  detach(error: TuttiClientError): void {
    this.#send = undefined
    const lost = [this.#sent, ...this.#waiting.filter(({ request }) => request.isFirst)]
    for (const pending of lost) {
      if (pending === undefined) continue
      this.#forget(pending)
      pending.fail(error)
    }
  }

  /** Gives a message to the request that is out. */
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

/** The error for `what`, which the server refused. */
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
