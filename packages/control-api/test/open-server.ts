/**
 * Serves a control API on a free port, with an ensemble whose tool waits until the test releases it. Every response,
 * event and message is checked against the documents of the API.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { createCallbackUrls, serveControlApi, type ControlApiOptions } from '@tutti/control-api'
import { defineTool, toolCatalog, Type } from '@tutti/core'
import { ensemble, modelCatalog, task, type Ensemble } from '@tutti/ensemble'
import type { ModelRequest } from '@tutti/ensemble/adapter'
import {
  createRunService,
  type RunService,
  sqliteRunStorage,
  type RunServiceOptions,
} from '@tutti/runs'
import { scriptedModel } from '@tutti/testing'
import { WebSocket } from 'ws'

import { EXTENSIONS } from '../../../tooling/test-kit/compat.ts'
import { AnswerMiss, checkedFetch, messageMisses, findMisses, type Surface } from './answers.ts'

import type { Logger } from '@tutti/core'
import type { LoggedRunEvent, RunDetail, ServerMessage } from '@tutti/protocol'

/** A running control API and the actions of tests. */
export interface TestServer extends AsyncDisposable {
  readonly url: string
  readonly runs: RunService
  /** Messages that were logged as errors. */
  readonly errors: readonly string[]
  /** Releases the waiting tool, now and in future. */
  play(): void
  get(path: string, init?: RequestInit): Promise<Response>
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>
  /** Submits a run of `Bach` and returns its id. */
  submit(): Promise<string>
  detail(runId: string): Promise<RunDetail>
  connect(path?: string, headers?: Record<string, string>): Socket
}

/** Settings that a test can change. */
export type TestServerOptions = Partial<ControlApiOptions> & { readonly runs?: never } & {
  readonly limits?: RunServiceOptions
  /** Ensembles to serve. @default a band whose second task waits in its tool */
  readonly ensembles?: readonly Ensemble[]
  /** Promise that the runs wait for before they start; the API already responds. @default none */
  readonly beforeStart?: Promise<void>
  /** Tiers of the catalog, which has the model `small`. @default none */
  readonly tiers?: Readonly<Record<string, string>>
}

