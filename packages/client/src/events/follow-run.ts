/**
 * Follows the events of a run over as many connections as it takes.
 *
 *   connect ─▶ read frames ─▶ decode ─▶ place ─▶ give
 *      ▲                                 │
 *      └───── wait ◀───── lost ◀─────────┘
 *
 * It leaves to its neighbours what a frame is (`read-frames.ts`), which event is next
 * (`event-cursor.ts`), and how long to wait (`../reconnect.ts`).
 *
 * R1 Every event from the place asked for is given once, in order, over any number of connections.
 * R2 It ends after the terminal event, which is asked for even when the reader does not want it, and on
 *    204: there is nothing more to come.
 * R3 A lost connection is tried again for ever, or `maxRetries` times in a row that bring nothing. What
 *    a repeat cannot mend is thrown: a status below 500 that is not 429, an answer that is no event
 *    stream, an event that does not fit.
 * R4 An abort is thrown as ABORTED, the end of the time for it as TIMED_OUT; a reader that leaves sees a plain end. Both close the connection at
 *    once, wherever the stream is.
 * R5 No timer, listener or connection is left when it has ended.
 */
import { ROUTES, type LoggedRunEvent } from '@tutti/protocol'

import { openScope, type CallScope } from '../call-scope.ts'
import { TuttiClientError } from '../errors.ts'
import { answerError } from '../http/read-answer.ts'
import { readBodyText, send, type RouteRequest } from '../http/send.ts'
import { backoffMs, canReconnect } from '../reconnect.ts'
import { decodeEvent } from './decode-event.ts'
import { placeEvent, resumePoint, startCursor, type EventCursor } from './event-cursor.ts'
import { readFrames } from './read-frames.ts'

import type { ResolvedClientOptions } from '../options.ts'
import type { ConnectionState } from './connection-state.ts'

/** Connections in a row that may leave out the same event before the log itself must be broken. */
const MAX_GAPS = 5

/** What to follow. */
export interface FollowRequest<Wanted extends LoggedRunEvent> {
  readonly runId: string
  /** The event stream of this run, as `routePath` gives it. */
  readonly path: string
  readonly from: number | undefined
  /** The types to ask the server for; all when absent. The terminal one must be among them. */
  readonly types: readonly string[] | undefined
  readonly isWanted: (event: LoggedRunEvent) => event is Wanted
  readonly signal: AbortSignal | undefined
  /** Time for the whole stream, in milliseconds. */
  readonly timeoutMs: number
  readonly onConnection: ((state: ConnectionState) => void) | undefined
}

/** Gives the wanted events; `leaving` aborts when the reader goes while it waits for one. */
export async function* followRun<Wanted extends LoggedRunEvent>(
  settings: ResolvedClientOptions,
  request: FollowRequest<Wanted>,
  leaving: AbortSignal,
): AsyncGenerator<Wanted, void> {
  const life = openScope(settings.clock, [leaving, request.signal])
  const { runId, timeoutMs } = request
  const stop = life.limit(timeoutMs, `Run "${runId}" has not ended within ${timeoutMs} ms`)
  const stream = new RunStream(settings, request, life)
  let failure: { readonly error: unknown } | undefined
  try {
    for (;;) {
      const outcome = yield* stream.connection()
      if (outcome.kind === 'over') return
      await stream.beforeNextTry(outcome.error)
    }
  } catch (error) {
    if (leaving.aborted) return
    failure = { error }
    throw error
  } finally {
    stop()
    life.close()
    stream.report({ status: 'closed', ...failure })
  }
}

/** How a connection ended: with the run, or too early. */
type Outcome =
  | { readonly kind: 'over' }
  | { readonly kind: 'lost'; readonly error: TuttiClientError }

/** A state without what the stream itself knows of it. */
type BareState<State> = State extends unknown ? Omit<State, 'attempt' | 'lastEventId'> : never

/** What outlives each connection of a stream. */
class RunStream<Wanted extends LoggedRunEvent> {
  readonly #settings: ResolvedClientOptions
  readonly #request: FollowRequest<Wanted>
  readonly #life: CallScope
  #cursor: EventCursor
  #attempt = 0
  #gaps = 0

  constructor(settings: ResolvedClientOptions, request: FollowRequest<Wanted>, life: CallScope) {
    this.#settings = settings
    this.#request = request
    this.#life = life
    this.#cursor = startCursor(request.from, request.types !== undefined)
  }

  /** Tells the listener, if there is one. */
  report(state: BareState<ConnectionState>): void {
    const { lastEventId } = this.#cursor
    const at = lastEventId === undefined ? {} : { lastEventId }
    this.#request.onConnection?.({ ...state, attempt: this.#attempt, ...at })
  }

