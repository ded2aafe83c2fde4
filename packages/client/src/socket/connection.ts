/**
 * A connection that outlives its sockets.
 *
 *   ticket ─▶ socket ─▶ hello ─▶ subscribe at the next seq ─▶ events, replies
 *      ▲                                                           │
 *      └────────────── wait ◀───────── lost ◀──────────────────────┘
 *
 * It leaves to its neighbours which event is next (`subscription.ts`), which reply belongs to which request
 * (`requests.ts`), and what a socket is (`run-socket.ts`).
 *
 * C1 It comes back for ever, or `maxRetries` times in a row that bring nothing, and says so. What a repeat
 *    cannot mend ends it: a refused key, an unknown run, a message that does not fit.
 * C2 The subscription goes on at its place on each socket; only the newest one is in force.
 * C3 After the end no timer, listener or socket is left; loops end, with the error when there is one.
 */
import { openScope, type CallScope } from '../call-scope.ts'
import { TuttiClientError } from '../errors.ts'
import { backoffMs, canReconnect } from '../reconnect.ts'
import { openSocket, throwHandshakeFailure, type SocketOpener } from './open-socket.ts'
import { Requests } from './requests.ts'
import { readSocket } from './run-socket.ts'
import { subscribeRequest } from './socket-commands.ts'
import { NEEDED_TYPES, type Subscription } from './subscription.ts'

import type { ConnectionState } from '../events/connection-state.ts'
import type { ResolvedClientOptions } from '../options.ts'
import type { ConnectOptions } from './connection-types.ts'
import type { EventPosition, Hello, ServerMessage, Subscribe } from '@tutti/protocol'

/** A state without what the connection itself knows of it. */
type BareState<State> = State extends unknown ? Omit<State, 'attempt' | 'lastEventId'> : never

/** Sent in place of a subscription when nobody reads: the server would send everything. */
const NOTHING: Subscribe = { type: 'subscribe', events: [...NEEDED_TYPES] }

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
  /** The greeting of the socket that is open. */
  #hello: Hello | undefined
  #attempt = 0
  /** Whether the socket brought anything beside its greeting. */
  #hasReceived = false

  constructor(settings: ResolvedClientOptions, opener: SocketOpener, options: ConnectOptions) {
    this.#settings = settings
    this.#opener = opener
    this.#options = options
    this.#life = openScope(settings.clock, [this.#leaving.signal, options.signal])
    this.requests = new Requests(settings, this.#life.signal)
    this.#ended = this.#keep()
  }

  /** Whether nothing comes any more. */
  get isOver(): boolean {
    return this.#life.signal.aborted
  }

  /** The greeting of the socket that is open, or of the next one. */
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

  /** The signal that aborts when the connection is over. */
  get signal(): AbortSignal {
    return this.#life.signal
  }

  /** Follows something else, or nothing. */
  follow(subscription: Subscription | undefined): void {
    this.#subscription?.end()
    this.#subscription = subscription
    if (this.#hello !== undefined) this.#subscribe()
  }

  /** Ends what is followed, if it is still this. */
  unfollow(subscription: Subscription): void {
    subscription.end()
    if (this.#subscription === subscription) this.follow(undefined)
  }

  /** Ends it; resolves when nothing is left of it. */
  close(): Promise<void> {
    this.#leaving.abort()
    return this.#ended
  }

  async #keep(): Promise<void> {
    let failure: { readonly error?: unknown } = {}
    try {
      // What is told to the caller comes after `connect` has returned.
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

  /** Reads one socket to its end; gives why it ended. @throws what a repeat cannot mend. */
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
    // Quiet runs bring nothing for long: a socket that held is no failed try.
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
    throw new TuttiClientError('CONNECTION_FAILED', `The WebSocket was closed with ${code}${why}`)
  }

  #greet(hello: Hello, send: (message: object) => void): void {
    this.#hello = hello
    this.#subscription?.greeted()
    this.#report({ status: 'open' })
    this.#options.onMessage?.(hello)
    this.#options.onHello?.(hello)
    // The subscription goes first: nothing may come between the greeting and it.
    this.#subscribe()
    this.requests.attach(send)
    for (const onHello of this.#greeted) onHello(hello)
  }

  #receive(message: ServerMessage): void {
    if (message.type !== 'heartbeat') this.#hasReceived = true
    this.#options.onMessage?.(message)
    if ('seq' in message) this.#subscription?.take(message)
    this.requests.take(message)
  }

  #subscribe(): void {
    const subscription = this.#subscription
    const isOver = subscription === undefined || subscription.isOver
    // Told at once: the events may come with the same piece of data as the reply.
    const onReply = (): void => {
      if (this.#subscription === subscription) subscription?.confirmed()
    }
    const request = subscribeRequest(isOver ? NOTHING : subscription.message, onReply)
    this.requests.ask(request).catch((error: unknown) => {
      if (this.#subscription === subscription && !isLoss(error)) subscription?.end({ error })
    })
  }

  async #beforeNextTry(error: TuttiClientError): Promise<void> {
    const { reconnect, random } = this.#settings
    if (this.#attempt >= reconnect.maxRetries) throw error
    this.#attempt += 1
    const wait = backoffMs(this.#attempt, { ...reconnect, random })
    const delayMs = Math.max(wait, error.retryAfterMs ?? 0)
    this.#report({ status: 'reconnecting', delayMs, error })
    await this.#life.pause(delayMs)
  }

  #report(state: BareState<ConnectionState>): void {
    const lastEventId = this.#subscription?.lastEventId
    const at = lastEventId === undefined ? {} : { lastEventId }
    this.#options.onConnection?.({ ...state, attempt: this.#attempt, ...at })
  }

  /** The last word has nobody to throw to. */
  #reportClosed(state: BareState<ConnectionState>): void {
    try {
      this.#report(state)
    } catch {
      // What a listener throws closes the connection, which is closed.
    }
  }
}

/** A subscription whose socket was lost is made again on the next one. */
function isLoss(error: unknown): boolean {
  return TuttiClientError.isInstance(error) && ['CONNECTION_FAILED', 'ABORTED'].includes(error.code)
}
