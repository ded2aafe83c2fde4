/**
 * Takes offers from the stream and claims each in the store.
 *
 *   stream ─ pull ─▶ arrived ─ take ─▶ claimed in the store ─▶ held until the run is returned
 *                       │                   │
 *                       └── not wanted ◀────┴─ full: returned · owned: later · outdated: acknowledged
 *
 * NATS-E3 A message is held while its run executes, and extended by each heartbeat. The stream hands out no more messages
 *    of a claim key than `maxConcurrentRuns`, and hands out a message again when its process died. The exact limit over
 *    all claim keys is that of the store.
 * NATS-E4 A message that the stream hands out again watches over the lease of its run: it returns when the lease can
 *    have ended, and then makes the store offer the run again.
 * NATS-E7 A process that met the full limit returns its offers, and pulls none until one of its runs ends or its next
 *    poll, because the process that frees a slot pulls by itself.
 * NATS-E5 Each process with a free slot also takes runs from the store: within two leases, after each run that it found
 *    there, and always while the link is not ready. This finds runs that are not offered: suspects, runs of ensembles that
 *    no process knows, stranded runs, parked runs whose time limit has passed, and runs whose offers were lost. In a fleet
 *    of more than ten, each process takes longer, like its polls and its idle lease, and all together less.
 */
import { DISPATCHER_VERSION, OfferRelay } from '@tutti/runs/adapter'

import { OfferPuller, type PulledOffer, type PullLimits } from './offer-puller.ts'
import { encodeOffer, type Names } from './subjects.ts'

import type {
  ClaimedRun,
  ClaimRequest,
  Dispatcher,
  EngineHost,
  EngineState,
  HeldRun,
  LeaseOwner,
  Offer,
  OfferOutcome,
} from '@tutti/runs/adapter'
import type { NatsLink } from './nats-link.ts'
import type { ResolvedNatsEngineOptions } from './options.ts'

/** Time after which offers are handed out again when their claim has failed, in milliseconds. */
const AFTER_ERROR_MS = 600

/** Time after the end of a lease at which a message looks for it, in milliseconds. */
const AFTER_LEASE_MS = 100

/**
 * Interval between polls of the store: this fraction of an idle lease, because a poll also renews the lease, but at
 * least `MIN_LEASES` times a lease. Even with the jitter it is shorter than the renewal interval of a process without
 * runs.
 */
const PART_OF_IDLE_LEASE = 0.5
const MIN_LEASES = 1.5
const JITTER = 0.2

/** Longest timer, in milliseconds: a day. The store finds runs that wait longer. */
const MAX_WAKE_MS = 86_400_000

/** Returns the time until the next poll of the store, in milliseconds. */
export function nextStorePollMs(
  { leaseMs, idleLeaseMs = leaseMs }: LeaseOwner,
  random = Math.random(),
): number {
  const everyMs = Math.max(idleLeaseMs * PART_OF_IDLE_LEASE, leaseMs * MIN_LEASES)
  return everyMs * (1 + JITTER * (2 * random - 1))
}

/** Options of {@link NatsDispatcher}. */
export interface NatsDispatcherOptions {
  readonly host: EngineHost
  readonly link: NatsLink
  readonly names: Names
  readonly settings: ResolvedNatsEngineOptions
}

/** The dispatcher of a process. */
export class NatsDispatcher implements Dispatcher {
  readonly version = DISPATCHER_VERSION
  readonly #options: NatsDispatcherOptions
  readonly #relay: OfferRelay
  readonly #pullers = new Map<string, OfferPuller>()
  readonly #held = new Map<string, PulledOffer>()
  readonly #timers = new Set<() => void>()
  #arrived: PulledOffer[] = []
  #limits: PullLimits | undefined
  /** Number of runs that the process can take on, without those that have arrived. */
  #wanted = 0
  /** Whether the limit was full at the last claim. */
  #isFull = false
  /** Time at which the store is asked, by `Clock.elapsed`. */
  #askStoreAt = -Infinity

