/** Pulls the offers of one claim key from the stream, one at a time and only while they are wanted. */
import { AckPolicy } from '@nats-io/jetstream'
import { nanos } from '@nats-io/transport-node'

import { ignoreMissing } from './nats-link.ts'
import { decodeOffer, type Names } from './subjects.ts'

import type { Consumer, ConsumerUpdateConfig, JsMsg } from '@nats-io/jetstream'
import type { Offer } from '@tutti/runs/adapter'
import type { LinkedClient, NatsLink } from './nats-link.ts'

/** Duration of one request for an offer, in milliseconds. */
const PULL_MS = 10_000

/** Number of requests of all processes that may wait for an offer of one claim key. */
const MAX_WAITING = 10_000

/** Time after which an unused consumer is deleted, in milliseconds: a day. Its offers stay in the stream. */
const UNUSED_MS = 86_400_000

/** An offer, and the message with which it is acknowledged. */
export interface PulledOffer {
  readonly offer: Offer
  readonly message: JsMsg
}

/** Time for which an offer is held without a heartbeat, and number of offers that all processes hold. */
export interface PullLimits {
  readonly leaseMs: number
  readonly maxConcurrentRuns: number
}

/** Options of {@link OfferPuller}. */
export interface OfferPullerOptions {
  readonly claimKey: string
  readonly limits: PullLimits
  readonly names: Names
  readonly link: NatsLink
  readonly onOffer: (pulled: PulledOffer) => void
  /** Whether a further offer is wanted. */
  readonly isWanted: () => boolean
}

/** Pulls offers until it is stopped. */
export class OfferPuller {
  readonly #options: OfferPullerOptions
  #isPulling = false
  #isStopped = false

  constructor(options: OfferPullerOptions) {
    this.#options = options
  }

  /** Pulls while offers are wanted and the link is ready. */
  pull(): void {
    if (this.#isPulling || this.#isStopped) return
    this.#isPulling = true
    void this.#pullAll().finally(() => {
      this.#isPulling = false
      // They may have become wanted meanwhile.
      if (this.#canPull && this.#options.isWanted()) this.pull()
    })
  }

  stop(): void {
    this.#isStopped = true
  }

  get #canPull(): boolean {
    return !this.#isStopped && this.#options.link.ready !== undefined
  }

  async #pullAll(): Promise<void> {
    const { link, claimKey, onOffer, isWanted } = this.#options
    try {
      const client = link.ready
      if (client === undefined || !isWanted()) return
      const consumer = await this.#findConsumer(client)
      while (this.#canPull && isWanted()) {
        const message = await consumer.next({ expires: PULL_MS })
        if (message === null) continue
        const offer = decodeOffer(message.string(), claimKey)
        if (offer === undefined) message.term('not an offer')
        else if (this.#isStopped) message.nak()
        else onOffer({ offer, message })
      }
    } catch (error) {
      link.reportFailed(error)
    }
  }

  /** Finds the consumer that all processes share, and creates it if it does not exist or has other limits. */
  async #findConsumer({ manager, stream }: LinkedClient): Promise<Consumer> {
    const { claimKey, limits, names } = this.#options
    const name = names.consumerOf(claimKey)
    const { leaseMs, maxConcurrentRuns } = limits
    const wanted = {
      ack_wait: nanos(leaseMs),
      max_ack_pending: maxConcurrentRuns === Infinity ? -1 : maxConcurrentRuns,
    } satisfies ConsumerUpdateConfig
    const found = await manager.consumers.info(names.stream, name).catch(ignoreMissing)
    if (found === undefined) {
      await manager.consumers.add(names.stream, {
        ...wanted,
        durable_name: name,
        filter_subject: names.offersOf(claimKey),
        ack_policy: AckPolicy.Explicit,
        max_deliver: -1,
        max_waiting: MAX_WAITING,
        inactive_threshold: nanos(UNUSED_MS),
      })
    } else {
      const { ack_wait, max_ack_pending } = found.config
      const fits = ack_wait === wanted.ack_wait && max_ack_pending === wanted.max_ack_pending
      if (!fits) await manager.consumers.update(names.stream, name, wanted)
    }
    return stream.consumers.get(names.stream, name)
  }
}
