/**
 * The reviews of a run. An open review waits for the first of: a decision through the handle of the run, the
 * answer of its reviewer, the end of its time, the end of its task.
 *
 * ENS-G1 A review emits review_requested when it opens, then exactly one of review_decided, review_timed_out
 *    and review_withdrawn.
 * ENS-G2 Each review has its own time limit and its own action on timeout; reviews wait concurrently.
 * ENS-G3 A decision is durable before it is confirmed and before the task continues; a second decision is
 *    rejected.
 * ENS-G4 An invalid decision is rejected, and the review stays open.
 * ENS-G5 The working time of a task stops while its review is open.
 * ENS-G6 A review that was open when the run was interrupted is the same review afterwards, with the time it
 *    has left; a decided one is not requested again, unless ENS-G15 or ENS-G16 demands it.
 * ENS-G7 When the run ends early, its open reviews are withdrawn and no new ones open.
 * ENS-G12 A decision that arrives before its review is open again waits for it; the decision that closed a
 *    review, sent again under its id, is accepted again.
 * ENS-G13 A decision with a field that it does not use is rejected and names the field: a reviewer who adds a text to
 *    CONTINUE means something else.
 * ENS-G15 A decision covers what the reviewer saw: the inputs of the run, the code and overrides of the task, and the
 *    question with its call or output. Their digest is recorded with the review, and the review is asked again wherever
 *    the digest differs.
 * ENS-G16 A fork reuses no decision of a person for work that it executes.
 * ENS-G17 An open review whose digest differs is withdrawn before it is asked again.
 * ENS-G18 A question is a review of the kind QUESTION. The text of its answer is the answer itself when the answer's
 *    schema has the type `string`; with another schema it is the JSON value of the text, or the text when the schema
 *    accepts only that.
 * ENS-G19 In a fork, a wait that an event or its time has ended in the copied part stays ended, and a wait gets the event
 *    again that the same wait of the parent got later, both only with the same digest.
 */
import { TuttiError, type Clock } from '@tutti/core'
import { errorMessage, isoNow } from '@tutti/core/internal'

import { toStepError, type StepLog } from '../scope/step-log.ts'
import { stoppedError } from '../work/stopped-error.ts'
import { computeBasis, isReusable } from './consent.ts'
import { EarlyDecisions } from './early-decisions.ts'
import { createReview, emitRequested } from './open-review.ts'
import { readDecision } from './read-decision.ts'
import {
  createDecidedEvent,
  toTimeoutDecision,
  exitEarlyError,
  findRecordedReview,
  isSameDecision,
  reviewNotFoundError,
  reviewResolvedError,
  toReviewOutcome,
  type ReviewOutcome,
} from './review-end.ts'
import { nameSlot } from './review-slots.ts'

import type {
  DeliveredEvent,
  OpenReview,
  ReviewAnswer,
  RunReviewer,
} from '../ports/run-reviewer.ts'
import type { StepOf } from '../ports/run-step.ts'
import type { RecordedReview } from '../scope/recorded-review.ts'
import type { ReviewQuestion } from './review-question.ts'
import type { TaskScope } from '../scope/task-scope.ts'
import type { InFlight } from '../work/in-flight.ts'
import type { RunEventOf } from '@tutti/protocol'
import type { ReviewVerdict } from '@tutti/protocol/internal'

interface WaitingReview {
  readonly review: OpenReview
  readonly question: ReviewQuestion
  readonly settle: (end: ReviewEnd) => void
  /** Resolves when the end of the review is durable. */
  readonly recorded: Promise<void>
  /** Aborts when the decision is no longer needed. */
  readonly signal: AbortSignal
}

interface ClosedReview {
  /** Id of the decision that closed the review. */
  readonly id?: string
  /** Resolves when the end of the review is durable. */
  readonly recorded: Promise<void>
}

type ReviewEnd =
  | { readonly kind: 'decided'; readonly decision: ReviewAnswer }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'withdrawn'; readonly reason: string }
  | { readonly kind: 'failed'; readonly error: TuttiError }

