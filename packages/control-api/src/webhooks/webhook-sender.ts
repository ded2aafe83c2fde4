/**
 * Tells webhooks what becomes of runs.
 *
 *   outbox ─claim─▶ body of what is kept now ─sign─▶ POST ─┬─ 2xx ────────▶ done
 *                                                          ├─ 410 ────────▶ given up
 *                                                          └─ all else ───▶ again later, then given up
 *
 * API-W1 What a webhook is to be told is told at least once, also after a crash: it is kept until a receiver has
 *    answered, or until the last attempt has failed.
 * API-W2 Every attempt has the same `webhook-id`, so that a receiver knows what it has had.
 * API-W3 A receiver that is slow, or answers much, holds up nobody else: every attempt has a time, and what it
 *    answers is not read.
 * API-W4 Redirects are not followed: the operator registered an address, not where it leads.
 * API-W5 A delivery that is cut off by a stop is due again when its claim is over.
 */
import { errorMessage, type Clock, type Logger } from '@tutti/core'
import { guardAround, HttpConnections } from '@tutti/net'

import { readDeliveryContent, type DeliveryContent } from './delivery-body.ts'
import { nextAttemptInMs } from './retry-schedule.ts'
import { signatureHeaders } from './sign.ts'

import type { ResolvedControlApiOptions, Webhook } from '../options.ts'
import type { Redactor } from '@tutti/gateway'
import type { WebhookDelivery } from '@tutti/protocol'
import type { ClaimedDelivery, DeliveryEnd, RunService } from '@tutti/runs'

/** How long a receiver may take, in milliseconds. */
const ATTEMPT_MS = 15_000

/** After what time a delivery that was claimed is due again: longer than an attempt takes. */
const CLAIM_MS = 60_000

/** Deliveries that are under way at the same time. */
const CONCURRENCY = 8

/** How often deliveries are looked for that no notice tells of, in milliseconds. */
const POLL_MS = 5_000

/** "Gone", with which a receiver says that it wants nothing more. */
const GONE = 410

/** Sends what is in the outbox until it is stopped. */
export class WebhookSender {
  readonly #runs: RunService
  readonly #redactor: Redactor
  readonly #webhooks: Readonly<Record<string, Webhook>>
  readonly #clock: Clock
  readonly #logger: Logger
  readonly #stopping = new AbortController()
  readonly #underWay = new Set<Promise<void>>()
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
    this.#stopListening = runs.listenToOutbox(() => {
      this.#claimNext()
    })
    this.#poll()
  }

  /** Sends nothing more; resolves when nothing is under way. */
  async stop(): Promise<void> {
    this.#stopListening()
    this.#stopTimer()
    this.#stopping.abort()
    await this.#claiming
    await Promise.all(this.#underWay)
  }

  #poll(): void {
    this.#claimNext()
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
    const limit = CONCURRENCY - this.#underWay.size
    if (limit <= 0) return
    try {
      const claimed = await this.#runs.outbox.claim({ limit, claimMs: CLAIM_MS })
      for (const delivery of claimed) this.#begin(delivery)
    } catch (error) {
      this.#logger.warn('Could not look for what webhooks are to be told', { error })
    }
  }

  #begin(delivery: ClaimedDelivery): void {
    const work: Promise<void> = this.#deliver(delivery).finally(() => {
      this.#underWay.delete(work)
      this.#claimNext()
    })
    this.#underWay.add(work)
  }

  async #deliver(delivery: ClaimedDelivery): Promise<void> {
    const { id, attempt, runId, webhook: name } = delivery
    try {
      const end = await this.#attempt(delivery)
      if (end === undefined) return
      if (end.kind !== 'done') {
        const { reason } = end
        const message =
          end.kind === 'retry' ? 'A webhook was not reached' : 'A webhook was given up'
        this.#logger.warn(message, { webhook: name, runId, attempt, reason })
      }
      await this.#runs.outbox.settle({ id, attempt }, end)
    } catch (error) {
      // Its claim will be over, and it is due again.
      this.#logger.warn('What became of a delivery could not be kept', { webhook: name, error })
    }
  }

  /** What became of an attempt; undefined when it was cut off by a stop. */
  async #attempt(delivery: ClaimedDelivery): Promise<DeliveryEnd | undefined> {
    const webhook = this.#webhooks[delivery.webhook]
    if (webhook === undefined) {
      return { kind: 'given_up', reason: 'It is not registered any more' }
    }
    const content = await readDeliveryContent(
      { runs: this.#runs, redactor: this.#redactor },
      delivery,
    )
    if (content === undefined || !wants(webhook, content.body)) return { kind: 'done' }
    try {
      const status = await this.#post(webhook, delivery.id, content)
      if (status >= 200 && status < 300) return { kind: 'done' }
      if (status === GONE) return { kind: 'given_up', reason: 'It answered 410' }
      return retryLater(delivery, `It answered ${status}`)
    } catch (error) {
      if (this.#stopping.signal.aborted) return undefined
      return retryLater(delivery, errorMessage(error))
    }
  }

  async #post(webhook: Webhook, id: string, content: DeliveryContent): Promise<number> {
    const url = new URL(webhook.url)
    const body = JSON.stringify(content.body)
    // The answer is not read, so its connection cannot be reused.
    await using connections = new HttpConnections(guardAround(url), { keepAlive: false })
    const timeout = new AbortController()
    const stopTimer = this.#clock.after(ATTEMPT_MS, () => {
      timeout.abort(new Error(`It did not answer within ${ATTEMPT_MS} ms`))
    })
    try {
      const timestamp = Math.floor(this.#clock.now() / 1_000)
      const answer = await connections.send({
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
      answer.body.destroy()
      return answer.status
    } finally {
      stopTimer()
    }
  }
}

function wants({ events }: Webhook, { type }: WebhookDelivery): boolean {
  return events === undefined || events.includes(type)
}

function retryLater({ attempt }: ClaimedDelivery, reason: string): DeliveryEnd {
  const dueInMs = nextAttemptInMs(attempt, Math.random())
  return dueInMs === undefined ? { kind: 'given_up', reason } : { kind: 'retry', dueInMs, reason }
}
