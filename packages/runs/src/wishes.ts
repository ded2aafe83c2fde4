/**
 * Takes what people want of a run to it, whoever executes it, and wherever they asked.
 *
 *   wish ─▶ signals.send ─┬─ somebody has it ─▶ the owner applies it ─▶ answer
 *                         └─ nobody has it ───▶ written at rest
 *
 * W5 A wish is durable before it is answered.
 * W6 The answer is the owner's, in whatever process it is; a wish for a run at rest is checked by the same
 *    rules.
 * W7 A wish meets a run exactly once, also when the run changes hands at the same moment.
 * W8 A wish that nobody answers in time stays: the error says so.
 */
import { isoNow, sleep, TuttiError } from '@tutti/core'
import { runAtRest } from '@tutti/ensemble'

import { tellActivity } from './activity.ts'
import { field } from './record-fields.ts'
import { runCompleted } from './refusals.ts'
import { ensembleOf } from './request/ensemble-of.ts'
import { cancelOf, switchOf } from './wish-options.ts'

import type { EventFeed } from './event-feed.ts'
import type { ResolvedRunServiceOptions } from './options.ts'
import type { RunStorage } from './ports/run-storage.ts'
import type { RunWish, SentSignal, SignalAnswer } from './ports/run-signals.ts'
import type { RunExecutor } from './run-executor.ts'
import type { ReviewRecord, RunRecord } from './run-record.ts'
import type { Ensemble, Wished } from '@tutti/ensemble'

/** What wishes go through. */
export interface WishesOptions {
  readonly storage: RunStorage
  readonly ensembles: ReadonlyMap<string, Ensemble>
  readonly executor: RunExecutor
  readonly feed: EventFeed
  readonly settings: ResolvedRunServiceOptions
}

/** What became of a wish. */
export type WishEnd =
  | { readonly kind: 'answered'; readonly value: unknown }
  /** Nobody executed the run; the wish was written to it. */
  | { readonly kind: 'at_rest'; readonly value: unknown }
  /** It is kept, and nobody has answered yet. */
  | { readonly kind: 'kept' }

/** How a wish is sent. */
export interface SendWish {
  /** How long to wait for the owner, in milliseconds. */
  readonly answerTimeoutMs: number
  /** The review that is decided. */
  readonly review?: ReviewRecord
}

type AtRest = Extract<SentSignal, { kind: 'at_rest' }>

/** How often an answer is looked for while no notice of it comes, in milliseconds. */
const LOOK_EVERY_MS = 1_000

/** Sends wishes. */
export class Wishes {
  readonly #options: WishesOptions
  /** Who waits for the answer to a signal. */
  readonly #waiting = new Map<string, () => void>()

  constructor(options: WishesOptions) {
    this.#options = options
  }

  /**
   * Sends a wish to its run.
   *
   * @throws {TuttiError} RUN_NOT_FOUND, RUN_COMPLETED, and what the owner refuses it with.
   */
  async send(runId: string, wish: RunWish, how: SendWish): Promise<WishEnd> {
    for (;;) {
      const sent = await this.#options.storage.signals.send(runId, wish)
      if (sent === undefined) throw new TuttiError('RUN_NOT_FOUND', `No run with ID ${runId}`)
      if (sent.kind === 'ended') throw hasEnded(sent.run)
      if (sent.kind === 'sent') return this.#answered(runId, wish, { ...how, ...sent })
      const value = await this.#writeAtRest(sent, wish, how)
      if (value !== undefined) return { kind: 'at_rest', value: value.value }
    }
  }

  /** Learns that a signal was answered. */
  hear(signalId: string): void {
    this.#waiting.get(signalId)?.()
  }

