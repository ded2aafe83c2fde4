/**
 * The open gates of a run. A gate waits for the first of: a decision through the handle of the run, the
 * answer of its reviewer, the end of its time, the end of its task.
 *
 * G1 review_requested when it opens; then exactly one of review_decided, review_timed_out and
 *    review_withdrawn.
 * G2 Each gate has its own time and its own action when it is over; gates wait at the same time.
 * G3 A decision is durable before it is answered and before the task goes on; the second decision is
 *    refused.
 * G4 A decision that does not fit is refused, and the gate stays open.
 * G5 The working time of the task stands still while its gate is open.
 * G6 A gate that was open when the run was cut off is the same gate afterwards, with the time it has left;
 *    one that was decided is not asked again.
 * G7 When the run is ended early, the gates that are still open close, and no other opens.
 * G12 A decision that comes before its gate is open again waits for it; the decision that closed a gate,
 *     sent again under its id, is taken as the same.
 */
import { errorMessage, isoNow, TuttiError, type ApprovalRequest, type Clock } from '@tutti/core'

import { toStepError, type StepLog } from '../scope/step-log.ts'
import { DEFAULT_REVIEW_TIMEOUT_MS, type ReviewSettings } from '../definition/review-settings.ts'
import { exitEarlyError } from './refusal.ts'
import { stoppedError } from '../work/stopped-error.ts'
import { EarlyDecisions } from './early-decisions.ts'
import { readDecision } from '../ports/run-reviewer.ts'
import {
  decidedEvent,
  decisionAfterTimeout,
  isSameDecision,
  knownGate,
  toReviewOutcome,
  reviewNotFound,
  reviewResolved,
} from './review-end.ts'

import type { StepOf } from '../ports/run-step.ts'
import type { InFlight } from '../work/in-flight.ts'
import type { TaskScope } from '../scope/task-scope.ts'
import type { ReviewVerdict, RunEventOf } from '@tutti/protocol'
import type {
  Gate,
  GateDecision,
  ReviewOutcome,
  GateTiming,
  RunReviewer,
} from '../ports/run-reviewer.ts'

/** What a task asks. */
export interface ReviewQuestion {
  readonly timing: GateTiming
  /** Tells the gates of one attempt apart, also after a restart. */
  readonly slot: string
  readonly taskDescription: string
  readonly taskOutput?: string
  readonly settings: ReviewSettings
  readonly approval?: ApprovalRequest
  /** Aborts when the answer is not needed any more. @default the signal of the task */
  readonly signal?: AbortSignal
  /** What is wrong with an edited output; undefined when it fits. */
  readonly checkText?: (text: string) => Promise<string | undefined>
}

interface Waiting {
  readonly gate: Gate
  readonly question: ReviewQuestion
  readonly settle: (end: ReviewEnd) => void
  /** Resolves when its end is durable. */
  readonly kept: Promise<void>
  /** Aborts when no decision is needed any more. */
  readonly signal: AbortSignal
}

/** A gate that was open and is not any more. */
interface Closed {
  /** Id of the decision that closed it. */
  readonly id?: string
  /** Resolves when its end is durable. */
  readonly kept: Promise<void>
}

type ReviewEnd =
  | { readonly kind: 'decided'; readonly decision: GateDecision }
  | { readonly kind: 'timed_out' }
  | { readonly kind: 'withdrawn'; readonly reason: string }
  | { readonly kind: 'failed'; readonly error: TuttiError }

/** What gates are made with. */
export interface ReviewsOptions {
  readonly clock: Clock
  /** What an earlier process knew. */
  readonly log: StepLog
  readonly inFlight: InFlight
  /** Decides gates by itself; without one, only the handle of the run does. */
  readonly reviewer: RunReviewer | undefined
  /** Whether reviews can also be decided through the handle of the run. */
  readonly decidable: boolean
  /** Told at once of a decision that ends the run early. */
  readonly onExit: (exit: TuttiError) => void
}

/** The gates of one run. */
export class Reviews {
  readonly #options: ReviewsOptions
  readonly #open = new Map<string, Waiting>()
  readonly #closed = new Map<string, Closed>()
  readonly #early: EarlyDecisions
  /** Whether a reviewer has ended the run. */
  #exited = false
  /** Why no task may begin any more. */
  #cancelled: TuttiError | undefined
  #over = false

