/**
 * The connection to the cluster. It is opened in the background and reopened for ever, because the store works without it.
 * The client reconnects by itself; when it stops, as after two rejections of its credentials, it is replaced.
 *
 *   connecting ─▶ connected ─ stream exists, answers ─▶ ready
 *                    ▲                                    │
 *                    └──── disconnected, no answer ◀──────┘
 *
 * NATS-E1 The link is ready only while JetStream answers. A connection to a server without a majority is not ready.
 * NATS-E8 A client that is closed for good is always replaced; the new one gets the same subscriptions.
 * NATS-E2 A change of the state is reported once, and checked every {@link CHECK_MS}, so the store takes over within
 *    two seconds.
 */
import type { Logger } from '@tutti/core'
import { errorMessage, sleep } from '@tutti/core/internal'
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
  /** Called with each new client before the link is ready. Subscriptions of an earlier client have ended. */
  readonly onOpen: (client: LinkedClient) => void
  /** Called when the state has changed. */
  readonly onChange: () => void
}

/** A connection, and whether it can be used. */
export class NatsLink {
  readonly #options: NatsLinkOptions
  readonly #closing = new AbortController()
  #client: LinkedClient | undefined
  /** Undefined until the state is known. */
  #isReady: boolean | undefined
  #onLost = (): void => undefined

  constructor(options: NatsLinkOptions) {
    this.#options = options
    void this.#keepOpen()
  }

  /** The client, if it can be used. */
  get ready(): LinkedClient | undefined {
    return this.#isReady === true ? this.#client : undefined
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
    this.#closing.abort()
    this.#isReady = false
    this.#onLost()
    const { connection } = this.#client ?? {}
    const flushed = new AbortController()
    const limit = sleep(this.#options.settings.clock, CHECK_LIMIT_MS, flushed.signal)
    await Promise.race([connection?.flush(), limit]).catch(() => undefined)
    flushed.abort()
    await connection?.close()
  }

  /** Connects, and checks that the stream exists and JetStream answers, while it is not known that it does. */
  async #keepOpen(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      try {
        const client = await this.#openClient()
        await this.#ensureStream(client.manager)
        // While the link is in use, its requests and the pings of the client detect that it is lost.
        const lost = Promise.withResolvers<void>()
        this.#onLost = lost.resolve
        this.#setReady(true)
        await lost.promise
      } catch (error) {
        this.#setReady(false, error)
      }
      await sleep(this.#options.settings.clock, CHECK_MS, signal)
    }
  }

  /** Returns the client, and a new one if it has none or if that is closed. */
  async #openClient(): Promise<LinkedClient> {
    const client = this.#client
    return client === undefined || client.connection.isClosed() ? this.#connect() : client
  }

  async #connect(): Promise<LinkedClient> {
    const { settings, processName, onOpen } = this.#options
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
    // The subsequent check fails, and is the last.
    if (this.#closing.signal.aborted) await connection.close()
    const client = {
      connection,
      stream: jetstream(connection, { timeout: CHECK_LIMIT_MS }),
      manager: await jetstreamManager(connection, { checkAPI: false, timeout: CHECK_LIMIT_MS }),
    }
    this.#client = client
    void this.#watch(connection)
    onOpen(client)
    return client
  }

  /** Loses the link as soon as its connection is lost or closed for good. */
  async #watch(connection: NatsConnection): Promise<void> {
    for await (const { type } of connection.status()) {
      if (type === 'disconnect' || type === 'staleConnection') {
        this.#setReady(false, new Error('The connection to NATS was lost'))
      }
    }
    const reason = await connection.closed()
    this.#setReady(false, reason ?? new Error('The connection to NATS was closed'))
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

  /** Changes and logs the state, unless it is the same. */
  #setReady(isReady: boolean, error?: unknown): void {
    if (this.#closing.signal.aborted || isReady === this.#isReady) return
    this.#isReady = isReady
    const { logger, onChange } = this.#options
    if (isReady) {
      logger.info('NATS dispatches runs')
    } else {
      const reason = errorMessage(error)
      logger.warn('NATS cannot be used; runs are dispatched over the database', { reason })
      this.#onLost()
    }
    onChange()
  }
}

/** Returns undefined for the error that a stream or a consumer does not exist, and throws all others. */
export function ignoreMissing(error: unknown): undefined {
  if (error instanceof Error && /^(?:stream|consumer) not found/.test(error.message))
    return undefined
  throw error
}