  constructor(options: NatsDispatcherOptions) {
    this.#options = options
    const { host, link, settings } = options
    this.#relay = new OfferRelay({
      outbox: host.outbox,
      publish: ({ offerId, ...offer }) => this.#publish(offer, offerId),
      isReady: () => link.ready !== undefined,
      clock: settings.clock,
      logger: host.logger,
    })
  }

  get engine(): EngineState {
    return { name: 'nats', isConnected: this.#options.link.ready !== undefined }
  }

  async take(request: ClaimRequest): Promise<readonly ClaimedRun[] | undefined> {
    const { link, settings, host } = this.#options
    const now = settings.clock.elapsed()
    this.#wanted = 0
    this.#isFull = false
    const offered = await this.#takeOffered(request)
    const claims = [...(offered ?? [])]
    const missing = request.wanted - claims.length
    const isDue = link.ready === undefined || now >= this.#askStoreAt
    let asksStore = false
    if (missing > 0 && (isDue || request.known === undefined)) {
      asksStore = true
      const found = (await host.dispatcher.take({ ...request, wanted: missing })) ?? []
      // The store may have further runs that are not offered.
      this.#askStoreAt =
        found.length > 0 ? -Infinity : now + (settings.storePollMs ?? nextStorePollMs(request))
      claims.push(...found)
      if (this.#held.size > 0) this.offer()
    }
    if (!this.#isFull) {
      this.#wanted = request.wanted - claims.length
      this.#pull(request)
    }
    return offered === undefined && !asksStore ? undefined : claims
  }

  offer(): void {
    this.#relay.send()
  }

  heartbeat(held: readonly Pick<HeldRun, 'runId'>[]): void {
    for (const { runId } of held) this.#held.get(runId)?.message.working()
  }

  return(runId: string): void {
    this.#held.get(runId)?.message.ack()
    this.#held.delete(runId)
  }

  wakeAt(offer: Offer, inMs: number): void {
    if (inMs > MAX_WAKE_MS) return
    const stop = this.#options.settings.clock.after(inMs, () => {
      this.#timers.delete(stop)
      // A poll of the store finds the run if this fails.
      this.#publish(offer).catch(() => undefined)
    })
    this.#timers.add(stop)
  }

  /** Continues when the link is ready again, or takes from the store when it is not. */
  onLink(): void {
    this.#askStoreAt = -Infinity
    for (const puller of this.#pullers.values()) puller.pull()
    this.#relay.send()
  }

  /** Returns all offers that were not claimed. Messages of runs that still execute are handed out after `leaseMs`. */
  stop(): void {
    this.#relay.stop()
    for (const stop of this.#timers) stop()
    for (const puller of this.#pullers.values()) puller.stop()
    for (const { message } of this.#arrived.splice(0)) message.nak()
  }

  /** Stores an offer in the stream; one with an id once, even if it is sent again. @throws when the stream may not have it */
  async #publish(offer: Offer, offerId?: string): Promise<void> {
    const { link, names } = this.#options
    const client = link.ready
    if (client === undefined) throw new Error('NATS cannot be reached')
    const options = offerId === undefined ? {} : { msgID: offerId }
    try {
      await client.stream.publish(names.offersOf(offer.claimKey), encodeOffer(offer), options)
    } catch (error) {
      link.reportFailed(error)
      throw error
    }
  }

  /** Claims runs whose offers have arrived. Returns undefined if there are none. */
  async #takeOffered(request: ClaimRequest): Promise<readonly ClaimedRun[] | undefined> {
    const { queue } = this.#options.host
    const arrived = this.#arrived.splice(0)
    for (const { message } of arrived.splice(request.wanted)) message.nak()
    if (arrived.length === 0) return undefined
    const offers = arrived.map(({ offer }) => offer)
    let outcomes: readonly OfferOutcome[]
    try {
      outcomes = await queue.claimOffered(offers, request)
    } catch (error) {
      for (const { message } of arrived) message.nak(AFTER_ERROR_MS)
      throw error
    }
    return arrived.flatMap((pulled, index) => this.#settle(pulled, outcomes[index]))
  }

  #settle(
    pulled: PulledOffer,
    outcome: OfferOutcome = { kind: 'outdated' },
  ): readonly ClaimedRun[] {
    const { offer, message } = pulled
    switch (outcome.kind) {
      case 'claimed':
        this.#held.set(offer.runId, pulled)
        return [outcome.claim]
      case 'replaced':
        // The own offer of the claimed run watches over its lease when it arrives (NATS-E4).
        message.nak()
        return [outcome.claim]
      case 'full':
        this.#isFull = true
        message.nak()
        return []
      case 'owned':
        message.nak(Math.max(outcome.forMs, 0) + AFTER_LEASE_MS)
        return []
      case 'outdated':
        message.ack()
        return []
    }
  }

  /** Pulls offers for the process's claim keys. */
  #pull({ known, leaseMs, maxConcurrentRuns }: ClaimRequest): void {
    if (known === undefined || leaseMs === Infinity) return
    this.#limits ??= { leaseMs, maxConcurrentRuns }
    for (const claimKey of known.ensembles) {
      const puller = this.#pullers.get(claimKey) ?? this.#addPuller(claimKey, this.#limits)
      puller.pull()
    }
  }

  #addPuller(claimKey: string, limits: PullLimits): OfferPuller {
    const { link, names } = this.#options
    const puller = new OfferPuller({
      claimKey,
      limits,
      names,
      link,
      isWanted: () => this.#wanted > this.#arrived.length,
      onOffer: (pulled) => {
        this.#onOffer(pulled)
      },
    })
    this.#pullers.set(claimKey, puller)
    return puller
  }

  #onOffer(pulled: PulledOffer): void {
    const { offer, message } = pulled
    const held = this.#held.get(offer.runId)
    if (held?.offer.epoch === offer.epoch) {
      // Its heartbeats were lost. From now on they extend the message that was handed out last.
      this.#held.set(offer.runId, pulled)
      message.working()
      return
    }
    if (this.#isFull) {
      message.nak()
      return
    }
    this.#arrived.push(pulled)
    this.#options.host.receive([{ kind: 'ready' }])
  }
}
