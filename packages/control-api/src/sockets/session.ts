/**
 * One WebSocket connection: sends the events it asked for and answers its messages.
 *
 *   bus ──▶ filter ──▶ socket          messages ──▶ decode ──▶ answer
 *
 * N1 `hello` comes first; then every event it asked for that is not in `hello`, in order, each once.
 *    Gates that waited before it came follow `hello` at once, with the time that is left.
 * N2 A message that cannot be acted on is answered with an `error`, or with the acknowledgement of its
 *    kind; it never closes the connection.
 * N3 A connection that does not read is closed when `maxBufferedBytes` wait for it, with the last event
 *    it was sent as the reason, so that it can go on from there. So is one whose events cannot be read.
 */
import { TuttiError } from '@tutti/core'

import { cancelRun } from '../cancel-run.ts'
import { eventJson } from '../event-json.ts'
import { findPlace, type ReadingPlace } from '../find-run.ts'
import { badRequest } from '../http/api-error.ts'
import { wireErrorOf } from '../http/on-error.ts'
import { broadcastDirective } from '../inject-directive.ts'
import { notImplemented } from '../not-implemented.ts'
import { decideReview } from '../reviews.ts'
import { submitRun } from '../submit-run.ts'
import { switchModel } from '../switch-model.ts'
import { closingReason } from './closing-reason.ts'
import { helloOf } from './hello.ts'
import { openGates } from './open-gates.ts'
import { parseMessage } from './parse-message.ts'
import { refusalOf } from './refusal.ts'
import { answerStateQuery } from './state-query.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { ClientMessage, LoggedRunEvent, ServerMessage } from '@tutti/protocol'
import type { RawData, WebSocket } from 'ws'

/** "Try again later", the registered close code for a server that cannot keep up with a client. */
const TRY_AGAIN_LATER = 1013

/** "Internal error", the registered close code. */
const INTERNAL_ERROR = 1011

type MessageOf<Type extends ClientMessage['type']> = Extract<ClientMessage, { type: Type }>

/** Which events a connection gets. */
interface Subscription {
  readonly runId: string | undefined
  /** Types it wants; undefined for all. */
  readonly types: ReadonlySet<string> | undefined
}

/** Serves one connection until it closes. */
export class Session {
  readonly #socket: WebSocket
  readonly #options: ResolvedControlApiOptions
  /** The run that the connection was opened for; undefined for every run. */
  readonly #home: string | undefined
  #subscription: Subscription
  /** Runs submitted here; their result is sent whatever the subscription says. */
  readonly #ownRuns = new Set<string>()
  /** Events that came before `hello` was ready. */
  #early: LoggedRunEvent[] | undefined = []
  /** Ids of the gates that followed `hello`, should their news come only now. */
  #toldGates: ReadonlySet<string> = new Set()
  readonly #stopListening: () => void
  /** Stops the reading of one run from its log; undefined while events come as they happen. */
  #stopReading: (() => void) | undefined
  #lastEventId = ''