  constructor(options: ReviewsOptions) {
    this.#options = options
    this.#early = new EarlyDecisions(() => {
      options.inFlight.beginDecision()
    })
  }

  /** Whether anything can decide a review. */
  get hasReviewer(): boolean {
    return this.#options.reviewer !== undefined || this.#options.decidable
  }

  /** The gates that wait, in the order in which they opened, with the time that is left. */
  get open(): readonly Gate[] {
    const now = this.#options.clock.now()
    return [...this.#open.values()].map(({ gate }) => ({
      ...gate,
      timeoutMs: Math.max(0, gate.openedAt + gate.timeoutMs - now),
    }))
  }

  /**
   * Decides a gate; resolves when the decision is durable. One that an earlier process had open, and this
   * one will open again, is waited for.
   *
   * @throws {TuttiError} REVIEW_NOT_FOUND, REVIEW_RESOLVED when it is closed by another decision or never
   * opens again, BAD_REQUEST when the decision does not fit; the gate stays open then.
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

  /** The run is over: no gate opens any more. */
  close(): void {
    this.#over = true
    this.#early.refuseAll()
  }

  /** Closes all gates because the run ends early, and opens no other. */
  exitAll(): void {
    this.#exited = true
    for (const { settle } of this.#open.values()) settle({ kind: 'withdrawn', reason: ENDED_EARLY })
  }

  /** Closes the gates of tasks that have not begun, and are not to begin. */
  closeBefore(error: TuttiError): void {
    this.#cancelled = error
    for (const { gate, settle } of this.#open.values()) {
      if (gate.timing === 'BEFORE_EXECUTION') settle({ kind: 'failed', error })
    }
  }

  /** Closes the gates of an attempt that an earlier process left open, and that it ends without. */
  closeUnasked(scope: TaskScope): void {
    const { log, identity, signal } = scope
    if (!log.isKnown) return
    const isOfAttempt = ({ attempt }: { readonly attempt: number }): boolean =>
      attempt === identity.attempt
    const closed = log.of('gate_closed').map(({ reviewId }) => reviewId)
    for (const { reviewId } of log.of('gate_opened').filter(isOfAttempt)) {
      if (closed.includes(reviewId) || this.#closed.has(reviewId)) continue
      const error = signal.aborted
        ? stoppedError(signal, 'Review')
        : new TuttiError('INTERRUPTED', 'The task ended without it')
      this.#closed.set(reviewId, { kept: DONE })
      this.#early.refuse(reviewId)
      withdraw(scope, reviewId, { reason: error.message, error: toStepError(error) })
    }
  }

  /**
   * Opens a gate and waits for its end.
   *
   * @throws {TuttiError} why the task was stopped, or that the reviewer could not be asked.
   */
  async ask(scope: TaskScope, question: ReviewQuestion): Promise<ReviewOutcome> {
    const before = findEarlier(scope, question.slot)
    if (before?.closed !== undefined) return toReviewOutcome(before.closed)
    if (this.#exited) return this.#askNobody(scope, before?.opened.reviewId)
    const { timing } = question
    if (timing === 'BEFORE_EXECUTION' && before === undefined && this.#cancelled !== undefined) {
      throw this.#cancelled
    }
    const gate = this.#gateOf(scope, question, before?.opened)
    const goOn = scope.stopwatch.hold()
    const kept = Promise.withResolvers<void>()
    kept.promise.catch(() => undefined)
    try {
      // Whoever is told of the gate can decide it at once.
      const end = this.#wait(scope, { gate, question, kept: kept.promise })
      if (before === undefined) this.#announce(scope, gate, question.slot)
      this.#askReviewer(gate.reviewId)
      const outcome = await this.#conclude(scope, gate, await end)
      kept.resolve()
      return gate.timing === 'BEFORE_EXECUTION' ? this.#unlessStopped(scope, outcome) : outcome
    } catch (error) {
      kept.reject(error)
      throw error
    } finally {
      goOn()
    }
  }

  /** What was decided before a task, unless the run was stopped while that became durable. */
  #unlessStopped({ signal }: TaskScope, outcome: ReviewOutcome): ReviewOutcome {
    if (signal.aborted) throw stoppedError(signal, 'Review')
    if (this.#cancelled !== undefined) throw this.#cancelled
    return this.#exited ? { decision: { action: 'EXIT_EARLY' }, timedOut: false } : outcome
  }

  async #decideNow(reviewId: string, verdict: ReviewVerdict): Promise<void> {
    const asked = this.#open.get(reviewId)
    if (asked === undefined) return this.#decideAgain(reviewId, verdict)
    const { gate, question } = asked
    const decision = await readDecision(gate, verdict, question.checkText ?? fits)
    const open = this.#open.get(reviewId)
    if (open === undefined) return this.#decideAgain(reviewId, verdict)
    open.settle({ kind: 'decided', decision })
    return open.kept
  }

  /** Takes the decision that closed the gate; any other comes too late. */
  async #decideAgain(reviewId: string, verdict: ReviewVerdict): Promise<void> {
    const closed = this.#closed.get(reviewId)
    const earlier = closed === undefined ? knownGate(this.#options.log, reviewId) : undefined
    if (closed === undefined && earlier === undefined) {
      throw reviewNotFound(reviewId, [...this.#open.keys()])
    }
    if (!isSameDecision(verdict, closed ?? earlier?.closed?.decision ?? {})) {
      throw reviewResolved(reviewId)
    }
    await closed?.kept
  }

  /** Whether an earlier process had the gate open, and this one has not come to it. */
  #mayOpenAgain(reviewId: string): boolean {
    if (this.#over || this.#open.has(reviewId) || this.#closed.has(reviewId)) return false
    const known = knownGate(this.#options.log, reviewId)
    return known !== undefined && known.closed === undefined
  }

  /** The run was ended early: a gate that an earlier process left open closes without being asked. */
  #askNobody(scope: TaskScope, reviewId: string | undefined): ReviewOutcome {
    if (reviewId !== undefined && !this.#closed.has(reviewId)) {
      this.#closed.set(reviewId, { kept: DONE })
      this.#early.refuse(reviewId)
      withdraw(scope, reviewId, { reason: ENDED_EARLY, withdrawn: true })
    }
    return { decision: { action: 'EXIT_EARLY' }, timedOut: false }
  }

  #gateOf(
    { run, task, identity }: TaskScope,
    { timing, settings, taskDescription, taskOutput = '', approval }: ReviewQuestion,
    opened: { readonly reviewId: string; readonly openedAt: number } | undefined,
  ): Gate {
    const merged = { ...run.ensemble.review, ...settings }
    const { prompt, requiredRole, onTimeout = 'EXIT_EARLY' } = merged
    const { taskName, taskIndex, attempt } = identity
    return {
      reviewId: opened?.reviewId ?? `review-${crypto.randomUUID()}`,
      runId: run.runId,
      timing,
      taskName,
      taskIndex,
      attempt,
      agentRole: task.agent.role,
      taskDescription,
      taskOutput,
      ...(prompt === undefined ? {} : { prompt }),
      timeoutMs: merged.timeoutMs ?? DEFAULT_REVIEW_TIMEOUT_MS,
      onTimeout,
      ...(requiredRole === undefined ? {} : { requiredRole }),
      openedAt: opened?.openedAt ?? run.clock.now(),
      ...(approval === undefined ? {} : { approval }),
    }
  }

  #announce(scope: TaskScope, gate: Gate, slot: string): void {
    const { reviewId, timing, taskName, taskIndex, attempt, agentRole, approval } = gate
    scope.emit(
      {
        type: 'review_requested',
        reviewId,
        taskDescription: gate.taskDescription,
        taskOutput: gate.taskOutput,
        timing,
        prompt: gate.prompt ?? null,
        timeoutMs: gate.timeoutMs === Infinity ? 0 : gate.timeoutMs,
        onTimeout: gate.onTimeout,
        ...(gate.requiredRole === undefined ? {} : { requiredRole: gate.requiredRole }),
        taskName,
        taskIndex,
        attempt,
        agentRole,
        requestedAt: new Date(gate.openedAt).toISOString(),
        ...(approval === undefined
          ? {}
          : {
              toolName: approval.toolName,
              toolCallId: approval.callId,
              toolInput: approval.input,
            }),
      },
      {
        kind: 'gate_opened',
        reviewId,
        timing,
        slot,
        openedAt: gate.openedAt,
        ...(approval?.asksForAnswer === true ? { answerSchema: approval.inputSchema } : {}),
      },
    )
  }

  #wait(scope: TaskScope, asked: Pick<Waiting, 'gate' | 'question' | 'kept'>): Promise<ReviewEnd> {
    const { gate, question } = asked
    const { clock, inFlight } = this.#options
    const { signal = scope.signal } = question
    const noLongerNeeded = new AbortController()
    const { approval } = gate
    // The body of a call that must not be repeated is at work all the time.
    const rests =
      approval === undefined || approval.hasBegun === false || approval.isRepeatable === true
    const { taskName, attempt } = gate
    const call = `${taskName}/${attempt}/${approval?.callId}`
    return new Promise((resolve) => {
      const leftMs = gate.openedAt + gate.timeoutMs - clock.now()
      const stopTimer =
        gate.timeoutMs === Infinity
          ? undefined
          : clock.after(Math.max(0, leftMs), () => {
              settle({ kind: 'timed_out' })
            })
      const onAbort = (): void => {
        // A tool that asks keeps time too, and may be the first to see that it is over.
        const isOver = !scope.signal.aborted && clock.now() >= gate.openedAt + gate.timeoutMs
        if (isOver) settle({ kind: 'timed_out' })
        else settle({ kind: 'failed', error: stoppedError(signal, 'Review') })
      }
      const settle = (end: ReviewEnd): void => {
        if (!this.#open.delete(gate.reviewId)) return
        this.#closed.set(gate.reviewId, closedBy(end, asked.kept))
        if (rests) inFlight.fromGate()
        else inFlight.endAsking(call)
        stopTimer?.()
        signal.removeEventListener('abort', onAbort)
        resolve(end)
        noLongerNeeded.abort()
      }
      this.#open.set(gate.reviewId, { ...asked, settle, signal: noLongerNeeded.signal })
      this.#early.open(gate.reviewId)
      if (rests) inFlight.toGate()
      else inFlight.beginAsking(call)
      const mayNotBegin = gate.timing === 'BEFORE_EXECUTION' ? this.#cancelled : undefined
      if (mayNotBegin !== undefined) settle({ kind: 'failed', error: mayNotBegin })
      else if (signal.aborted) onAbort()
      else if (leftMs <= 0) settle({ kind: 'timed_out' })
      else signal.addEventListener('abort', onAbort, { once: true })
    })
  }

  /** A reviewer that fails, or decides what does not fit, fails the task: silence is never a yes. */
  #askReviewer(reviewId: string): void {
    const { reviewer } = this.#options
    const open = this.#open.get(reviewId)
    if (reviewer === undefined || open === undefined) return
    const { gate, signal } = open
    const answer = async (): Promise<void> => {
      await this.decide(reviewId, await reviewer.decide(gate, signal))
    }
    answer().catch((error: unknown) => {
      const message = `The reviewer of task "${gate.taskName}" could not be asked: ${errorMessage(error)}`
      const failure = new TuttiError('TASK_FAILED', message, { cause: error })
      this.#open.get(reviewId)?.settle({ kind: 'failed', error: failure })
    })
  }

  async #conclude(scope: TaskScope, gate: Gate, end: ReviewEnd): Promise<ReviewOutcome> {
    const { reviewId } = gate
    switch (end.kind) {
      case 'decided': {
        const { decision } = end
        const outcome = { decision, timedOut: false }
        await this.#close(scope, decidedEvent(scope.run.clock, reviewId, decision), outcome)
        return outcome
      }
      case 'timed_out': {
        const outcome = { decision: decisionAfterTimeout(gate), timedOut: true }
        const { onTimeout: action } = gate
        await this.#close(scope, { type: 'review_timed_out', reviewId, action }, outcome)
        return outcome
      }
      case 'withdrawn':
        withdraw(scope, reviewId, { reason: end.reason, withdrawn: true })
        return { decision: { action: 'EXIT_EARLY' }, timedOut: false }
      case 'failed':
        withdraw(scope, reviewId, { reason: end.error.message, error: toStepError(end.error) })
        throw end.error
    }
  }

  /** Keeps what came of a gate; one that ends the run early lets nothing start while it is kept. */
  async #close(
    scope: TaskScope,
    event: RunEventOf<'review_decided' | 'review_timed_out'>,
    outcome: ReviewOutcome,
  ): Promise<void> {
    const { reviewId } = event
    const kept = scope.commit({ kind: 'gate_closed', reviewId, ...outcome }, event)
    if (outcome.decision.action === 'EXIT_EARLY') {
      this.#options.onExit(exitEarlyError(scope.identity.taskName, outcome.timedOut))
    }
    await kept
  }
}

