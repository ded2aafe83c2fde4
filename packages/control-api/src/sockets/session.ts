/**
 * Serves one WebSocket connection: sends the events that it subscribed to and handles its messages.
 *
 *   bus ──▶ filter ──▶ socket          messages ──▶ decode ──▶ reply
 *
 * API-N1 `hello` comes first. Then the connection gets every event of its subscription that is not in `hello`, in order
 *    and once. The dialect of an extension can fill `hello` with past events and add events to those of the log.
 * API-N2 The reply to a refused message is an `error` or the acknowledgement of its type. A refused message never closes
 *    the connection. A reply repeats the `requestId` of its message, so the message of another caller cannot answer it.
 * API-N3 A connection that does not read is closed when more than `maxBufferedBytes` are unsent. The reason contains the
 *    last event sent, so that the client can resume. A connection whose events cannot be read is closed in the same way.
 * API-N4 A connection with `snapshot=none` gets a `hello` without runs, which reads nothing from the store. Until it
 *    subscribes, it gets only the results of the runs that it submits.
 * API-N5 A connection that subscribed to `run_control_ack` also gets the acknowledgements of all commands other than its
 *    own `run_control` messages, over any protocol and in any process, without a request id. Other connections get only
 *    acknowledgements of commands that they sent.
 *    `profile_applied` and `capacity_update` are sent only to connections that subscribed to them by name; the first
 *    `capacity_update` follows at once.
 */
import { TuttiError } from '@tutti/core'
import {
  badRequest,
  type Caller,
  type ConnectionDialect,
  encodeEventBytes,
  findPlace,
  RepeatOmitter,
  type MessageOf,
  type ReadingPlace,
  sharedCapabilities,
  reportError,
} from '@tutti/gateway/internal'

import { readTurn, workFor, type Reservation, type WorkSource } from '@tutti/runs/internal'

import { repeatId } from '../repeat-id.ts'
import { trackReader, type LiveReader } from '../metrics/live-reader.ts'
import { answerMessage } from './answer-message.ts'
import { formatClosingReason } from './closing-reason.ts'
import { toAppliedProfile, toControlAck } from './control-messages.ts'
import { MessageInbox } from './inbox.ts'
import { plainDialect } from './plain-dialect.ts'
import type { MessageContext } from './message-context.ts'
import {
  decodeRefusedMessage,
  messageSize,
  parseMessage,
  type ParsedMessage,
} from './parse-message.ts'
import { toMalformedRefusal, toMessageRefusal } from './refusal.ts'
import { shareKey } from '../http/admit-request.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { ClientMessage, LoggedRunEvent, ServerMessage } from '@tutti/protocol'
import type { CapacityUpdate, SocketQuery } from '@tutti/protocol/internal'
import type { RawData, WebSocket } from 'ws'

/** Registered close code "Try again later", for a slow reader or an unavailable store. */
const TRY_AGAIN_LATER = 1013

/** Registered close code "Internal error". */
const INTERNAL_ERROR = 1011

/** Codes of errors that are over soon. */
const PASSING: readonly string[] = ['STORE_UNAVAILABLE', 'OVERLOADED']

/** Selection of the events that a connection gets. */
interface Subscription {
  readonly runId: string | undefined
  /** Event and message types; undefined for all events. */
  readonly types: ReadonlySet<string> | undefined
}

/** Maximum number of events held until `hello` is sent. */
const MAX_EARLY = 5_000

const NO_TYPES: ReadonlySet<string> = new Set()

/** The caller and the scope of a connection. */
export interface ConnectionInfo {
  readonly caller: Caller
  /** Run of the connection; undefined for all runs. */
  readonly runId: string | undefined
  /** Whether the connection gets past events, and live events before it subscribes (API-N4). */
  readonly snapshot: NonNullable<SocketQuery['snapshot']>
  /** Returns the current load. */
  readonly capacity: () => Promise<CapacityUpdate>
}

/** Creates the dialect that an extension has; without one, events are sent unchanged. */
function createDialect(
  options: ResolvedControlApiOptions,
  runId: string | undefined,
): ConnectionDialect {
  const extension = options.extensions.find(({ dialect }) => dialect !== undefined)
  return extension?.dialect?.(options, runId) ?? plainDialect(options)
}

