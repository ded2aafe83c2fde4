/** Moves offers from the outbox of a store to an engine. An offer leaves the outbox when the engine has it. */
import type { Clock, Logger } from '@tutti/core'
import type { OfferOutbox, StoredOffer } from '../ports/dispatcher.ts'

/** Number of offers that are sent together. */
const BATCH = 200

/** Time after which lost offers are sent again, in milliseconds. Their claims have ended by then. */
const AGAIN_MS = 1_500

/** Options of {@link OfferRelay}. */
export interface OfferRelayOptions {
  readonly outbox: OfferOutbox
  /**
   * Sends an offer to the engine. Resolves when the engine has it, and rejects if it may not have it: then the offer, with
   * the same `offerId`, is sent again.
   */
  readonly publish: (offer: StoredOffer) => Promise<void>
  /** Whether the engine can be reached. Otherwise offers stay in the outbox until the next `send`. */
  readonly isReady: () => boolean
  readonly clock: Clock
  readonly logger: Logger
}

/** Sends the offers of a store, for the dispatcher of another engine. */
export class OfferRelay {
  readonly #options: OfferRelayOptions
  #isSending = false
  /** Whether there may be new offers since it began to send. */
  #isAgain = false
  #isStopped = false
  #stopTimer: (() => void) | undefined

  constructor(options: OfferRelayOptions) {
    this.#options = options
  }

  /** Sends everything in the outbox, soon. What fails is logged, and sent again after a while. */
  send(): void {
    this.#isAgain = true
    if (this.#isSending) return
    void this.#sendAll()
  }

  /** Sends failed offers no more: they stay in the outbox for other processes. New ones can still be sent. */
  stop(): void {
    this.#isStopped = true
    this.#stopTimer?.()
  }

  async #sendAll(): Promise<void> {
    this.#isSending = true
    while (this.#isAgain) {
      this.#isAgain = false
      try {
        await this.#sendOffers()
      } catch (error) {
        this.#onError(error)
      }
    }
    this.#isSending = false
  }

  async #sendOffers(): Promise<void> {
    const { outbox, publish, isReady } = this.#options
    while (isReady()) {
      const offers = await outbox.claim(BATCH)
      const outcomes = await Promise.allSettled(offers.map(publish))
      const sent = offers.filter((_, index) => outcomes[index]?.status === 'fulfilled')
      // Not awaited, so that the next offers leave at once. What is not settled is sent again, which is harmless.
      if (sent.length > 0) outbox.settle(sent).catch((error: unknown) => this.#onError(error))
      const failed = outcomes.find(({ status }) => status === 'rejected')
      if (failed?.status === 'rejected') throw failed.reason
      if (offers.length < BATCH) return
    }
  }

  #onError(error: unknown): void {
    const { logger, clock } = this.#options
    if (this.#isStopped) return
    logger.warn('Failed to send offers; they stay in the outbox', { error })
    this.#stopTimer?.()
    this.#stopTimer = clock.after(AGAIN_MS, () => {
      this.send()
    })
  }
}
