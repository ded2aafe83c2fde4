/**
 * Notifies webhooks of runs.
 *
 *   outbox ─claim─▶ body from the store ─sign─▶ POST ─┬─ 2xx ────▶ done
 *                                                     ├─ 410 ────▶ failed
 *                                                     └─ other ──▶ retried, then failed
 *
 * API-W1 Deliveries are made at least once, also after a crash. A delivery is stored until its receiver has acknowledged
 *    it or the last attempt has failed.
 * API-W2 Every attempt has the same `webhook-id`, so that receivers can detect duplicates.
 * API-W3 A slow receiver, or one that sends a large response, does not delay others. Every attempt has a timeout, and
 *    response bodies are not read.
 * API-W4 Redirects are not followed, because the operator registered only the address itself.
 * API-W5 A delivery that a shutdown interrupts is due again when its claim expires.
 * API-W6 At most eight deliveries are in progress at the same time. The next one is claimed when one has ended.
 */
import type { Clock, Logger } from '@tutti/core'
import { errorMessage } from '@tutti/core/internal'
import { guardAround, HttpConnections } from '@tutti/net/internal'

import { readDeliveryContent, type DeliveryContent } from './delivery-body.ts'
import { nextAttemptInMs } from './retry-schedule.ts'
import { signatureHeaders } from './sign.ts'

import type { ResolvedControlApiOptions, Webhook } from '../options.ts'
import type { Redactor } from '@tutti/gateway/internal'
import type { WebhookDelivery } from '@tutti/protocol'
import type { RunService } from '@tutti/runs'
import type { ClaimedDelivery, DeliveryEnd } from '@tutti/runs/adapter'

/** Timeout of an attempt, in milliseconds. */
const ATTEMPT_MS = 15_000

/** Time after which a claimed delivery is due again, in milliseconds; longer than an attempt. */
const CLAIM_MS = 60_000

/** Maximum number of deliveries at the same time. */
const MAX_IN_PROGRESS = 8

/** Interval at which the outbox is polled in addition to notifications, in milliseconds. */
const POLL_MS = 5_000

/** Number of processes that poll at each interval on average, however many there are. */
const POLLERS = 5

/** Status "Gone", with which a receiver refuses further attempts. */
const GONE = 410

/** Sends the deliveries in the outbox until it is stopped. */
export class WebhookSender {
  readonly #runs: RunService
  readonly #redactor: Redactor
  readonly #webhooks: Readonly<Record<string, Webhook>>
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #stopping = new AbortController()
  readonly #inProgress = new Set<Promise<void>>()
  readonly #stopListening: () => void
  #stopTimer: () => void = () => undefined
  #claiming: Promise<void> | undefined
  #claimAgain = false