/** Parts of the run that reviews use. */
export interface ReviewsOptions {
  readonly clock: Clock
  /** Steps of an earlier process. */
  readonly log: StepLog
  readonly inFlight: InFlight
  /** Decides reviews; without one, they can be decided only through the handle of the run. */
  readonly reviewer: RunReviewer | undefined
  /** Whether reviews can be decided through the handle of the run. */
  readonly decidable: boolean
  /** Called synchronously with a decision that ends the run early. */
  readonly onExit: (exit: TuttiError) => void
}

/** The reviews of one run. */
export class Reviews {
  readonly #options: ReviewsOptions
  readonly #open = new Map<string, WaitingReview>()
  readonly #closed = new Map<string, ClosedReview>()
  readonly #early: EarlyDecisions
  /** Whether a reviewer has ended the run. */
  #exited = false
  /** Reason why no further task, round or wait may begin. */
  #cancelled: TuttiError | undefined
  #over = false

  constructor(options: ReviewsOptions) {
    this.#options = options
    this.#early = new EarlyDecisions(() => {
      options.inFlight.beginDecision()
    })
  }

  /** Whether the run has a way to decide reviews. */
  get hasReviewer(): boolean {
    return this.#options.reviewer !== undefined || this.#options.decidable
  }

  /** Whether external events can reach the run. A reviewer decides no event. */
  get canDeliver(): boolean {
    return this.#options.decidable
  }

  /** Open reviews, oldest first, with their remaining time. */
  get open(): readonly OpenReview[] {
    const now = this.#options.clock.now()
    // A resumed run opens the reviews of an earlier process again, in any order.
    return [...this.#open.values()]
      .toSorted((one, other) => one.review.openedAt - other.review.openedAt)
      .map(({ review }) => ({
        ...review,
        timeoutMs: Math.max(0, review.openedAt + review.timeoutMs - now),
      }))
  }

  /**
   * Decides a review; resolves when the decision is durable. If an earlier process left the review open,
   * waits until it is open again.
   *
   * @throws {TuttiError} REVIEW_NOT_FOUND; REVIEW_RESOLVED if another decision closed the review or it never
   * opens again; BAD_REQUEST if the decision is invalid, and the review stays open.
   */
  async decide(reviewId: string, verdict: ReviewVerdict): Promise<void> {
    const { inFlight } = this.#options
    if (this.#mayOpenAgain(reviewId)) await this.#early.untilOpen(reviewId)
    else inFlight.beginDecision()
    try {
      await this.#decideNow(reviewId, verdict)
    } finally {
      inFlight.endDecision()
    }
  }

  /** Delivers an external event; see `RunHandle.deliver`. */
  async deliver({
    name,
    key,
    data = null,
    id = crypto.randomUUID(),
  }: DeliveredEvent): Promise<boolean> {
    const wait = this.open.find(({ waitsFor = [] }) =>
      waitsFor.some((awaited) => awaited.name === name && awaited.key === key),
    )
    if (wait === undefined) return false
    await this.decide(wait.reviewId, { action: 'EDIT', input: data, id, event: { id, name } })
    return true
  }

  /** Rejects decisions for reviews that will not open again, because the run has ended. */
  close(): void {
    this.#over = true
    this.#early.rejectAll()
  }

  /** Withdraws all open reviews and prevents new ones, because the run ends early. */
  exitAll(): void {
    this.#exited = true
    for (const { settle } of this.#open.values()) settle({ kind: 'withdrawn', reason: ENDED_EARLY })
  }

  /** Reason why no further task, round or wait may begin; undefined if the run was not cancelled at a boundary. */
  get cancelled(): TuttiError | undefined {
    return this.#cancelled
  }

  /** Closes the reviews of tasks that have not begun and must not begin, and the waits. */
  closeAtBoundary(error: TuttiError): void {
    this.#cancelled = error
    for (const { question, settle } of this.#open.values()) {
      if (isAtBoundary(question)) settle({ kind: 'failed', error })
    }
  }

  /** Withdraws the reviews that an earlier process left open, when their attempt ends without them. */
  closeUnopened(scope: TaskScope): void {
    const { log, identity, signal } = scope
    if (!log.isKnown) return
    const closed = log.of('gate_closed').map(({ reviewId }) => reviewId)
    for (const { reviewId, attempt, slot } of log.of('gate_opened')) {
      if (attempt !== identity.attempt || closed.includes(reviewId)) continue
      const error = signal.aborted
        ? stoppedError(signal, nameSlot(slot))
        : new TuttiError(
            'INTERRUPTED',
            `${nameSlot(slot)} closed: the task ended before a decision`,
          )
      this.#withdrawRecorded(scope, reviewId, { reason: error.message, error: toStepError(error) })
    }
  }

  /**
   * Opens a review and waits for its end.
   *
   * @throws {TuttiError} the reason why the task was stopped, or the failure of the reviewer.
   */
  async ask(scope: TaskScope, question: ReviewQuestion): Promise<ReviewOutcome> {
    const { timing } = question
    const basis = computeBasis(scope, question)
    const known = findRecorded(scope, question)
    const { replay } = scope.run.log
    const earlier = known !== undefined && isReusable(known, basis, replay) ? known : undefined
    if (earlier?.closed !== undefined) return toReviewOutcome(earlier.closed)
    const openId = known?.closed === undefined ? known?.opened.reviewId : undefined
    if (this.#exited) return this.#endUnopened(scope, openId)
    if (earlier === undefined && openId !== undefined) {
      this.#withdrawRecorded(scope, openId, { reason: BASIS_CHANGED, withdrawn: true })
    }
    scope.assertLive('a review')
    if (timing === 'BEFORE_EXECUTION' && earlier === undefined && this.#cancelled !== undefined) {
      throw this.#cancelled
    }
    const review = createReview(scope, question, earlier?.opened)
    const resumeTime = scope.stopwatch.hold()
    let hasSlot = true
    let continues = false
    const recorded = Promise.withResolvers<void>()
    recorded.promise.catch(() => undefined)
    try {
      // Start to wait first: a listener of the event below can decide the review synchronously.
      const given = scope.run.log.findGivenEvent(scope.identity.taskName, {
        attempt: scope.identity.attempt,
        slot: question.slot,
        basis,
      })
      const waiting = { review, question, recorded: recorded.promise }
      const end = this.#wait(scope, waiting, given?.decision)
      if (earlier === undefined) emitRequested(scope, review, { slot: question.slot, basis })
      this.#askReviewer(review.reviewId)
      if (isReleasable(review) && this.#open.has(review.reviewId)) {
        hasSlot = false
        scope.slot.beginReview()
      }
      const outcome = await this.#conclude(scope, review, await end)
      recorded.resolve()
      continues = outcome.decision.action !== 'EXIT_EARLY'
      return timing === 'BEFORE_EXECUTION' ? this.#unlessStopped(scope, outcome) : outcome
    } catch (error) {
      recorded.reject(error)
      throw error
    } finally {
      if (!hasSlot) scope.slot.endReview()
      const taking = continues ? scope.slot.take() : undefined
      if (taking !== undefined) await this.#options.inFlight.pauseUntil(taking)
      resumeTime()
    }
  }

  /** Returns the decision before a task, unless the run was stopped while the decision became durable. */
  #unlessStopped({ signal }: TaskScope, outcome: ReviewOutcome): ReviewOutcome {
    if (signal.aborted) throw stoppedError(signal, 'Review')
    if (this.#cancelled !== undefined) throw this.#cancelled
    return this.#exited ? EXIT_EARLY : outcome
  }

  async #decideNow(reviewId: string, verdict: ReviewVerdict): Promise<void> {
    const waiting = this.#open.get(reviewId)
    if (waiting === undefined) return this.#decideAgain(reviewId, verdict)
    const { review, question } = waiting
    const decision = await readDecision(review, verdict, question.findTextProblem ?? findNoProblem)
    const open = this.#open.get(reviewId)
    if (open === undefined) return this.#decideAgain(reviewId, verdict)
    open.settle({ kind: 'decided', decision })
    return open.recorded
  }

  /** Accepts the decision that closed the review; rejects any other. */
  async #decideAgain(reviewId: string, verdict: ReviewVerdict): Promise<void> {
    const closed = this.#closed.get(reviewId)
    const earlier =
      closed === undefined ? findRecordedReview(this.#options.log, reviewId) : undefined
    if (closed === undefined && earlier === undefined) {
      throw reviewNotFoundError(reviewId, [...this.#open.keys()])
    }
    if (!isSameDecision(verdict, closed ?? earlier?.closed?.decision ?? {})) {
      throw reviewResolvedError(reviewId)
    }
    await closed?.recorded
  }

  /** Whether an earlier process left the review open and this one has not reached it yet. */
  #mayOpenAgain(reviewId: string): boolean {
    if (this.#over || this.#open.has(reviewId) || this.#closed.has(reviewId)) return false
    const recorded = findRecordedReview(this.#options.log, reviewId)
    return recorded !== undefined && recorded.closed === undefined
  }

  /** Ends a review without opening it, because the run ends early. */
  #endUnopened(scope: TaskScope, reviewId: string | undefined): ReviewOutcome {
    if (reviewId !== undefined) {
      this.#withdrawRecorded(scope, reviewId, { reason: ENDED_EARLY, withdrawn: true })
    }
    return EXIT_EARLY
  }

  /** Withdraws a review that an earlier process left open. */
  #withdrawRecorded(scope: TaskScope, reviewId: string, why: Withdrawal): void {
    if (this.#closed.has(reviewId)) return
    this.#closed.set(reviewId, { recorded: DONE })
    this.#early.reject(reviewId)
    withdraw(scope, reviewId, why)
  }

  #wait(
    scope: TaskScope,
    waiting: Pick<WaitingReview, 'review' | 'question' | 'recorded'>,
    given: ReviewAnswer | undefined,
  ): Promise<ReviewEnd> {
    const { review, question } = waiting
    const { clock } = this.#options
    const { signal = scope.signal } = question
    const noLongerNeeded = new AbortController()
    return new Promise((resolve) => {
      const endsAt = review.openedAt + review.timeoutMs
      const leftMs = endsAt - clock.now()
      // While the process lives, changes of the wall clock change nothing.
      const until = clock.elapsed() + leftMs
      const stopTimer =
        review.timeoutMs === Infinity
          ? undefined
          : clock.after(Math.max(0, leftMs), () => {
              settle({ kind: 'timed_out' })
            })
      const onAbort = (): void => {
        // The tool has its own timer for the same time limit, which may fire first.
        if (!scope.signal.aborted && clock.elapsed() >= until) settle({ kind: 'timed_out' })
        else settle({ kind: 'failed', error: stoppedError(signal, nameSlot(question.slot)) })
      }
      const endWaiting = this.#beginWaiting(review)
      const settle = (end: ReviewEnd): void => {
        if (!this.#open.delete(review.reviewId)) return
        this.#closed.set(review.reviewId, toClosedReview(end, waiting.recorded))
        endWaiting()
        stopTimer?.()
        signal.removeEventListener('abort', onAbort)
        resolve(end)
        noLongerNeeded.abort()
      }
      this.#open.set(review.reviewId, { ...waiting, settle, signal: noLongerNeeded.signal })
      this.#early.open(review.reviewId)
      const mayNotBegin = isAtBoundary(question) ? this.#cancelled : undefined
      if (mayNotBegin !== undefined) settle({ kind: 'failed', error: mayNotBegin })
      else if (signal.aborted) onAbort()
      else if (given !== undefined) settle({ kind: 'decided', decision: given })
      else if (leftMs <= 0) settle({ kind: 'timed_out' })
      else signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** Counts the review as waiting for a person; returns the function that ends this. */
  #beginWaiting(review: OpenReview): () => void {
    const { inFlight } = this.#options
    if (isReleasable(review)) {
      inFlight.toReview()
      return () => {
        inFlight.fromReview()
      }
    }
    const { taskName, attempt, approval } = review
    const call = `${taskName}/${attempt}/${approval?.callId}`
    inFlight.beginAsking(call)
    return () => {
      inFlight.endAsking(call)
    }
  }

  /**
   * Asks the reviewer. If it fails or decides invalidly, the task fails: no answer never counts as approval.
   */
  #askReviewer(reviewId: string): void {
    const { reviewer } = this.#options
    const open = this.#open.get(reviewId)
    // No person and no code decides an EVENT.
    if (reviewer === undefined || open === undefined || open.review.kind === 'EVENT') return
    const { review, signal } = open
    const answer = async (): Promise<void> => {
      await this.decide(reviewId, await reviewer.decide(review, signal))
    }
    answer().catch((error: unknown) => {
      const message = `The reviewer of task "${review.taskName}" failed: ${errorMessage(error)}`
      const failure = new TuttiError('TASK_FAILED', message, { cause: error })
      this.#open.get(reviewId)?.settle({ kind: 'failed', error: failure })
    })
  }

  async #conclude(scope: TaskScope, review: OpenReview, end: ReviewEnd): Promise<ReviewOutcome> {
    const { reviewId } = review
    switch (end.kind) {
      case 'decided': {
        const { decision } = end
        const outcome = { decision, timedOut: false }
        await this.#record(scope, createDecidedEvent(scope.run.clock, reviewId, decision), outcome)
        return outcome
      }
      case 'timed_out': {
        const outcome = { decision: toTimeoutDecision(review), timedOut: true }
        const { onTimeout: action } = review
        await this.#record(scope, { type: 'review_timed_out', reviewId, action }, outcome)
        return outcome
      }
      case 'withdrawn':
        withdraw(scope, reviewId, { reason: end.reason, withdrawn: true })
        return EXIT_EARLY
      case 'failed':
        withdraw(scope, reviewId, { reason: end.error.message, error: toStepError(end.error) })
        throw end.error
    }
  }

  /**
   * Records the outcome of a review. An early exit takes effect at once, so that nothing starts while it is
   * recorded.
   */
  async #record(
    scope: TaskScope,
    event: RunEventOf<'review_decided' | 'review_timed_out'>,
    outcome: ReviewOutcome,
  ): Promise<void> {
    const { reviewId } = event
    const recorded = scope.commit({ kind: 'gate_closed', reviewId, ...outcome }, event)
    if (outcome.decision.action === 'EXIT_EARLY') {
      this.#options.onExit(exitEarlyError(scope.identity.taskName, outcome.timedOut))
    }
    await recorded
  }
}

/** Whether the run can be released while it waits. The body of a call that must not be repeated counts as working. */
function isReleasable({ approval }: OpenReview): boolean {
  return approval === undefined || approval.hasBegun === false || approval.isRepeatable === true
}

/** Whether a cancel in mode `boundary` ends the review: a task waits to begin, or for an event or a time. */
function isAtBoundary({ timing, waitsFor }: ReviewQuestion): boolean {
  return timing === 'BEFORE_EXECUTION' || waitsFor !== undefined
}

const ENDED_EARLY = 'The run ended early'

const BASIS_CHANGED = 'The inputs, the code, the overrides or the question changed'

const EXIT_EARLY: ReviewOutcome = { decision: { action: 'EXIT_EARLY' }, timedOut: false }

const DONE = Promise.resolve()

/** Returns the review that was recorded for the question: in this run, or in the one that it replays with live models. */
function findRecorded(
  { run: { log }, log: taskLog, identity: { taskName, attempt } }: TaskScope,
  { timing, slot }: ReviewQuestion,
): RecordedReview | undefined {
  // A fork can ask again before a later attempt.
  const own = taskLog.findReview(slot, timing === 'BEFORE_EXECUTION' ? undefined : attempt)
  if (own !== undefined || log.replay !== 'models') return own
  return log.record.findReview({ taskName, attempt, slot })
}

function toClosedReview(end: ReviewEnd, recorded: Promise<void>): ClosedReview {
  const id = end.kind === 'decided' ? end.decision.id : undefined
  return id === undefined ? { recorded } : { id, recorded }
}

type Withdrawal = { readonly reason: string } & Pick<StepOf<'gate_closed'>, 'withdrawn' | 'error'>

function withdraw(scope: TaskScope, reviewId: string, { reason, ...why }: Withdrawal): void {
  const withdrawnAt = isoNow(scope.run.clock)
  scope.emit(
    { type: 'review_withdrawn', reviewId, reason, withdrawnAt },
    { kind: 'gate_closed', reviewId, ...EXIT_EARLY, ...why },
  )
}

function findNoProblem(): Promise<undefined> {
  return Promise.resolve(undefined)
}
