/**
 * Pending requests of a connection.
 *
 * CLIENT-P1 A request has an id, which its reply or its error repeats. Other messages settle no request.
 * CLIENT-P2 When a socket is lost, sent requests fail with CONNECTION_FAILED, since they may have been applied. Unsent
 *    requests are sent on the next socket, unless they concern the lost one.
 * CLIENT-P3 No request waits longer than its time limit, and none is left when the connection is closed.
 * CLIENT-P4 A command is sent only after the earlier subscriptions have taken effect.
 */
import { openScope } from '../call-scope.ts'
import { TuttiClientError, type ClientErrorCode, type TuttiClientErrorOptions } from '../errors.ts'

import type { CallOptions } from '../http/exchange.ts'
import type { ResolvedClientOptions } from '../options.ts'
import type { ServerMessage } from '@tutti/protocol'

/** A message and the reading of its reply. */
export interface SocketRequest<T> {
  /** Message without its id; JSON omits fields that are undefined. */
  readonly message: object
  /** Description for error messages, such as `cancel of run "r-1"`. */
  readonly what: string
  /** Whether the request concerns the socket itself, so that commands wait for its reply. @default false */
  readonly isSubscription?: boolean
  /**
   * Returns the value of the reply.
   *
   * @throws {TuttiClientError} when the reply is invalid.
   */
  reply(message: ServerMessage): T
}

interface Pending {
  readonly request: Omit<SocketRequest<unknown>, 'reply'>
  readonly settle: (message: ServerMessage) => void
  readonly fail: (error: TuttiClientError) => void
}

/** The requests of one connection. */
export class Requests {
  readonly #settings: ResolvedClientOptions
  readonly #life: AbortSignal
  /** Requests to send, in order; subscriptions first. */
  #waiting: readonly Pending[] = []
  readonly #sent = new Map<string, Pending>()
  #lastId = 0
  #send: ((message: object) => void) | undefined

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
        const settle = (message: ServerMessage): void => {
          try {
            resolve(request.reply(message))
          } catch (error) {
            reject(error)
          }
        }
        pending = { request, settle, fail: reject }
        this.#waiting =
          request.isSubscription === true
            ? [pending, ...this.#waiting]
            : [...this.#waiting, pending]
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
  attach(send: (message: object) => void): void {
    this.#send = send
    this.#sendNext()
  }

  /** Fails the requests that a lost socket carried or concerns. */
  detach(error: TuttiClientError): void {
    this.#send = undefined
    const lost = [
      ...this.#sent.values(),
      ...this.#waiting.filter(({ request }) => request.isSubscription),
    ]
    for (const pending of lost) {
      this.#forget(pending)
      pending.fail(error)
    }
  }

  /** Passes a message to the request that it answers. */
  take(message: ServerMessage): void {
    const id = 'requestId' in message ? message.requestId : undefined
    const sent = id === undefined ? undefined : this.#sent.get(id)
    if (sent === undefined) return
    if (message.type === 'error') {
      const { error: code, message: reason, problems, retryAfterMs } = message
      sent.fail(refusalError(sent.request.what, reason, { code, problems, retryAfterMs }))
    } else sent.settle(message)
    this.#forget(sent)
  }

  #forget(pending: Pending): void {
    for (const [id, other] of this.#sent) if (other === pending) this.#sent.delete(id)
    this.#waiting = this.#waiting.filter((other) => other !== pending)
    this.#sendNext()
  }

  #sendNext(): void {
    for (;;) {
      const [next, ...others] = this.#waiting
      if (this.#send === undefined || next === undefined || this.#isSubscribing) return
      this.#waiting = others
      this.#lastId += 1
      const requestId = String(this.#lastId)
      this.#sent.set(requestId, next)
      this.#send({ ...next.request.message, requestId })
    }
  }

  /** Whether a subscription has not been confirmed. */
  get #isSubscribing(): boolean {
    return [...this.#sent.values()].some(({ request }) => request.isSubscription)
  }
}

/** Returns the error for a request that the server refused. */
function refusalError(
  what: string,
  reason: string,
  { code, ...details }: TuttiClientErrorOptions & { readonly code: ClientErrorCode },
): TuttiClientError {
  return new TuttiClientError(code, `The server refused ${what} with ${code}: ${reason}`, details)
}