  /** Learns that answers may have come without notice. */
  hearAll(): void {
    for (const look of this.#waiting.values()) look()
  }

  async #answered(
    runId: string,
    wish: RunWish,
    { signalId, answerTimeoutMs }: { readonly signalId: string } & SendWish,
  ): Promise<WishEnd> {
    const { executor, storage, settings } = this.#options
    const { clock } = settings
    const until = clock.elapsed() + answerTimeoutMs
    const patience = new AbortController()
    const delivered = await Promise.race([
      executor.deliver({ id: signalId, runId, wish }),
      sleep(clock, answerTimeoutMs, patience.signal).then(() => undefined),
    ])
    patience.abort()
    const answer = delivered ?? (await this.#awaitAnswer(signalId, until))
    if (answer === undefined) return { kind: 'kept' }
    if (answer.ok) return { kind: 'answered', value: answer.value }
    const { code, message, retryable } = answer.error
    const run = code === 'RUN_COMPLETED' ? await storage.runs.get(runId) : undefined
    throw run === undefined ? new TuttiError(code, message, { retryable }) : hasEnded(run)
  }

  /** The answer to a signal; undefined when there is none in time. */
  async #awaitAnswer(signalId: string, until: number): Promise<SignalAnswer | undefined> {
    const { storage, settings } = this.#options
    const { clock } = settings
    try {
      for (;;) {
        const { promise: told, resolve: tell } = Promise.withResolvers<void>()
        this.#waiting.set(signalId, tell)
        const answer = await storage.signals.answer(signalId)
        const leftMs = until - clock.elapsed()
        if (answer !== undefined || leftMs <= 0) return answer
        const stopTimer = clock.after(Math.min(leftMs, LOOK_EVERY_MS), tell)
        await told
        stopTimer()
      }
    } finally {
      this.#waiting.delete(signalId)
    }
  }

  /** Writes a wish to a run that nobody has; undefined when somebody took the run meanwhile. */
  async #writeAtRest(
    { run, steps }: AtRest,
    wish: RunWish,
    { review }: SendWish,
  ): Promise<{ readonly value: unknown } | undefined> {
    const { storage, feed, executor, settings } = this.#options
    const wished = await this.#wishedOf({ kind: 'at_rest', run, steps }, wish, review)
    const goesOn = wish.kind === 'cancel' || wish.kind === 'decide'
    if (wished.events.length === 0) return { value: wished.value }
    const result = await storage.runs.commitAtRest({
      runId: run.runId,
      epoch: run.epoch,
      lastSeq: run.lastSeq,
      events: wished.events.map((event) => settings.redact(event)),
      steps: wished.steps,
      next: goesOn ? 'ready' : 'stay',
    })
    if (result.kind === 'fenced') return undefined
    if (result.kind !== 'written') throw TuttiError.from(result.error, 'STORE_UNAVAILABLE')
    tellActivity(settings, { kind: 'written_at_rest', runId: run.runId, events: result.events })
    feed.offer(run.runId, result.events)
    if (goesOn) executor.wake()
    return { value: wished.value }
  }

  async #wishedOf(
    { run, steps }: AtRest,
    wish: RunWish,
    review: ReviewRecord | undefined,
  ): Promise<Wished<unknown>> {
    const { ensembles, settings } = this.#options
    const template = ensembles.get(run.ensemble)
    if (template === undefined) return this.#withoutEnsemble(run, wish)
    const { models, profiles, clock } = settings
    const ensemble = rebuilt(template, run, { settings, wish })
    if (ensemble === undefined) return this.#withoutEnsemble(run, wish)
    const atRest = runAtRest(ensemble, {
      runId: run.runId,
      steps,
      clock,
      profiles,
      ...(models === undefined ? {} : { models }),
    })
    switch (wish.kind) {
      case 'cancel':
        return atRest.cancel(cancelOf(wish))
      case 'switch_model':
        return atRest.switchModel(wish.model, switchOf(wish))
      case 'inject':
        return atRest.inject(wish.directive)
      case 'decide': {
        if (review !== undefined) return atRest.decide(review.request, wish.decision)
        throw new TuttiError('REVIEW_NOT_FOUND', `No review has the id "${wish.reviewId}"`)
      }
    }
  }

  /** A run that cannot go on can still be cancelled. */
  #withoutEnsemble({ ensemble }: RunRecord, wish: RunWish): Wished<unknown> {
    if (wish.kind !== 'cancel') {
      throw new TuttiError('CONFIG_INVALID', `Ensemble "${ensemble}" is not registered any more`)
    }
    const { mode, actor } = wish
    const requestedAt = isoNow(this.#options.settings.clock)
    return {
      value: undefined,
      events: [{ type: 'run_cancelling', requestedAt, mode, ...field('actor', actor) }],
      steps: [{ kind: 'cancel_asked', mode, runMs: 0 }],
    }
  }
}

/** The ensemble of a run; undefined when it cannot be made any more and the run is to be cancelled. */
function rebuilt(
  template: Ensemble,
  { request = {} }: RunRecord,
  { settings, wish }: { readonly settings: ResolvedRunServiceOptions; readonly wish: RunWish },
): Ensemble | undefined {
  try {
    return ensembleOf(template, request, settings)
  } catch (error) {
    if (wish.kind === 'cancel') return undefined
    throw error
  }
}

function hasEnded(run: RunRecord): TuttiError {
  const { code, message } = runCompleted(run)
  return new TuttiError(code, message)
}