  /** @param runId the run this connection is about; undefined for every run. */
  constructor(socket: WebSocket, options: ResolvedControlApiOptions, runId: string | undefined) {
    this.#socket = socket
    this.#options = options
    this.#home = runId
    this.#subscription = { runId, types: undefined }
    this.#stopListening = options.runs.listenToAll((events) => {
      this.#hear(events)
    })
    socket.on('message', (data) => {
      void this.#receive(data)
    })
    socket.on('close', () => {
      this.#stop()
    })
    void this.#greet(runId)
  }

  /** Sends a message. */
  send(message: ServerMessage): void {
    this.#write(JSON.stringify(message))
  }

  async #greet(runId: string | undefined): Promise<void> {
    try {
      const { runs, clock } = this.#options
      const { message, reaches } = await helloOf(runs, runId)
      const gates = await openGates(runs, runId, clock.now())
      this.send(message)
      const early = this.#early ?? []
      this.#early = undefined
      const fresh = early.filter(({ seq, runId: of }) => seq > (reaches.get(of) ?? -1))
      const heard = new Set(fresh.map(({ id }) => id))
      const waiting = gates.filter(
        ({ id, seq, runId: of }) => !heard.has(id) && seq <= (reaches.get(of) ?? Infinity),
      )
      this.#toldGates = new Set(waiting.map(({ id }) => id))
      this.#deliver([...waiting, ...fresh])
    } catch (error) {
      this.#fail('The server could not read its runs', error)
    }
  }

  /** Takes events as they happen; while one run is read from its log, only the results of own runs. */
  #hear(events: readonly LoggedRunEvent[]): void {
    if (this.#early !== undefined) this.#early.push(...events)
    else if (this.#stopReading === undefined) {
      this.#deliver(events.filter(({ id }) => !this.#toldGates.has(id)))
    } else this.#deliver(events.filter((event) => this.#isOwnResult(event)))
  }

  #isOwnResult({ type, runId }: LoggedRunEvent): boolean {
    return type === 'run_result' && runId !== this.#subscription.runId && this.#ownRuns.has(runId)
  }

  #stop(): void {
    this.#stopListening()
    this.#stopReading?.()
  }

  #deliver(events: readonly LoggedRunEvent[]): void {
    for (const event of events) {
      if (!this.#wants(event)) continue
      this.#lastEventId = event.id
      this.#write(eventJson(event))
    }
  }

  #wants(event: LoggedRunEvent): boolean {
    if (event.type === 'run_result' && this.#ownRuns.delete(event.runId)) return true
    const { runId, types } = this.#subscription
    return (
      (runId === undefined || runId === event.runId) &&
      (types === undefined || types.has(event.type))
    )
  }

  #write(text: string): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    if (this.#socket.bufferedAmount > this.#options.maxBufferedBytes) {
      this.#stop()
      this.#socket.close(TRY_AGAIN_LATER, closingReason('Too slow', this.#lastEventId))
      return
    }
    this.#socket.send(text)
  }

  /** Closes the connection, as what it is to be sent cannot be read. */
  #fail(text: string, error: unknown): void {
    const isAway = TuttiError.isInstance(error) && error.code === 'STORE_UNAVAILABLE'
    this.#options.logger[isAway ? 'warn' : 'error']('A WebSocket was closed', { error, text })
    this.#stop()
    const code = isAway ? TRY_AGAIN_LATER : INTERNAL_ERROR
    this.#socket.close(code, closingReason(text, this.#lastEventId))
  }

  async #receive(data: RawData): Promise<void> {
    let message: ClientMessage | undefined
    try {
      message = parseMessage(data)
      await this.#answer(message)
    } catch (error) {
      this.send(refusalOf(wireErrorOf(error, this.#options.logger), message))
    }
  }

  async #answer(message: ClientMessage): Promise<void> {
    switch (message.type) {
      case 'ping':
        this.send({ type: 'pong' })
        return
      case 'subscribe':
        await this.#subscribe(message)
        return
      case 'run_request':
        await this.#submit(message)
        return
      case 'run_control':
        await this.#control(message)
        return
      case 'directive':
        await this.#direct(message)
        return
      case 'review_decision':
        await this.#decide(message)
        return
      case 'state_query':
        this.send(await answerStateQuery(message, this.#options))
        return
      default:
        throw notImplemented(`the message "${message.type}"`)
    }
  }

  async #submit({ type: _type, requestId, ...body }: MessageOf<'run_request'>): Promise<void> {
    const { runId, taskCount, workflow } = await submitRun(this.#options.runs, body)
    this.#ownRuns.add(runId)
    this.send({
      type: 'run_ack',
      ...(requestId === undefined ? {} : { requestId }),
      runId,
      status: 'ACCEPTED',
      tasks: taskCount,
      workflow,
    })
  }

  async #control(message: MessageOf<'run_control'>): Promise<void> {
    const { runs } = this.#options
    const { runId, action, mode, model, taskName } = message
    if (action === 'cancel') {
      const status = await cancelRun(runs, runId, mode)
      this.send({ type: 'run_control_ack', runId, action, status })
      return
    }
    if (model === undefined) {
      throw badRequest('Message', [{ path: '/model', message: 'is required' }])
    }
    const body = { model, ...(taskName === undefined ? {} : { taskName }) }
    const switched = await switchModel(runs, runId, body)
    this.send({ type: 'run_control_ack', action, ...switched })
  }

  async #direct(message: MessageOf<'directive'>): Promise<void> {
    const directiveId = await broadcastDirective(this.#options.runs, message, this.#home)
    this.send({ type: 'directive_ack', directiveId, status: 'accepted' })
  }

  /** Decides a review; what comes of it is told by its `review_decided`. */
  async #decide({ type: _type, reviewId, ...body }: MessageOf<'review_decision'>): Promise<void> {
    await decideReview(this.#options.runs, reviewId, body)
  }

  async #subscribe({ events, runId, from }: MessageOf<'subscribe'>): Promise<void> {
    const types = events.length === 0 || events.includes('*') ? undefined : new Set<string>(events)
    const about = runId ?? this.#subscription.runId
    const place = from === undefined ? undefined : await this.#place(about, from)
    this.#stopReading?.()
    this.send({ type: 'subscribe_ack', events, ...(runId === undefined ? {} : { runId }) })
    if (about === undefined || place === undefined) {
      this.#subscription = { runId: runId ?? this.#home, types }
      this.#stopReading = undefined
    } else {
      this.#subscription = { runId: about, types }
      this.#stopReading = this.#readFrom(about, place)
    }
  }

  #place(runId: string | undefined, from: number): Promise<ReadingPlace> {
    if (runId !== undefined) return findPlace(this.#options.runs, runId, { from })
    throw badRequest('Message', [{ path: '/runId', message: 'is required with "from"' }])
  }

  /** Reads one run from its log and then live, no faster than the client takes it. */
  #readFrom(runId: string, { cursor, over }: ReadingPlace): () => void {
    const stop = new AbortController()
    const read = async (): Promise<void> => {
      if (over) return
      const batches = this.#options.runs.follow({ runId, from: cursor, signal: stop.signal })
      for await (const batch of batches) {
        if (stop.signal.aborted) return
        this.#deliver(batch)
        await this.#drained()
      }
    }
    read().catch((error: unknown) => {
      this.#fail('The server could not read the run', error)
    })
    return () => {
      stop.abort()
    }
  }

  /** Resolves when what was sent has left this process. */
  #drained(): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) return Promise.resolve()
    return new Promise((resolve) => {
      this.#socket.ping(undefined, undefined, () => {
        resolve()
      })
    })
  }
}
