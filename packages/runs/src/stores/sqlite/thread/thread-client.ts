/**
 * Runs the embedded store in its own thread, so that no other code waits for the disk.
 *
 * RUNS-TH3 The calls of one turn of the event loop are sent in one message.
 * RUNS-TH4 An open store does not keep the process alive; a call in flight does.
 * RUNS-TH5 When the thread ends before it was closed, all calls in flight, and all later ones, are rejected with
 *    STORE_UNAVAILABLE, and the process ends with that error as an uncaught exception: it can no longer store anything.
 */
import { getHeapStatistics } from 'node:v8'
import { Worker } from 'node:worker_threads'

import { errorMessage, TuttiError } from '@tutti/core/basics'

import { currentSource } from '../../../load/work-source.ts'
import { NotificationHub } from '../../shared/notification-hub.ts'
import { decodeError } from './encode-error.ts'

import type { SqlitePorts, StoreClient } from '../open-store.ts'
import type { Call, EncodedError, FromThread, ThreadData, ToThread } from './messages.ts'
import type { Clock, Logger } from '@tutti/core'

/** Options of {@link openThread}. */
export interface ThreadOptions extends ThreadData {
  readonly clock: Pick<Clock, 'now'>
  readonly logger: Logger
}

/**
 * Starts the thread, and opens the store in it.
 *
 * @throws as `openSqliteStore`.
 */
export async function openThread(options: ThreadOptions): Promise<ThreadClient> {
  const client = new ThreadClient(options)
  await client.opened
  return client
}

/**
 * Size of the thread's young generation, in MiB. Almost everything in it lives for one transaction, so a small one is
 * cheap to collect.
 */
const YOUNG_MIB = 12

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** The used part of a worker thread. */
export type StoreThread = Pick<Worker, 'on' | 'postMessage' | 'ref' | 'unref'>

/** Sends calls to the thread of a store. */
export class ThreadClient implements StoreClient {
  readonly #options: ThreadOptions
  readonly #worker: StoreThread
  readonly #hub = new NotificationHub()
  readonly #waiting = new Map<number, Waiting>()
  readonly #connections = new ConnectionNumbers()
  /** Calls that are not sent yet. */
  #calls: Call[] = []
  #lastId = 0
  #isAvailable = true
  /** The reason why calls are rejected, once they are. */
  #refusal: Error | undefined
  readonly #opening = Promise.withResolvers<void>()
  #closing: PromiseWithResolvers<void> | undefined