  /** Gives the wanted events of one connection, and tells how it ended. */
  async *connection(): AsyncGenerator<Wanted, Outcome> {
    const { clock, reconnect } = this.#settings
    const scope = openScope(clock, [this.#life.signal])
    const openedAt = clock.elapsed()
    try {
      for await (const event of this.#read(scope)) {
        const isLast = event.type === 'run_result'
        // Closed before the event is given: a reader that has what it wants may never come back.
        if (isLast) scope.close()
        if (this.#request.isWanted(event)) yield event
        if (isLast) break
      }
      return { kind: 'over' }
    } catch (error) {
      if (this.#life.signal.aborted) throw error
      if (!TuttiClientError.isInstance(error) || !canReconnect(error)) throw error
      // Quiet runs bring nothing for long: a connection that held is no failed try.
      if (clock.elapsed() - openedAt >= reconnect.maxDelayMs) this.#attempt = 0
      return { kind: 'lost', error }
    } finally {
      scope.close()
    }
  }

  /** Waits as long as it takes before the next try. @throws {TuttiClientError} when there is none. */
  async beforeNextTry(error: TuttiClientError): Promise<void> {
    const { reconnect, random } = this.#settings
    if (this.#attempt >= reconnect.maxRetries) throw error
    this.#attempt += 1
    const wait = backoffMs(this.#attempt, { ...reconnect, random })
    const delayMs = Math.max(wait, error.retryAfterMs ?? 0)
    this.report({ status: 'reconnecting', delayMs, error })
    await this.#life.pause(delayMs)
  }

  /** The events that one connection brings; ends when the server says that there are no more. */
  async *#read(scope: CallScope): AsyncGenerator<LoggedRunEvent, void> {
    const body = await this.#connect(scope)
    if (body === undefined) return
    this.report({ status: 'open' })
    const { idleTimeoutMs } = this.#settings.reconnect
    for await (const frames of readFrames({ body, scope, idleTimeoutMs })) {
      for (const { id, data } of frames) {
        const event = this.#place(data, id)
        if (event !== undefined) yield event
        scope.signal.throwIfAborted()
      }
    }
    throw new TuttiClientError('CONNECTION_FAILED', 'The server ended the stream before the run')
  }

  /** The body of an event stream; undefined when there is nothing more to come. */
  async #connect(scope: CallScope): Promise<ReadableStream<Uint8Array> | undefined> {
    const { path, types } = this.#request
    const { query, headers } = resumePoint(this.#cursor)
    const request: RouteRequest = {
      method: ROUTES.streamRunEvents.method,
      path,
      query: { ...query, events: types?.join(',') },
      headers: { ...headers, accept: 'text/event-stream' },
    }
    const { idleTimeoutMs } = this.#settings.reconnect
    const stop = scope.limit(idleTimeoutMs, `No answer for ${idleTimeoutMs} ms`)
    try {
      const response = await send(this.#settings, request, scope)
      if (response.status === 204) return undefined
      if (response.ok) return eventBody(response, request)
      const { status } = response
      const text = await readBodyText(response, request, scope)
      const receivedAt = this.#settings.clock.now()
      throw answerError({ request, status, headers: response.headers, text, receivedAt })
    } finally {
      stop()
    }
  }

  /** The event of a frame if it is the next one; undefined when it was there before or has no known type. */
  #place(data: string, id: string | undefined): LoggedRunEvent | undefined {
    const decoded = decodeEvent(data, this.#request.runId)
    const { seq, id: ownId } = decoded.event
    // A frame without an id, or with an empty one, still has the id that the event itself names.
    const placement = placeEvent(this.#cursor, { seq, id: id || ownId })
    if (placement.kind === 'seen') return undefined
    if (placement.kind === 'gap') {
      this.#gaps += 1
      const message = `Run "${this.#request.runId}" must go on with event ${placement.expectedSeq}, got ${seq}`
      throw new TuttiClientError('BAD_RESPONSE', message, { retryable: this.#gaps < MAX_GAPS })
    }
    this.#cursor = placement.cursor
    this.#attempt = 0
    this.#gaps = 0
    return decoded.known ? decoded.event : undefined
  }
}

function eventBody(
  { status, headers, body }: Response,
  { method, path }: RouteRequest,
): ReadableStream<Uint8Array> {
  const type = headers.get('content-type') ?? 'none'
  if (body !== null && /^text\/event-stream\b/i.test(type)) return body
  const message = `${method} ${path} was answered with ${status} and no event stream: content-type is ${type}`
  throw new TuttiClientError('BAD_RESPONSE', message, { status })
}