  constructor({
    runs,
    webhooks,
    clock,
    logger,
    redactor,
  }: Pick<ResolvedControlApiOptions, 'runs' | 'redactor' | 'webhooks' | 'clock' | 'logger'>) {
    this.#runs = runs
    this.#redactor = redactor
    this.#webhooks = webhooks
    this.#clock = clock
    this.#logger = logger
    this.#stopListening = runs.stores.listenToOutbox(() => {
      this.#claimNext()
    })
    this.#poll()
  }

  /** Stops sending; resolves when no delivery is in progress. */
  async stop(): Promise<void> {
    this.#stopListening()
    this.#stopTimer()
    this.#stopping.abort()
    await this.#claiming
    await Promise.all(this.#inProgress)
  }

  #poll(): void {
    if (this.#runs.processes.takesTurn(POLLERS)) this.#claimNext()
    this.#stopTimer = this.#clock.after(POLL_MS, () => {
      this.#poll()
    })
  }

  #claimNext(): void {
    if (this.#stopping.signal.aborted) return
    if (this.#claiming !== undefined) {
      this.#claimAgain = true
      return
    }
    this.#claimAgain = false
    this.#claiming = this.#claim().finally(() => {
      this.#claiming = undefined
      if (this.#claimAgain) this.#claimNext()
    })
  }

  async #claim(): Promise<void> {
    const limit = MAX_IN_PROGRESS - this.#inProgress.size
    if (limit <= 0) return
    try {
      const claimed = await this.#runs.stores.outbox.claim({ limit, claimMs: CLAIM_MS })
      for (const delivery of claimed) this.#begin(delivery)
    } catch (error) {
      this.#logger.warn('Failed to poll the webhook outbox', { error })
    }
  }

  #begin(delivery: ClaimedDelivery): void {
    const work: Promise<void> = this.#deliver(delivery).finally(() => {
      this.#inProgress.delete(work)
      this.#claimNext()
    })
    this.#inProgress.add(work)
  }

  async #deliver(delivery: ClaimedDelivery): Promise<void> {
    const { id, attempt, runId, webhook: name } = delivery
    try {
      const end = await this.#attempt(delivery)
      if (end === undefined) return
      if (end.kind !== 'done') {
        const { reason } = end
        const message =
          end.kind === 'retry'
            ? 'Webhook delivery failed; retrying'
            : 'Webhook delivery failed permanently'
        this.#logger.warn(message, { webhook: name, runId, attempt, reason })
      }
      await this.#runs.stores.outbox.settle({ id, attempt }, end)
    } catch (error) {
      // The delivery is due again when its claim expires.
      this.#logger.warn('Failed to record the delivery result', { webhook: name, error })
    }
  }

  /** Makes an attempt and returns its outcome; undefined when a shutdown interrupted it. */
  async #attempt(delivery: ClaimedDelivery): Promise<DeliveryEnd | undefined> {
    const webhook = this.#webhooks[delivery.webhook]
    if (webhook === undefined) {
      return { kind: 'given_up', reason: 'Webhook is no longer registered' }
    }
    const content = await readDeliveryContent(
      { runs: this.#runs, redactor: this.#redactor },
      delivery,
    )
    if (content === undefined || !wants(webhook, content.body)) return { kind: 'done' }
    try {
      const status = await this.#post(webhook, delivery.id, content)
      if (status >= 200 && status < 300) return { kind: 'done' }
      if (status === GONE) return { kind: 'given_up', reason: 'Receiver responded with 410' }
      return retryLater(delivery, `Receiver responded with ${status}`)
    } catch (error) {
      if (this.#stopping.signal.aborted) return undefined
      return retryLater(delivery, errorMessage(error))
    }
  }

  async #post(webhook: Webhook, id: string, content: DeliveryContent): Promise<number> {
    const url = new URL(webhook.url)
    const body = JSON.stringify(content.body)
    // The response is not read, so its connection cannot be reused.
    await using connections = new HttpConnections(guardAround(url), { keepAlive: false })
    const timeout = new AbortController()
    const stopTimer = this.#clock.after(ATTEMPT_MS, () => {
      timeout.abort(new Error(`Receiver did not respond within ${ATTEMPT_MS} ms`))
    })
    try {
      const timestamp = Math.floor(this.#clock.now() / 1_000)
      const response = await connections.send({
        url,
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          'user-agent': 'tutti-webhooks',
          ...content.trace,
          ...signatureHeaders(webhook.secret, { id, timestamp, body }),
        },
        body: Buffer.from(body),
        signal: AbortSignal.any([timeout.signal, this.#stopping.signal]),
      })
      response.body.destroy()
      return response.status
    } finally {
      stopTimer()
    }
  }
}

function wants({ events }: Webhook, { type }: WebhookDelivery): boolean {
  return events === undefined || events.includes(type)
}

function retryLater({ attempt }: ClaimedDelivery, reason: string): DeliveryEnd {
  const dueInMs = nextAttemptInMs(attempt)
  return dueInMs === undefined ? { kind: 'given_up', reason } : { kind: 'retry', dueInMs, reason }
}
