/**
 * Follows the events of a run over any number of connections. The first one may submit the run.
 *
 *   connect ─▶ read frames ─▶ decode ─▶ order ─▶ yield
 *      ▲                                 │
 *      └───── wait ◀───── lost ◀─────────┘
 *
 * `read-frames.ts` parses frames, `event-cursor.ts` finds the next event, and `../reconnect.ts` computes the waits.
 *
 * CLIENT-R1 Every event from the requested position is yielded once and in order, over any number of connections.
 * CLIENT-R2 The stream ends after the terminal event, which is requested even if the reader does not want it, and on
 *    204, when no further event can follow.
 * CLIENT-R3 A lost connection is retried without limit, or up to `maxRetries` consecutive times without an event.
 *    Failures that a retry cannot fix are thrown: a status below 500 other than 429, a response that is not an event
 *    stream, an event that does not match its schema.
 * CLIENT-R4 An abort is thrown as ABORTED, and a time limit as TIMED_OUT. A reader that leaves sees a normal end. Each
 *    closes the connection at once.
 * CLIENT-R5 A stream that has ended leaves no timer, listener or connection.
 * CLIENT-R6 A submission is repeated only with an idempotency key, up to `maxRepeats` times, and no longer once the
 *    server has named the run.
 */
import { ROUTES, routePath, type LoggedRunEvent, type SubmitRunBody } from '@tutti/protocol'
import { TextRestorer } from '@tutti/protocol/internal'

import { openScope, type CallScope } from '../call-scope.ts'
import { TuttiClientError } from '../errors.ts'
import { answerError } from '../http/read-answer.ts'
import { readBodyText, send, type RouteRequest } from '../http/send.ts'
import { canReconnect, retryDelayMs } from '../reconnect.ts'
import { decodeEvent, type DecodedEvent } from './decode-event.ts'
import { placeEvent, resumePoint, startCursor, type EventCursor } from './event-cursor.ts'
import { readFrames } from './read-frames.ts'

import type { ResolvedClientOptions } from '../options.ts'
import type { ConnectionState } from './connection-state.ts'

/** Maximum number of consecutive connections that may miss the same event; after that the log itself is broken. */
const MAX_GAPS = 5

/** A run to submit, whose events are sent in the response. */
export interface StreamedSubmission {
  readonly body: SubmitRunBody
  readonly idempotencyKey: string | undefined
}

export interface SubmittedRun {
  readonly runId: string
  /** Path of its event stream, as `routePath` returns it. */
  readonly path: string
}

/** A run to follow, and how. */
export interface FollowRequest<Wanted extends LoggedRunEvent> {
  readonly target: SubmittedRun | StreamedSubmission
  readonly from: number | undefined
  /** Event types to request; undefined for all. The terminal type must be among them. */
  readonly types: readonly string[] | undefined
  readonly isWanted: (event: LoggedRunEvent) => event is Wanted
  readonly signal: AbortSignal | undefined
  /** Time limit of the whole stream, in milliseconds. */
  readonly timeoutMs: number
  readonly onConnection: ((state: ConnectionState) => void) | undefined
}