/** Starts a control API. */
export async function openServer({
  limits = {},
  ensembles,
  beforeStart,
  tiers = {},
  ...options
}: TestServerOptions = {}): Promise<TestServer> {
  const path = mkdtempSync(join(tmpdir(), 'tutti-api-'))
  const gate = Promise.withResolvers<void>()
  const errors: string[] = []
  const logger = recordingLogger(errors)
  const wait = defineTool({
    name: 'wait',
    description: 'Waits for the test',
    input: Type.Object({ bars: Type.Optional(Type.Integer()) }),
    async execute(_input, { signal }) {
      const aborted = new Promise<void>((resolve) => {
        signal.addEventListener('abort', () => resolve())
      })
      await Promise.race([gate.promise, aborted])
      return 'waited'
    },
  })
  const answer = ({ messages, tools }: ModelRequest) => {
    if (tools.length === 0) return 'All instruments are in tune now'
    if (messages.at(-1)?.role === 'tool') return 'It was played in full'
    return { text: 'One moment', toolCalls: [{ name: 'wait', arguments: { bars: 4 } }] }
  }
  // The model of a provider has no known price.
  const model = scriptedModel(answer, { provider: 'scripted' })
  const tune = task({ name: 'tune', description: 'Tune for {composer}' })
  const play = task({
    name: 'play',
    description: 'Play {composer} in {hall}',
    context: [tune],
    tools: [wait],
  })
  const band = ensemble({ name: 'band', description: 'A band', tasks: [tune, play], model })
  const models = modelCatalog({ small: model }, { tiers })
  const { surface = 'all', publicUrl } = options
  const storage = await sqliteRunStorage(path)
  const runs = createRunService(storage, ensembles ?? [band], {
    logger,
    models,
    ...(publicUrl === undefined ? {} : { callbackUrl: createCallbackUrls({ storage, publicUrl }) }),
    ...limits,
  })
  const server = await serveControlApi(
    {
      runs,
      tools: toolCatalog([wait]),
      models,
      logger,
      extensions: EXTENSIONS,
      ...options,
    },
    { port: 0 },
  )
  if (beforeStart === undefined) await runs.start()
  else void beforeStart.then(() => runs.start())
  const get = (route: string, init: RequestInit = {}) =>
    checkedFetch(`${server.url}${route}`, init, { surface })
  const post = (route: string, body: unknown, headers: Record<string, string> = {}) =>
    get(route, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
  return {
    url: server.url,
    runs,
    errors,
    play: gate.resolve,
    get,
    post,
    async submit() {
      const response = await post('/api/runs', { inputs: { composer: 'Bach', hall: 'A' } })
      const { runId } = (await response.json()) as { runId: string }
      return runId
    },
    async detail(runId) {
      return (await (await get(`/api/runs/${runId}`)).json()) as RunDetail
    },
    connect: (route = '/ws', headers = {}) => new Socket(`${server.url}${route}`, headers, surface),
    async [Symbol.asyncDispose]() {
      gate.resolve()
      await runs.close({ drainTimeoutMs: 5_000 })
      await server.close()
      rmSync(path, { recursive: true })
    },
  }
}

function recordingLogger(errors: string[]): Logger {
  const nothing = (): void => undefined
  return {
    debug: nothing,
    info: nothing,
    warn: nothing,
    error: (message) => {
      errors.push(message)
    },
  }
}

/** One frame of an event stream. */
export interface Frame {
  readonly id?: string
  readonly event?: string
  readonly data?: LoggedRunEvent
  readonly comment?: string
}

/** Yields the frames of an event stream as they arrive. */
export async function* frames(response: Response): AsyncGenerator<Frame> {
  let text = ''
  const decoder = new TextDecoder()
  for await (const chunk of response.body ?? []) {
    text += decoder.decode(chunk, { stream: true })
    const parts = text.split('\n\n')
    text = parts.pop() ?? ''
    for (const part of parts) yield parseFrame(part)
  }
}

function parseFrame(part: string): Frame {
  const fields = part.split('\n').map((line): [string, unknown] => {
    const colon = line.indexOf(': ')
    const [name, value] = [line.slice(0, colon), line.slice(colon + 2)]
    return name === 'data' ? [name, JSON.parse(value)] : [name === '' ? 'comment' : name, value]
  })
  return Object.fromEntries(fields)
}

/** Returns the events of a stream to its end. */
export async function eventsOf(response: Response): Promise<readonly LoggedRunEvent[]> {
  const events: LoggedRunEvent[] = []
  for await (const { data } of frames(response)) if (data !== undefined) events.push(data)
  return events
}

/** A WebSocket client that stores received messages; its disposal fails after an undocumented message. */
export class Socket implements AsyncDisposable {
  readonly socket: WebSocket
  readonly received: ServerMessage[] = []
  readonly #watchers = new Set<() => void>()
  readonly #misses: string[] = []
  readonly #surface: Surface

  constructor(url: string, headers: Record<string, string>, surface: Surface = 'all') {
    this.#surface = surface
    this.socket = new WebSocket(url.replace(/^http/, 'ws'), { headers })
    this.socket.on('error', () => undefined)
    this.socket.on('message', (data: Buffer) => {
      const message: ServerMessage = JSON.parse(data.toString())
      this.received.push(message)
      this.#misses.push(...messageMisses(message))
      for (const watcher of this.#watchers) watcher()
    })
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message))
  }

  /** Resolves with the first message of a type. */
  next<Type extends ServerMessage['type']>(
    type: Type,
  ): Promise<Extract<ServerMessage, { type: Type }>> {
    return new Promise((resolve) => {
      const look = (): void => {
        const found = this.received.find((message) => message.type === type)
        if (found === undefined) return
        this.#watchers.delete(look)
        resolve(found as Extract<ServerMessage, { type: Type }>)
      }
      this.#watchers.add(look)
      look()
    })
  }

  /** Returns the run events among the received messages. */
  get events(): readonly LoggedRunEvent[] {
    return this.received.filter((message): message is LoggedRunEvent => 'seq' in message)
  }

  /** Resolves with close code and reason when it is closed. */
  closed(): Promise<readonly [number, string]> {
    return new Promise((resolve) => {
      this.socket.on('close', (code, reason) => resolve([code, reason.toString()]))
    })
  }

  /**
   * Resolves with the HTTP status of a refused handshake.
   *
   * @throws {AnswerMiss} when the response deviates from the OpenAPI document.
   */
  refused(): Promise<number | undefined> {
    return new Promise((resolve, reject) => {
      this.socket.on('unexpected-response', (sent, response) => {
        const { statusCode: status = 0, headers } = response
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const misses = findMisses(
            {
              method: 'GET',
              path: sent.path,
              status,
              headers: new Headers(
                Object.entries(headers).map(([name, text]) => [name, [text].flat().join(', ')]),
              ),
              body: Buffer.concat(chunks).toString(),
            },
            this.#surface,
          )
          if (misses.length === 0) resolve(status)
          else reject(new AnswerMiss(misses))
        })
      })
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.socket.readyState !== WebSocket.CLOSED) {
      const closed = this.closed()
      this.socket.terminate()
      await closed
    }
    if (this.#misses.length > 0) throw new AnswerMiss(this.#misses)
  }
}
