/**
 * One WebSocket connection: sends the events it asked for and answers its messages.
 *
 *   bus ──▶ filter ──▶ socket          messages ──▶ decode ──▶ answer
 *
 * N1 `hello` comes first; then every event it asked for that is not in `hello`, in order, each once.
 * N2 A message that cannot be acted on is answered with an `error`; it never closes the connection.
 * N3 A connection that does not read is closed when `maxBufferedBytes` wait for it, with the last event
 *    it was sent as the reason, so that it can go on from there.
 */
import { decodeClientMessage } from '@tutti/protocol'

import { cancelRun } from '../cancel-run.ts'
import { eventJson } from '../event-json.ts'
import { findPlace, type ReadingPlace } from '../find-run.ts'
import { badRequest } from '../http/api-error.ts'
import { wireErrorOf } from '../http/on-error.ts'
import { notImplemented } from '../not-implemented.ts'
import { submitRun } from '../submit-run.ts'
import { answerStateQuery } from './state-query.ts'
import { helloOf } from './hello.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { ClientMessage, LoggedRunEvent, ServerMessage } from '@tutti/protocol'
import type { RawData, WebSocket } from 'ws'

/** "Try again later", the registered close code for a server that cannot keep up with a client. */
const TRY_AGAIN_LATER = 1013

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
      const { message, reaches } = await helloOf(this.#options.runs, runId)
      this.send(message)
      const early = this.#early ?? []
      this.#early = undefined
      this.#deliver(early.filter((event) => event.seq > (reaches.get(event.runId) ?? -1)))
    } catch (error) {
      this.#options.logger.error('A WebSocket could not be greeted', { error })
      this.#socket.close(1011, 'The server could not read its runs')
    }
  }

  /** Takes events as they happen; while one run is read from its log, only the results of own runs. */
  #hear(events: readonly LoggedRunEvent[]): void {
    if (this.#early !== undefined) this.#early.push(...events)
    else if (this.#stopReading === undefined) this.#deliver(events)
    else this.#deliver(events.filter((event) => this.#isOwnResult(event)))
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
      this.#socket.close(TRY_AGAIN_LATER, `Too slow; last event sent: ${this.#lastEventId}`)
      return
    }
    this.#socket.send(text)
  }

  async #receive(data: RawData): Promise<void> {
    let message: ClientMessage | undefined
    try {
      message = parseMessage(data)
      await this.#answer(message)
    } catch (error) {
      this.#refuse(error, message)
    }
  }

  #refuse(error: unknown, message: ClientMessage | undefined): void {
    const { body } = wireErrorOf(error, this.#options.logger)
    const requestId =
      message !== undefined && 'requestId' in message ? message.requestId : undefined
    if (message?.type === 'run_request') {
      const { error: code, ...rest } = body
      this.send({
        type: 'run_ack',
        status: 'REJECTED',
        tasks: 0,
        error: code,
        ...rest,
        ...(requestId === undefined ? {} : { requestId }),
      })
      return
    }
    this.send({ type: 'error', ...body, ...(requestId === undefined ? {} : { requestId }) })
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

  async #control({ runId, action, mode }: MessageOf<'run_control'>): Promise<void> {
    if (action !== 'cancel') throw notImplemented(`the action "${action}"`)
    const status = await cancelRun(this.#options.runs, runId, mode)
    this.send({ type: 'run_control_ack', runId, action, status })
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
      this.#options.logger.error('A WebSocket reader failed', { runId, error })
      this.#socket.close(1011, 'The server could not read the run')
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

function textOf(data: RawData): string {
  const bytes = Array.isArray(data) ? Buffer.concat(data) : data
  return new TextDecoder().decode(bytes)
}

function parseMessage(data: RawData): ClientMessage {
  let value: unknown
  try {
    value = JSON.parse(textOf(data))
  } catch {
    throw badRequest('Message', [{ path: '', message: 'must be JSON' }])
  }
  const decoded = decodeClientMessage(value)
  if (decoded.ok) return decoded.value
  throw badRequest('Message', decoded.problems)
}
