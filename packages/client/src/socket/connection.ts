/**
 * A connection over a sequence of sockets.
 *
 *   ticket ─▶ socket ─▶ hello ─▶ subscribe at the next seq ─▶ events, replies
 *      ▲                                                           │
 *      └────────────── wait ◀───────── lost ◀──────────────────────┘
 *
 * `subscription.ts` finds the next event, `requests.ts` assigns replies to requests, and `run-socket.ts` reads one
 * socket.
 *
 * CLIENT-C1 The connection reconnects without limit, or up to `maxRetries` consecutive times without a message, and
 *    reports each attempt. Failures that a retry cannot fix end it: a refused key, an unknown run, an invalid message.
 * CLIENT-C2 The subscription resumes at its position on each socket; only the newest subscription is active.
 * CLIENT-C3 A connection that has ended leaves no timer, listener or socket. Loops end, with the error if it failed.
 */
import { TextRestorer } from '@tutti/protocol/internal'

import { openScope, type CallScope } from '../call-scope.ts'
import { TuttiClientError } from '../errors.ts'
import { restoreEvent } from '../events/decode-event.ts'
import { canReconnect, retryDelayMs } from '../reconnect.ts'
import { openSocket, throwHandshakeFailure, type SocketOpener } from './open-socket.ts'
import { Requests } from './requests.ts'
import { readSocket } from './run-socket.ts'
import { subscribeRequest } from './socket-commands.ts'
import { LAST_TYPE, type Subscription } from './subscription.ts'

import type { ConnectionState } from '../events/connection-state.ts'
import type { ResolvedClientOptions } from '../options.ts'
import type { ConnectOptions } from './connection-types.ts'
import type { LoggedRunEvent, ServerMessage } from '@tutti/protocol'
import type { EventPosition, Hello, Subscribe } from '@tutti/protocol/internal'

/** A connection state without the fields that the connection adds. */
type BareState<State> = State extends unknown ? Omit<State, 'attempt' | 'lastEventId'> : never

/** Sent without a subscription, because the server would otherwise send every event. */
const NOTHING: Subscribe = { type: 'subscribe', events: [LAST_TYPE] }

/** A connection to one server. */
export class Connection {
  readonly requests: Requests
  readonly #settings: ResolvedClientOptions
  readonly #opener: SocketOpener
  readonly #options: ConnectOptions
  readonly #leaving = new AbortController()
  readonly #life: CallScope
  readonly #ended: Promise<void>
  readonly #greeted = new Set<(hello: Hello) => void>()
  #subscription: Subscription | undefined
  /** Run of the subscription that the server has acknowledged on the open socket, and its texts. */
  #restored: { readonly runId: string; readonly restorer: TextRestorer } | undefined
  /** Hello message of the open socket. */
  #hello: Hello | undefined
  #attempt = 0
  /** Whether the socket received anything other than hello and heartbeats. */
  #hasReceived = false

