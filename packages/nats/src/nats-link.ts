/**
 * The connection to the cluster. It is opened in the background and reopened for ever, because the store works without it.
 *
 *   connecting ─▶ connected ─ stream exists, answers ─▶ ready
 *                    ▲                                    │
 *                    └──── disconnected, no answer ◀──────┘
 *
 * RUNS-NE1 The link is ready only while JetStream answers. A connection to a server without a majority is not ready.
 * RUNS-NE2 A change of the state is reported once, and checked every {@link CHECK_MS}, so the store takes over within
 *    two seconds.
 */
import { errorMessage, type Clock, type Logger } from '@tutti/core'
import { jetstream, jetstreamManager, RetentionPolicy, StorageType } from '@nats-io/jetstream'
import { connect, nanos } from '@nats-io/transport-node'

import type { JetStreamClient, JetStreamManager } from '@nats-io/jetstream'
import type { NatsConnection } from '@nats-io/transport-node'
import type { ResolvedNatsEngineOptions } from './options.ts'
import type { Names } from './subjects.ts'

/** Interval of checks, and maximum duration of one, in milliseconds. */
const CHECK_MS = 500
const CHECK_LIMIT_MS = 1_000

/** Time for which the stream recognizes an offer that was sent twice, in milliseconds. */
const REPEATED_MS = 120_000

/** The parts of a connection. */
export interface LinkedClient {
  readonly connection: NatsConnection
  readonly stream: JetStreamClient
  readonly manager: JetStreamManager
}

/** Options of {@link NatsLink}. */
export interface NatsLinkOptions {
  readonly settings: ResolvedNatsEngineOptions
  readonly names: Names
  readonly logger: Logger
  readonly processName: string
  /** Called with the client when the first connection exists, before the link is ready. */
  readonly onOpen: (client: LinkedClient) => void
  /** Called when the state has changed. */
  readonly onChange: (isReady: boolean) => void
}

/** A connection, and whether it can be used. */
export class NatsLink {
  readonly #options: NatsLinkOptions
  readonly #clock: Clock
  #client: LinkedClient | undefined
  #isReady = false
  #isClosed = false
  #stopTimer: (() => void) | undefined
  #hasReported = false

  constructor(options: NatsLinkOptions) {
    this.#options = options
    this.#clock = options.settings.clock
    void this.#open()
  }

  /** The client, if it can be used. */
  get ready(): LinkedClient | undefined {
    return this.#isReady ? this.#client : undefined
  }

  /** The client, even if it cannot be used now; undefined before the first connection. */
  get opened(): LinkedClient | undefined {
    return this.#client
  }

  /** Reports that the cluster has not answered. A check finds out when it answers again. */
  reportFailed(error: unknown): void {
    this.#setReady(false, error)
  }

  /** Closes the connection when everything that was sent has left. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#isReady = false
    this.#stopTimer?.()
    const { connection } = this.#client ?? {}
    await Promise.race([connection?.flush(), sleepReal(CHECK_LIMIT_MS)]).catch(() => undefined)
    await connection?.close()
  }

  async #open(): Promise<void> {
    const { settings, processName, onOpen, names } = this.#options
    try {
      const connection = await connect({
        servers: [...settings.servers],
        name: processName,
        noEcho: true,
        maxReconnectAttempts: -1,
        reconnectTimeWait: CHECK_MS,
        reconnectJitter: CHECK_MS / 2,
        timeout: CHECK_LIMIT_MS,
        pingInterval: CHECK_MS,
        maxPingOut: 2,
      })
      if (this.#isClosed) {
        await connection.close()
        return
      }
      const client = {
        connection,
        stream: jetstream(connection, { timeout: CHECK_LIMIT_MS }),
        manager: await jetstreamManager(connection, { checkAPI: false, timeout: CHECK_LIMIT_MS }),
      }
      this.#client = client
      void this.#watch(connection)
      onOpen(client)
      this.#options.logger.debug('Connected to NATS', { stream: names.stream })
      await this.#check()
    } catch (error) {
      this.#report(error)
      if (!this.#isClosed) {
        this.#stopTimer = this.#clock.after(CHECK_MS, () => void this.#open())
      }
    }
  }

  /** Loses the link as soon as its connection is lost. */
  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect' || type === 'staleConnection') {
        this.#setReady(false, new Error('The connection to NATS was lost'))
      }
    }
  }

  /** Checks that JetStream answers, and that the stream exists, again and again. */
  async #check(): Promise<void> {
    if (this.#client === undefined || this.#isClosed) return
    try {
      await this.#ensureStream(this.#client.manager)
      this.#setReady(true)
    } catch (error) {
      this.#setReady(false, error)
    }
    if (this.#isClosed) return
    // While the link is in use, its requests and the pings of the client detect that it is lost.
    if (this.#isReady) return
    this.#stopTimer = this.#clock.after(CHECK_MS, () => void this.#check())
  }

  /** Creates the stream if it does not exist, or has another number of replicas. */
  async #ensureStream(manager: JetStreamManager): Promise<void> {
    const { names, settings } = this.#options
    const { replicas: num_replicas } = settings
    const { config } =
      (await manager.streams.info(names.stream).catch(ignoreMissing)) ??
      (await manager.streams.add({
        name: names.stream,
        subjects: [names.offers],
        retention: RetentionPolicy.Workqueue,
        storage: StorageType.File,
        num_replicas,
        duplicate_window: nanos(REPEATED_MS),
      }))
    if (config.num_replicas !== num_replicas) {
      await manager.streams.update(names.stream, { num_replicas })
    }
  }

  #setReady(isReady: boolean, error?: unknown): void {
    if (this.#isClosed) return
    if (!isReady) this.#report(error)
    if (isReady === this.#isReady) return
    this.#isReady = isReady
    if (isReady) {
      this.#hasReported = false
      this.#options.logger.info('NATS dispatches runs')
    } else {
      this.#stopTimer?.()
      this.#stopTimer = this.#clock.after(CHECK_MS, () => void this.#check())
    }
    this.#options.onChange(isReady)
  }

  /** Logs the first failure since the link was ready. */
  #report(error: unknown): void {
    if (this.#hasReported || this.#isClosed) return
    this.#hasReported = true
    this.#options.logger.warn('NATS cannot be used; runs are dispatched over the database', {
      reason: errorMessage(error),
    })
  }
}

function ignoreMissing(error: unknown): undefined {
  if (error instanceof Error && error.message.includes('stream not found')) return undefined
  throw error
}

function sleepReal(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}