/** Serves one connection until it closes. */
export class SocketSession {
  readonly #socket: WebSocket
  readonly #options: ResolvedControlApiOptions
  /** Run for which the connection was opened; undefined for all runs. */
  readonly #runId: string | undefined
  #subscription: Subscription
  /** Runs submitted on this connection; their results are sent regardless of the subscription. */
  readonly #ownRuns = new Set<string>()
  /** Each `run_control` of this connection whose event has not arrived; it is acknowledged as a reply instead. */
  readonly #ownControls = new Set<string>()
  /** Aborts when the connection has closed. */
  readonly #gone = new AbortController()
  /** Events that arrived before `hello` was sent; undefined after that. */
  #early: LoggedRunEvent[] | undefined = []
  readonly #dialect: ConnectionDialect
  /** Ids of the events that were sent with `hello`, to skip them if they arrive later. */
  #sentWithHello: ReadonlySet<string> = new Set()
  readonly #stopListening: () => void
  /** Stops reading one run from its log; undefined while the connection gets live events. */
  #stopReading: (() => void) | undefined
  /** Omits texts from the run that is read from its log; undefined if the client does not restore them. */
  #omitter: RepeatOmitter | undefined
  readonly #capacity: ConnectionInfo['capacity']
  readonly #context: MessageContext
  readonly #source: WorkSource
  #lastEventId = ''
  readonly #reader: LiveReader