  constructor(settings: ResolvedClientOptions, opener: SocketOpener, options: ConnectOptions) {
    this.#settings = settings
    this.#opener = opener
    this.#options = options
    this.#life = openScope(settings.clock, [this.#leaving.signal, options.signal])
    this.requests = new Requests(settings, this.#life.signal)
    this.#ended = this.#keep()
  }

  /** Whether the connection has ended. */
  get isOver(): boolean {
    return this.#life.signal.aborted
  }

  /** Returns the hello message of the open socket, or of the next one. */
  async hello(scope: CallScope): Promise<Hello> {
    this.#life.signal.throwIfAborted()
    if (this.#hello !== undefined) return this.#hello
    let onHello: ((hello: Hello) => void) | undefined
    const greeted = new Promise<Hello>((resolve) => {
      onHello = resolve
      this.#greeted.add(resolve)
    })
    return scope.race(greeted).finally(() => onHello && this.#greeted.delete(onHello))
  }

  /** Aborts when the connection has ended. */
  get signal(): AbortSignal {
    return this.#life.signal
  }

  /** Replaces the subscription; undefined for none. */
  follow(subscription: Subscription | undefined): void {
    this.#subscription?.end()
    this.#subscription = subscription
    if (this.#hello !== undefined) this.#subscribe()
  }

  /** Ends a subscription, and stops following if it is the current one. */
  unfollow(subscription: Subscription): void {
    subscription.end()
    if (this.#subscription === subscription) this.follow(undefined)
  }

  /** Ends the connection; resolves when its socket is closed. */
  close(): Promise<void> {
    this.#leaving.abort()
    return this.#ended
  }

  async #keep(): Promise<void> {
    let failure: { readonly error?: unknown } = {}
    try {
      // Callbacks run after `connect` has returned.
      await Promise.resolve()
      for (;;) {
        const error = await this.#oneSocket()
        await this.#beforeNextTry(error)
      }
    } catch (error) {
      if (!this.#leaving.signal.aborted) failure = { error }
    }
    this.#life.close(failure.error)
    this.#subscription?.end(failure)
    this.#reportClosed({ status: 'closed', ...failure })
  }

  /** Reads one socket to its end and returns the reason. @throws a failure that a retry cannot fix. */
  async #oneSocket(): Promise<TuttiClientError> {
    const { clock, reconnect } = this.#settings
    const scope = openScope(clock, [this.#life.signal])
    const openedAt = clock.elapsed()
    let lost = new TuttiClientError('CONNECTION_FAILED', 'The WebSocket was lost')
    try {
      await this.#read(scope)
    } catch (error) {
      if (this.#life.signal.aborted) throw error
      if (!TuttiClientError.isInstance(error) || !canReconnect(error)) throw error
      lost = error
    } finally {
      this.#hello = undefined
      scope.close()
      this.requests.detach(lost)
    }
    // A run may have no events for a long time: a socket that stayed open does not count as a failed attempt.
    const hasHeld = clock.elapsed() - openedAt >= reconnect.maxDelayMs
    if (hasHeld || this.#hasReceived) this.#attempt = 0
    this.#hasReceived = false
    return lost
  }

  async #read(scope: CallScope): Promise<never> {
    const { runId, snapshot } = this.#options
    const target = { runId, snapshot, signal: scope.signal }
    const socket = await openSocket(this.#settings, this.#opener, target)
    const send = (message: object): void => {
      socket.send(JSON.stringify(message))
    }
    const { idleTimeoutMs } = this.#settings.reconnect
    const events = {
      onMessage: (message: ServerMessage) => {
        if (message.type === 'hello') this.#greet(message, send)
        else this.#receive(message)
      },
      onUnknownEvent: (position: EventPosition) => void this.#subscription?.advance(position),
    }
    const { wasOpen, code, reason } = await readSocket(socket, events, { scope, idleTimeoutMs })
    if (!wasOpen) return throwHandshakeFailure(this.#settings, target)
    const why = reason === '' ? '' : `: ${reason}`
    throw new TuttiClientError(
      'CONNECTION_FAILED',
      `The WebSocket was closed with code ${code}${why}`,
    )
  }

  #greet(hello: Hello, send: (message: object) => void): void {
    this.#hello = hello
    this.#restored = undefined
    this.#subscription?.greeted()
    this.#report({ status: 'open' })
    this.#options.onMessage?.(hello)
    this.#options.onHello?.(hello)
    // The subscription is sent first: no other message may come between hello and it.
    this.#subscribe()
    this.requests.attach(send)
    for (const onHello of this.#greeted) onHello(hello)
  }

  #receive(received: ServerMessage): void {
    if (received.type !== 'heartbeat') this.#hasReceived = true
    const message = 'seq' in received ? this.#restore(received) : received
    this.#options.onMessage?.(message)
    if ('seq' in message) this.#subscription?.take(message)
    this.requests.take(message)
  }

  /** Restores the texts that the server omitted from the followed run. */
  #restore(event: LoggedRunEvent): LoggedRunEvent {
    const followed = this.#restored
    return followed?.runId === event.runId ? restoreEvent(event, followed.restorer) : event
  }

  #subscribe(): void {
    const subscription = this.#subscription
    const isOver = subscription === undefined || subscription.isOver
    // Called synchronously: events may arrive in the same data as the reply.
    const onReply = (): void => {
      const runId = isOver ? undefined : subscription.runId
      this.#restored = runId === undefined ? undefined : { runId, restorer: new TextRestorer() }
      if (this.#subscription === subscription) subscription?.confirmed()
    }
    const request = subscribeRequest(isOver ? NOTHING : subscription.message, onReply)
    this.requests.ask(request).catch((error: unknown) => {
      if (this.#subscription === subscription && !isLoss(error)) subscription?.end({ error })
    })
  }

  async #beforeNextTry(error: TuttiClientError): Promise<void> {
    if (this.#attempt >= this.#settings.reconnect.maxRetries) throw error
    this.#attempt += 1
    const delayMs = retryDelayMs(this.#attempt, error, this.#settings)
    this.#report({ status: 'reconnecting', delayMs, error })
    await this.#life.pause(delayMs)
  }

  #report(state: BareState<ConnectionState>): void {
    const lastEventId = this.#subscription?.lastEventId
    const at = lastEventId === undefined ? {} : { lastEventId }
    this.#options.onConnection?.({ ...state, attempt: this.#attempt, ...at })
  }

  /** Reports the closed state and ignores exceptions of the listener. */
  #reportClosed(state: BareState<ConnectionState>): void {
    try {
      this.#report(state)
    } catch {
      // An exception of a listener closes the connection, which is closed already.
    }
  }
}

/** Whether a subscription failed because its socket was lost; it is repeated on the next socket. */
function isLoss(error: unknown): boolean {
  return TuttiClientError.isInstance(error) && ['CONNECTION_FAILED', 'ABORTED'].includes(error.code)
}