  constructor(options: ThreadOptions, worker: StoreThread = startWorker(options)) {
    this.#options = options
    this.#worker = worker
    this.#worker.on('message', (message: FromThread) => {
      this.#receive(message)
    })
    this.#worker.on('error', (error) => {
      this.#fail(error)
    })
    this.#worker.on('exit', (code) => {
      this.#end(code)
    })
  }

  /** Resolves when the store is open; rejects when it cannot be opened. */
  get opened(): Promise<void> {
    return this.#opening.promise
  }

  /** Whether the last statement, and the last probe of the disk, succeeded. */
  get isAvailable(): boolean {
    return this.#isAvailable
  }

  /** The notifications of the store. */
  get hub(): Pick<NotificationHub, 'listen'> {
    return this.#hub
  }

  /** Calls a method of a port. */
  call(port: keyof SqlitePorts, method: string, given: readonly unknown[]): Promise<unknown> {
    if (this.#refusal !== undefined) return Promise.reject(this.#refusal)
    const { key, connection } = currentSource()
    return new Promise((resolve, reject) => {
      this.#lastId += 1
      const id = this.#lastId
      if (this.#waiting.size === 0) this.#worker.ref()
      this.#waiting.set(id, { resolve, reject })
      if (this.#calls.length === 0) {
        setImmediate(() => {
          this.#send()
        })
      }
      const number = this.#connections.get(connection)
      this.#calls.push({ id, port, method, given, key, connection: number })
    })
  }

  /** Stores waiting writes, and ends the thread. The lock of the store is free when the promise resolves. */
  close(): Promise<void> {
    if (this.#closing !== undefined) return this.#closing.promise
    this.#closing = Promise.withResolvers()
    this.#send()
    this.#refusal ??= new Error(`The run store in "${this.#options.directory}" is not open`)
    this.#hub.close()
    this.#worker.ref()
    this.#post({ kind: 'close' })
    return this.#closing.promise
  }

  #send(): void {
    const calls = this.#calls
    if (calls.length === 0) return
    this.#calls = []
    const now = this.#options.clock.now()
    try {
      this.#post({ kind: 'calls', now, calls })
    } catch {
      // One of the calls has a value that cannot be sent.
      for (const call of calls) this.#sendAlone(now, call)
    }
  }

  #sendAlone(now: number, call: Call): void {
    try {
      this.#post({ kind: 'calls', now, calls: [call] })
    } catch (error) {
      this.#settle(call.id, ({ reject }) => {
        reject(error)
      })
    }
  }

  #post(message: ToThread): void {
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- only windows have origins
    this.#worker.postMessage(message)
  }

  #receive(message: FromThread): void {
    switch (message.kind) {
      case 'opened':
        this.#worker.unref()
        this.#opening.resolve()
        break
      case 'failed':
        this.#refuse(message.error)
        break
      case 'results':
        this.#receiveResults(message)
        break
      case 'closed':
        break
    }
  }

  #receiveResults({ results, notifications, lines }: Extract<FromThread, { kind: 'results' }>) {
    for (const { level, message, fields } of lines) this.#options.logger[level](message, fields)
    for (const notification of notifications) {
      if (notification.kind === 'availability') this.#isAvailable = notification.isAvailable
    }
    for (const result of results) {
      this.#settle(result.id, ({ resolve, reject }) => {
        if ('error' in result) reject(decodeError(result.error))
        else resolve(result.value)
      })
    }
    this.#hub.notify(notifications)
  }

  #settle(id: number, settle: (waiting: Waiting) => void): void {
    const waiting = this.#waiting.get(id)
    if (waiting === undefined) return
    this.#waiting.delete(id)
    if (this.#waiting.size === 0 && this.#closing === undefined) this.#worker.unref()
    settle(waiting)
  }

  /** The store could not be opened or closed; the thread ends. */
  #refuse(encoded: EncodedError): void {
    const error = decodeError(encoded)
    this.#closing ??= Promise.withResolvers()
    this.#closing.promise.catch(() => undefined)
    this.#closing.reject(error)
    this.#opening.reject(error)
  }

  /** The thread has ended. */
  #end(code: number): void {
    if (this.#closing === undefined) this.#fail(new Error(`it ended with exit code ${code}`))
    this.#closing?.resolve()
  }

  #fail(cause: Error): void {
    const { directory, logger } = this.#options
    if (this.#refusal !== undefined && this.#waiting.size === 0) return
    const reason = errorMessage(cause)
    const failure = new TuttiError(
      'STORE_UNAVAILABLE',
      `The thread of the run store in "${directory}" has failed: ${reason}. Restart this process`,
      { cause, retryable: true },
    )
    this.#refusal = failure
    this.#isAvailable = false
    this.#calls = []
    this.#closing ??= Promise.withResolvers()
    for (const id of this.#waiting.keys()) {
      this.#settle(id, ({ reject }) => {
        reject(failure)
      })
    }
    this.#hub.notify([{ kind: 'availability', isAvailable: false }])
    logger.error('The thread of the run store has failed', { directory, reason })
    setImmediate(() => {
      throw failure
    })
  }
}

/** Starts the worker from the sources of this package, or from the file that a build has next to this code. */
function startWorker({ directory, synchronous }: ThreadData): Worker {
  const isSource = import.meta.url.endsWith('.ts')
  const entry = isSource ? './store-thread.ts' : './sqlite-thread.js'
  const data: ThreadData = { directory, synchronous }
  return new Worker(new URL(entry, import.meta.url), {
    name: 'tutti-store',
    workerData: data,
    // The options of the process, such as modules to preload, are not for this thread.
    execArgv: isSource ? ['--conditions=@tutti/source'] : [],
    resourceLimits: {
      maxOldGenerationSizeMb: Math.ceil(getHeapStatistics().heap_size_limit / 1_048_576),
      maxYoungGenerationSizeMb: YOUNG_MIB,
    },
  })
}

/** Numbers the connections of callers: an object cannot be sent to another thread. */
class ConnectionNumbers {
  readonly #numbers = new WeakMap<object, number>()
  #last = 0

  get(connection: object): number {
    const known = this.#numbers.get(connection)
    if (known !== undefined) return known
    this.#last += 1
    this.#numbers.set(connection, this.#last)
    return this.#last
  }
}
