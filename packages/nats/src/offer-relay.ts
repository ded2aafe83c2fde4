/** Moves offers from the outbox of the store to the stream. An offer leaves the outbox when the stream has it. */
import { encodeOffer, type Names } from './subjects.ts'

import type { Clock } from '@tutti/core'
import type { Offer, OfferOutbox, StoredOffer } from '@tutti/runs'
import type { NatsLink } from './nats-link.ts'

/** Number of offers that are sent together. */
const BATCH = 200

/** Time after which offers that did not arrive are sent again, in milliseconds. Their claims have ended by then. */
const AGAIN_MS = 1_500

/** Options of {@link OfferRelay}. */
export interface OfferRelayOptions {
  readonly outbox: OfferOutbox
  readonly link: NatsLink
  readonly names: Names
  readonly clock: Clock
  readonly onError: (error: unknown) => void
}

/** Sends offers. */
export class OfferRelay {
  readonly #options: OfferRelayOptions
  #isSending = false
  #isAgain = false
  #stopTimer: (() => void) | undefined

  constructor(options: OfferRelayOptions) {
    this.#options = options
  }

  /** Sends everything in the outbox, soon. While the link is not ready, offers stay there. */
  send(): void {
    if (this.#isSending) {
      this.#isAgain = true
      return
    }
    this.#isSending = true
    this.#sendAll()
      .catch(this.#options.onError)
      .finally(() => {
        this.#isSending = false
        if (!this.#isAgain) return
        this.#isAgain = false
        this.send()
      })
  }

  /** Sends no offer again. */
  stop(): void {
    this.#stopTimer?.()
  }

  /** Sends an offer. The stream stores one with an id once, even if it is sent again. */
  async publish(offer: Offer, offerId?: string): Promise<boolean> {
    const { link, names } = this.#options
    try {
      const { ready } = link
      if (ready === undefined) return false
      const options = offerId === undefined ? {} : { msgID: offerId }
      await ready.stream.publish(names.offersOf(offer.claimKey), encodeOffer(offer), options)
      return true
    } catch (error) {
      link.reportFailed(error)
      return false
    }
  }

  #sendLater(): void {
    this.#stopTimer?.()
    this.#stopTimer = this.#options.clock.after(AGAIN_MS, () => {
      this.send()
    })
  }

  async #sendAll(): Promise<void> {
    const { outbox, link } = this.#options
    while (link.ready !== undefined) {
      const offers = await outbox.claim(BATCH)
      if (offers.length === 0) return
      const arrived = await Promise.all(offers.map((offer) => this.publish(offer, offer.offerId)))
      const sent: readonly StoredOffer[] = offers.filter((_, index) => arrived[index] === true)
      // Not awaited, so that the next offers leave at once. What is not settled is sent again, which is harmless.
      if (sent.length > 0) outbox.settle(sent).catch(this.#options.onError)
      if (sent.length < offers.length) this.#sendLater()
      if (offers.length < BATCH) return
    }
  }
}