  constructor(socket: WebSocket, options: ResolvedControlApiOptions, info: ConnectionInfo) {
    const { runId, caller, snapshot, capacity } = info
    this.#capacity = capacity
    const { instruments } = options.metrics
    this.#socket = socket
    this.#reader = trackReader({ instruments, clock: options.runs.clock, transport: 'websocket' })
    this.#context = {
      options,
      caller,
      runId,
      send: (message) => {
        this.send(message)
      },
      subscribe: (message) => this.#subscribe(message),
      own: (id) => {
        this.#ownRuns.add(id)
        return () => this.#ownRuns.delete(id)
      },
      gone: this.#gone.signal,
    }
    this.#options = options
    this.#dialect = createDialect(options, runId)
    this.#runId = runId
    this.#subscription = { runId, types: snapshot === 'none' ? NO_TYPES : undefined }
    this.#stopListening = options.runs.listeners.add((events) => {
      this.#handleEvents(events)
    })
    this.#source = { key: shareKey(caller), connection: socket }
    const inbox = new MessageInbox(
      socket,
      (data) => this.#receive(data),
      () => readTurn(this.#source),
    )
    socket.on('message', (data) => {
      inbox.take(data)
    })
    socket.on('close', () => {
      inbox.clear()
      this.#stop()
      this.#reader.end()
    })
    if (snapshot === 'none') this.#greetBriefly()
    else void workFor(this.#source, () => this.#greet())
  }

  /** Sends a message: an object, or JSON in UTF-8. */
  send(message: ServerMessage | Uint8Array): void {
    this.#write(message instanceof Uint8Array ? message : JSON.stringify(message))
  }

  #greetBriefly(): void {
    this.#early = undefined
    this.send({ type: 'hello', sharedCapabilities: sharedCapabilities(this.#options) })
  }

  async #greet(): Promise<void> {
    try {
      await this.#options.runs.listeners.connect()
      const { hello, continueWith } = await this.#dialect.greet(this.#gone.signal)
      this.send(hello)
      const { reviews, fresh } = continueWith(this.#early ?? [])
      this.#early = undefined
      this.#sentWithHello = new Set(reviews.map(({ id }) => id))
      this.#deliver([...reviews, ...fresh])
    } catch (error) {
      if (this.#gone.signal.aborted) return
      this.#fail('The server failed to read its runs', error)
    }
  }

  /** Handles live events. While one run is read from its log, only the results of own runs are sent. */
  #handleEvents(events: readonly LoggedRunEvent[]): void {
    if (this.#early !== undefined) this.#holdEarly(this.#early, events)
    else if (this.#stopReading === undefined) {
      this.#deliver(events.filter(({ id }) => !this.#sentWithHello.has(id)))
    } else this.#deliver(events.filter((event) => this.#isOwnResult(event)))
  }

  /** Holds events until `hello` is sent. Too many of them close the connection as too slow. */
  #holdEarly(early: LoggedRunEvent[], events: readonly LoggedRunEvent[]): void {
    early.push(...events)
    if (early.length > MAX_EARLY) this.#tooSlow()
  }

  #isOwnResult({ type, runId }: LoggedRunEvent): boolean {
    return type === 'run_result' && runId !== this.#subscription.runId && this.#ownRuns.has(runId)
  }

  #stop(): void {
    this.#gone.abort()
    this.#stopListening()
    this.#stopReading?.()
  }

  #deliver(events: readonly LoggedRunEvent[]): void {
    for (const event of events) {
      this.#deliverOne(event)
      const followUp = this.#dialect.followUp(event)
      if (followUp !== undefined) this.#deliverOne(followUp)
      this.#acknowledge(event)
    }
    if (events.at(-1)?.id === this.#lastEventId) this.#reader.recordDelivery(events)
  }

  /** Returns whether the connection subscribed to messages of a type by name (API-N5). */
  subscribesTo(type: ServerMessage['type']): boolean {
    return this.#subscription.types?.has(type) === true
  }

  /** Sends the acknowledgement of the command that an event records, if the connection subscribed to it (API-N5). */
  #acknowledge(event: LoggedRunEvent): void {
    const { runId } = this.#subscription
    if (runId !== undefined && runId !== event.runId) return
    const profile = this.subscribesTo('profile_applied') ? toAppliedProfile(event) : undefined
    if (profile !== undefined) this.send(profile)
    const ack = this.subscribesTo('run_control_ack') ? toControlAck(event) : undefined
    if (ack === undefined || this.#ownControls.delete(`${ack.action} ${ack.runId}`)) return
    this.send(ack)
  }

  #deliverOne(event: LoggedRunEvent): void {
    if (!this.#wants(event)) return
    const isRead = event.runId === this.#subscription.runId
    const sent = isRead ? (this.#omitter?.omit(event) ?? event) : event
    this.#write(sent === event ? encodeEventBytes(event) : JSON.stringify(sent))
    // Set after writing, because an event is not sent if the connection is too slow.
    this.#lastEventId = event.id
  }

  #wants(event: LoggedRunEvent): boolean {
    if (event.type === 'run_result' && this.#ownRuns.delete(event.runId)) return true
    const { runId, types } = this.#subscription
    return (
      (runId === undefined || runId === event.runId) &&
      (types === undefined || types.has(event.type))
    )
  }

  /** Sends a text or its bytes in UTF-8, unless the connection is too slow. */
  #write(text: string | Uint8Array): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    if (this.#socket.bufferedAmount > this.#options.maxBufferedBytes) {
      this.#tooSlow()
      return
    }
    this.#options.unread.check()
    this.#options.metrics.instruments.messagesSent.add({})
    this.#socket.send(text, { binary: false })
  }

  #tooSlow(): void {
    this.#early = undefined
    this.#stop()
    this.#reader.recordDrop()
    this.#socket.close(TRY_AGAIN_LATER, formatClosingReason('Too slow', this.#lastEventId))
  }

  /** Closes the connection because its events cannot be read. */
  #fail(text: string, error: unknown): void {
    const isUnavailable = TuttiError.isInstance(error) && PASSING.includes(error.code)
    this.#options.logger[isUnavailable ? 'warn' : 'error']('Closed a WebSocket after an error', {
      error,
      text,
    })
    this.#stop()
    const code = isUnavailable ? TRY_AGAIN_LATER : INTERNAL_ERROR
    this.#socket.close(code, formatClosingReason(text, this.#lastEventId))
  }

  async #receive(data: RawData): Promise<void> {
    const { key } = this.#source
    let held: Reservation
    let refusal: unknown
    try {
      held = this.#options.runs.budget.reserve(key, messageSize(data))
    } catch (error) {
      // Held until it is refused, because the refusal repeats its type and id.
      held = this.#options.runs.budget.hold(key, 0)
      refusal = error
    }
    await workFor({ ...this.#source, held }, () => this.#answer(parseMessage(data), refusal))
    held.release()
  }

  /** Answers a message. With a refusal, it is not handled. Never rejects. */
  async #answer(parsed: ParsedMessage, refusal: unknown): Promise<void> {
    const { messagesReceived } = this.#options.metrics.instruments
    let message: ClientMessage | undefined
    let control: string | undefined
    const onDecoded = (decoded: ClientMessage): void => {
      message = decoded
      messagesReceived.add({ type: decoded.type })
      if (decoded.type !== 'run_control') return
      control = `${decoded.action} ${decoded.runId}`
      this.#ownControls.add(control)
    }
    try {
      this.#context.caller.count()
      if (refusal !== undefined) throw refusal
      if (!parsed.ok) throw parsed.error
      await answerMessage(parsed.value, this.#context, onDecoded)
    } catch (error) {
      if (control !== undefined) this.#ownControls.delete(control)
      if (message === undefined) messagesReceived.add({ type: 'malformed' })
      const wire = reportError(error, this.#options)
      const refused = message ?? decodeRefusedMessage(parsed)
      this.send(
        refused === undefined
          ? toMalformedRefusal(wire, parsed.head)
          : toMessageRefusal(wire, refused, this.#options.extensions),
      )
      if (refused !== undefined) await this.#sendAgain(refused)
    }
  }

  /** Sends the event again that the dialect requires after a refusal. */
  async #sendAgain(refused: ClientMessage): Promise<void> {
    try {
      const event = await this.#dialect.afterRefusal(refused)
      if (event !== undefined) this.#deliver([event])
    } catch (error) {
      this.#fail('The server failed to read its runs', error)
    }
  }

  async #subscribe(message: MessageOf<'subscribe'>): Promise<void> {
    const { requestId, events, runId, from, repeats } = message
    if (repeats !== undefined && from === undefined) {
      throw badRequest('message', [{ path: '/from', message: 'is required with "repeats"' }])
    }
    const types = events.length === 0 || events.includes('*') ? undefined : new Set<string>(events)
    const readRunId = runId ?? this.#subscription.runId
    const position = from === undefined ? undefined : await this.#findPosition(readRunId, from)
    this.#stopReading?.()
    this.send({
      type: 'subscribe_ack',
      ...repeatId(requestId),
      events,
      ...(runId === undefined ? {} : { runId }),
      ...(position === undefined ? {} : { from: position.cursor }),
    })
    this.#omitter = repeats === 'omit' ? new RepeatOmitter() : undefined
    if (readRunId === undefined || position === undefined) {
      this.#subscription = { runId: runId ?? this.#runId, types }
      this.#stopReading = undefined
    } else {
      this.#subscription = { runId: readRunId, types }
      this.#stopReading = this.#readFrom(readRunId, position)
    }
    if (this.subscribesTo('capacity_update')) this.send(await this.#capacity())
  }

  #findPosition(runId: string | undefined, from: number): Promise<ReadingPlace> {
    if (runId !== undefined)
      return findPlace(this.#options.runs, runId, {
        from,
        caller: this.#context.caller,
      })
    throw badRequest('message', [{ path: '/runId', message: 'is required with "from"' }])
  }

  /** Reads one run from its log and then live, no faster than the client reads. */
  #readFrom(runId: string, { cursor, over }: ReadingPlace): () => void {
    const stop = new AbortController()
    const { signal } = stop
    /** Sends the next batch. It is a separate function, so that no reference to the batch remains while waiting. */
    const sendNext = async (
      batches: AsyncIterator<readonly LoggedRunEvent[]>,
    ): Promise<boolean> => {
      const { value, done } = await batches.next()
      if (done === true) return false
      for (const event of value) {
        if (signal.aborted) return false
        this.#deliver([event])
        if (this.#isBusy) await this.#drained()
      }
      return true
    }
    const read = async (): Promise<void> => {
      if (over) return
      const batches = this.#options.runs.follow({ runId, from: cursor, signal })
      while (await sendNext(batches)) await this.#drained()
    }
    read().catch((error: unknown) => {
      this.#fail('The server failed to read the run', error)
    })
    return () => {
      stop.abort()
    }
  }

  /** Whether so much is unsent that more data could close the connection as too slow. */
  get #isBusy(): boolean {
    return this.#socket.bufferedAmount > this.#options.maxBufferedBytes / 2
  }

  /** Resolves when all sent data has left this process. */
  #drained(): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) return Promise.resolve()
    return new Promise((resolve) => {
      this.#socket.ping(undefined, undefined, () => {
        resolve()
      })
    })
  }
}