const ENDED_EARLY = 'The run was ended early'

const DONE = Promise.resolve()

function closedBy(end: ReviewEnd, kept: Promise<void>): Closed {
  const id = end.kind === 'decided' ? end.decision.id : undefined
  return id === undefined ? { kept } : { id, kept }
}

function withdraw(
  scope: TaskScope,
  reviewId: string,
  {
    reason,
    ...why
  }: { readonly reason: string } & Pick<StepOf<'gate_closed'>, 'withdrawn' | 'error'>,
): void {
  const withdrawnAt = isoNow(scope.run.clock)
  scope.emit(
    { type: 'review_withdrawn', reviewId, reason, withdrawnAt },
    {
      kind: 'gate_closed',
      reviewId,
      decision: { action: 'EXIT_EARLY' },
      timedOut: false,
      ...why,
    },
  )
}

/** Returns what an earlier process recorded of this review. */
function findEarlier(
  scope: TaskScope,
  slot: string,
): { readonly opened: StepOf<'gate_opened'>; readonly closed?: StepOf<'gate_closed'> } | undefined {
  const opened = scope.replay('gate_opened', (step) => step.slot === slot)
  if (opened === undefined) return undefined
  const closed = scope.replay('gate_closed', ({ reviewId }) => reviewId === opened.reviewId)
  return closed === undefined ? { opened } : { opened, closed }
}

function fits(): Promise<undefined> {
  return Promise.resolve(undefined)
}