/** Yields the wanted events; `leaving` aborts when the reader leaves while it waits for one. */
export async function* followRun<Wanted extends LoggedRunEvent>(
  settings: ResolvedClientOptions,
  request: FollowRequest<Wanted>,
  leaving: AbortSignal,
): AsyncGenerator<Wanted, void> {
  const life = openScope(settings.clock, [leaving, request.signal])
  const { target, timeoutMs } = request
  const name = 'runId' in target ? `Run "${target.runId}"` : 'The submitted run'
  const stop = life.limit(timeoutMs, `${name} did not end within ${timeoutMs} ms`)
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

/** End of a connection: with the run, or before it. */
type Outcome =
  | { readonly kind: 'over' }
  | { readonly kind: 'lost'; readonly error: TuttiClientError }

/** A connection state without the fields that the stream adds. */
type BareState<State> = State extends unknown ? Omit<State, 'attempt' | 'lastEventId'> : never

/** State of a stream across its connections. */
class RunStream<Wanted extends LoggedRunEvent> {
  readonly #settings: ResolvedClientOptions
  readonly #request: FollowRequest<Wanted>
  readonly #life: CallScope
  #target: SubmittedRun | StreamedSubmission
  #cursor: EventCursor
  #attempt = 0
  #gaps = 0

  constructor(settings: ResolvedClientOptions, request: FollowRequest<Wanted>, life: CallScope) {
    this.#settings = settings
    this.#request = request
    this.#life = life
    this.#target = request.target
    this.#cursor = startCursor(request.from, request.types !== undefined)
  }

  /** Reports a state to the listener, if there is one. */
  report(state: BareState<ConnectionState>): void {
    const { lastEventId } = this.#cursor
    const at = lastEventId === undefined ? {} : { lastEventId }
    this.#request.onConnection?.({ ...state, attempt: this.#attempt, ...at })
  }

  /** Yields the wanted events of one connection and returns how it ended. */
  async *connection(): AsyncGenerator<Wanted, Outcome> {
    const { clock, reconnect } = this.#settings
    const scope = openScope(clock, [this.#life.signal])
    const openedAt = clock.elapsed()
    try {
      for await (const event of this.#read(scope)) {
        const isLast = event.type === 'run_result'
        // Closed before the event is yielded: a reader may never ask for the next one.
        if (isLast) scope.close()
        if (this.#request.isWanted(event)) yield event
        if (isLast) break
      }
      return { kind: 'over' }
    } catch (error) {
      if (this.#life.signal.aborted) throw error
      if (!TuttiClientError.isInstance(error) || !canReconnect(error)) throw error
      // A run may have no events for a long time: a connection that stayed open does not count as a failed attempt.
      if (clock.elapsed() - openedAt >= reconnect.maxDelayMs) this.#attempt = 0
      return { kind: 'lost', error }
    } finally {
      scope.close()
    }
  }

  /** Waits before the next attempt. @throws {TuttiClientError} `error` when no attempt is left. */
  async beforeNextTry(error: TuttiClientError): Promise<void> {
    if (this.#attempt >= this.#maxRetries) throw error
    this.#attempt += 1
    const delayMs = retryDelayMs(this.#attempt, error, this.#settings)
    this.report({ status: 'reconnecting', delayMs, error })
    await this.#life.pause(delayMs)
  }

  get #maxRetries(): number {
    const { reconnect, maxRepeats } = this.#settings
    if ('runId' in this.#target) return reconnect.maxRetries
    return this.#target.idempotencyKey === undefined ? 0 : maxRepeats
  }

  /** Yields the events of one connection; ends when the server has no more. */
  async *#read(scope: CallScope): AsyncGenerator<LoggedRunEvent, void> {
    const connected = await this.#connect(scope)
    if (connected === undefined) return
    const { run, body } = connected
    this.#target = run
    this.report({ status: 'open' })
    const { idleTimeoutMs } = this.#settings.reconnect
    const restorer = new TextRestorer()
    for await (const frames of readFrames({ body, scope, idleTimeoutMs })) {
      for (const { id, data } of frames) {
        const event = this.#order(decodeEvent(data, run.runId, restorer), id)
        if (event !== undefined) yield event
        scope.signal.throwIfAborted()
      }
    }
    throw new TuttiClientError(
      'CONNECTION_FAILED',
      'The server closed the event stream before the run ended',
    )
  }

  /** Opens an event stream; undefined when no further event can follow. */
  async #connect(scope: CallScope): Promise<ConnectedStream | undefined> {
    const target = this.#target
    const request = this.#buildRequest()
    const { idleTimeoutMs } = this.#settings.reconnect
    const stop = scope.limit(idleTimeoutMs, `No response within ${idleTimeoutMs} ms`)
    try {
      const response = await send(this.#settings, request, scope)
      if (response.status === 204) return undefined
      if (response.ok) {
        const body = eventBody(response, request)
        return { body, run: 'runId' in target ? target : submittedRun(response, request) }
      }
      const { status } = response
      const text = await readBodyText(response, request, scope)
      const receivedAt = this.#settings.clock.now()
      throw answerError({ request, status, headers: response.headers, text, receivedAt })
    } finally {
      stop()
    }
  }

  #buildRequest(): RouteRequest {
    const target = this.#target
    const events = this.#request.types?.join(',')
    const accept = 'text/event-stream'
    if ('runId' in target) {
      const { query, headers } = resumePoint(this.#cursor)
      return {
        method: ROUTES.streamRunEvents.method,
        path: target.path,
        query: { ...query, events, repeats: 'omit' },
        headers: { ...headers, accept },
      }
    }
    const { body, idempotencyKey: key } = target
    return {
      method: ROUTES.submitRun.method,
      path: routePath('submitRun'),
      query: { events, repeats: 'omit' },
      headers: { accept, ...(key === undefined ? {} : { 'idempotency-key': key }) },
      body,
    }
  }

  /** Returns the event of a frame if it is the next one; undefined if it was received before or its type is unknown. */
  #order(decoded: DecodedEvent, id: string | undefined): LoggedRunEvent | undefined {
    const { seq, runId, id: ownId } = decoded.event
    // A frame without an id, or with an empty one, has the id of its event.
    const placement = placeEvent(this.#cursor, { seq, id: id || ownId })
    if (placement.kind === 'seen') return undefined
    if (placement.kind === 'gap') {
      this.#gaps += 1
      const message = `Expected event ${placement.expectedSeq} of run "${runId}", got ${seq}`
      throw new TuttiClientError('BAD_RESPONSE', message, { retryable: this.#gaps < MAX_GAPS })
    }
    this.#cursor = placement.cursor
    this.#attempt = 0
    this.#gaps = 0
    return decoded.known ? decoded.event : undefined
  }
}

/** An open event stream and its run. */
interface ConnectedStream {
  readonly run: SubmittedRun
  readonly body: ReadableStream<Uint8Array>
}

/** Returns the run that a submission has created. @throws {TuttiClientError} when the response does not name it. */
function submittedRun({ headers, status }: Response, { method, path }: RouteRequest): SubmittedRun {
  const runId = headers.get('tutti-run-id')
  if (runId !== null) return { runId, path: routePath('streamRunEvents', { runId }) }
  const message = `${method} ${path} returned ${status} without the header Tutti-Run-Id`
  throw new TuttiClientError('BAD_RESPONSE', message, { status })
}

function eventBody(
  { status, headers, body }: Response,
  { method, path }: RouteRequest,
): ReadableStream<Uint8Array> {
  const type = headers.get('content-type') ?? 'none'
  if (body !== null && /^text\/event-stream\b/i.test(type)) return body
  const message = `${method} ${path} returned ${status} with content type ${type}, expected text/event-stream`
  throw new TuttiClientError('BAD_RESPONSE', message, { status })
}
