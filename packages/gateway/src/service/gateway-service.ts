/**
 * Runs as tasks of other protocols.
 *
 *   foreign request ─▶ begin · continue · cancel ─▶ run ─▶ events ─▶ foreign events
 *
 * A protocol only translates: it reads its requests into the requests below, and folds the events of a run into its
 * own. Scopes, audit entries, budgets, deadlines and retries are the same for every protocol.
 *
 * GW-G1 A task is a run with the same id. A caller finds the runs of the ensembles that are shared at the address.
 * GW-G2 `begin` is idempotent for an idempotency key of the same caller.
 * GW-G3 A message to a task decides a review if one is open, and otherwise guides the agents.
 * GW-G4 The process that received a deadline or the limits of a caller enforces them until it stops: the run may then
 *    continue in another process without them. A budget is part of the run and always enforced.
 * GW-G8 The deadline of a caller does not run while the run waits only for decisions of people. A later request to the
 *    run that has a deadline replaces the one before.
 */
import { TuttiError } from '@tutti/core'
import { sleep, type TraceContext } from '@tutti/core/internal'
import { isTerminalRunStatus, type ReviewDecisionBody, type SubmitRunBody } from '@tutti/protocol'
import {
  CALLER_REVIEW_KINDS,
  type CancelCause,
  type ClientToolBody,
  type HistoryMessage,
  addEventUsage,
  NO_RUN_USAGE,
} from '@tutti/protocol/internal'

import { actorOf, type Caller } from '../caller.ts'
import { cancelRun, cancelUnlessOver } from '../runs/cancel-run.ts'
import { decideReview } from '../runs/decide-review.ts'
import { assertMayRead, cancelScope, findDecisionScope } from '../runs/run-rights.ts'
import { submitAndFollowAs, submitRunAs, type SubmissionOptions } from '../runs/submit-run.ts'
import { waitForEnd } from '../runs/wait-for-end.ts'
import {
  toRunBudget,
  describeExceededLimit,
  type RunLimits,
  type UsageLimits,
} from './caller-limits.ts'
import { RemainingTime, exceedsWorkingTime } from './working-time.ts'

import type { GatewayOptions } from '../gateway-options.ts'
import { auditedCall, type GatewayAction, type GatewayCall } from './gateway-call.ts'
import type { Ensemble, Inputs } from '@tutti/ensemble'
import type { RunService } from '@tutti/runs'
import type { ReviewRecord, RunRecord } from '@tutti/runs/adapter'
import type { RunWithEvents } from '@tutti/runs/internal'
import type { TagMap } from '@tutti/protocol/internal'

/** A task to begin. */
export interface BeginRequest extends Pick<
  SubmissionOptions,
  'idempotencyKey' | 'memo' | 'origin' | 'cacheKey'
> {
  readonly ensemble: Pick<Ensemble, 'name'>
  readonly inputs: Inputs
  /** Tasks that replace those of the ensemble. */
  readonly tasks?: SubmitRunBody['tasks']
  /** Changes to the tasks of the ensemble, by name. */
  readonly taskOverrides?: SubmitRunBody['taskOverrides']
  /** Messages of the conversation before the run, oldest first. */
  readonly history?: readonly HistoryMessage[]
  /** Tools that the caller executes. */
  readonly clientTools?: readonly ClientToolBody[]
  readonly tags?: Readonly<TagMap>
  /** Thread whose next run the task becomes; it has the earlier messages in place of `history`. @default none */
  readonly threadId?: string | undefined
  /** Id that the caller chose for the task. @default a random one */
  readonly runId?: string | undefined
  readonly trace?: TraceContext | undefined
  /** Limits of the task; the deadline counts from this request, without the time that the run waits for people. */
  readonly limits?: UsageLimits
  /** Maximum age of an earlier result under the same `cacheKey`, in milliseconds. @default no earlier result is used */
  readonly maxAgeMs?: number | undefined
}

/** A message to a task that has begun. */
export interface TaskMessage {
  /** Review that the message decides. @default the oldest open one */
  readonly reviewId?: string | undefined
  /** Reads the message as the decision of a review. */
  decide(review: ReviewRecord['request']): ReviewDecisionBody
  /** Reads the message as guidance for the agents. */
  guide(): string
}

/** Maximum number of runs under a cache key that are considered for an earlier result. */
const CACHED_RUNS = 10

/** Delay before a failed operation is retried, in milliseconds. */
const RETRY_MS = 1_000

/** Begins, continues and cancels tasks. */
export class GatewayService {
  readonly options: GatewayOptions
  /** Run id → the controller that ends the deadline of its last request, of every protocol. */
  readonly #deadlines: Map<string, AbortController>

  constructor(options: GatewayOptions) {
    this.options = options
    this.#deadlines = deadlinesOf(options.runs)
  }

  /**
   * Begins a task. `read` translates the foreign request; what it throws is recorded as a refusal.
   *
   * @throws {TuttiError} FORBIDDEN, and as `RunService.submit`.
   */
  async begin(call: GatewayCall, read: () => BeginRequest): Promise<RunRecord> {
    const { run } = await this.#begin(call, read, async (submission) => ({
      run: await submitRunAs(this.options, ...submission),
      events: undefined,
    }))
    return run
  }

  /**
   * Begins a task and follows it. Without events, the run is an earlier one. The caller must close the events.
   *
   * @throws {TuttiError} as `begin`.
   */
  beginAndFollow(call: GatewayCall, read: () => BeginRequest): Promise<RunWithEvents> {
    return this.#begin(call, read, (submission) => submitAndFollowAs(this.options, ...submission))
  }

  #begin(
    call: GatewayCall,
    read: () => BeginRequest,
    submit: (submission: Submission) => Promise<RunWithEvents>,
  ): Promise<RunWithEvents> {
    return call.perform({ name: 'submitRun', scope: 'runs:write' }, async (addSubject) => {
      const request = read()
      const { caller } = call
      const cached = await this.#cached(request)
      const begun =
        cached === undefined
          ? await submit(toSubmission(request, caller))
          : { run: cached, events: undefined }
      const { run } = begun
      addSubject({ runId: run.runId })
      const { deadline_ms: deadlineMs } = request.limits ?? {}
      if (deadlineMs !== undefined) this.enforceDeadline(run, deadlineMs, caller)
      return begun
    })
  }

  async #cached({ cacheKey, maxAgeMs }: BeginRequest): Promise<RunRecord | undefined> {
    if (cacheKey === undefined || maxAgeMs === undefined) return undefined
    const { runs } = this.options
    const page = await runs.list({
      statuses: ['COMPLETED'],
      cacheKey,
      limit: CACHED_RUNS,
      offset: 0,
    })
    const oldest = runs.clock.now() - maxAgeMs
    const found = page.runs.find(({ completedAt = -Infinity }) => completedAt >= oldest)
    return found === undefined ? undefined : runs.record(found.runId)
  }

  /**
   * Finds the run of a task of one of these ensembles for a caller that will see it.
   *
   * @throws {TuttiError} FORBIDDEN when the caller may not read it.
   */
  async find(
    runId: string,
    ensembles: readonly Pick<Ensemble, 'name'>[],
    caller: Caller,
  ): Promise<RunRecord | undefined> {
    const run = await this.locate(runId, ensembles)
    if (run !== undefined) assertMayRead(caller, run)
    return run
  }

  /** Finds the run of a task that is acted on; the caller may not see more than its status. */
  async locate(
    runId: string,
    ensembles: readonly Pick<Ensemble, 'name'>[],
  ): Promise<RunRecord | undefined> {
    const run = await this.options.runs.record(runId)
    return ensembles.some(({ name }) => name === run?.ensemble) ? run : undefined
  }

  /**
   * Processes a message to a task; resolves when its effect is durable.
   *
   * @throws {TuttiError} REVIEW_NOT_FOUND for a review of another task, FORBIDDEN, and as `RunService.send`.
   */
  async continue(
    call: GatewayCall,
    { runId, status }: Pick<RunRecord, 'runId' | 'status'>,
    message: TaskMessage,
  ): Promise<void> {
    const { runs } = this.options
    const review = isTerminalRunStatus(status)
      ? await this.#namedReview(runId, message.reviewId)
      : ((await this.#namedReview(runId, message.reviewId)) ??
        (await runs.reviews.open({ runId, kinds: CALLER_REVIEW_KINDS }))[0])
    if (review === undefined) {
      await call.perform({ name: 'injectDirective', scope: 'runs:control', runId }, () => {
        const directive = { content: message.guide(), ...actorOf(call.caller) }
        return runs.send(runId, { kind: 'inject', directive })
      })
      return
    }
    await this.decide(call, review.reviewId, () => message.decide(review.request))
  }

  async #namedReview(
    runId: string,
    reviewId: string | undefined,
  ): Promise<ReviewRecord | undefined> {
    if (reviewId === undefined) return undefined
    const review = await this.options.runs.reviews.get(reviewId)
    if (review?.runId === runId) return review
    throw new TuttiError(
      'REVIEW_NOT_FOUND',
      `Task "${runId}" has no review with the id "${reviewId}"`,
    )
  }

  /**
   * Decides a review; resolves when the decision is durable.
   *
   * @throws {TuttiError} FORBIDDEN, and as `RunService.send`.
   */
  async decide(call: GatewayCall, reviewId: string, read: () => ReviewDecisionBody): Promise<void> {
    const scope = await findDecisionScope(this.options.runs, reviewId, call.caller)
    const action = { name: 'decideReview', scope, target: reviewId } as const
    await call.perform(action, (addSubject) =>
      decideReview(this.options.runs, reviewId, { ...read(), caller: call.caller, addSubject }),
    )
  }

  /**
   * Cancels a task; resolves when its work has stopped, or after `waitMs`.
   *
   * @throws {TuttiError} FORBIDDEN, and RUN_COMPLETED for a task that has ended.
   */
  async cancel(
    call: GatewayCall,
    run: RunRecord,
    { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
  ): Promise<void> {
    const { runs } = this.options
    const { runId } = run
    await call.perform({ name: 'cancelRun', scope: 'runs:control', runId }, () =>
      cancelRun(runs, runId, { mode: 'abort', cause: 'CALLER', caller: call.caller }),
    )
    await waitForEnd(this.options, run, { timeoutMs: waitMs, signal })
  }

  /**
   * Cancels the run of a client that has disconnected, and retries while that can help. An explicit cancel always
   * applies. A lost connection does not while the server drains, because the server itself closes connections then. The
   * run of another caller requires `runs:control`.
   */
  async cancelAbandoned(
    call: GatewayCall,
    runId: string,
    { isExplicit }: { readonly isExplicit: boolean },
  ): Promise<void> {
    const { runs } = this.options
    const isNeeded = (): boolean => isExplicit || runs.status.state !== 'DRAINING'
    if (!isNeeded()) return
    await this.#retrying({ runId, what: 'cancel an abandoned run', isNeeded }, async () => {
      const { caller } = call
      const run = await runs.record(runId)
      if (run === undefined) return
      const cause = isExplicit ? 'CALLER' : 'CLIENT_LEFT'
      const scope = cancelScope(caller, run)
      const action: GatewayAction = {
        name: 'cancelRun',
        scope,
        runId,
        ...(isExplicit ? {} : { cause }),
      }
      await call.perform(action, () =>
        cancelUnlessOver(runs, runId, { mode: 'abort', cause, caller }),
      )
    })
  }

  /** Cancels a run after `delayMs`, unless it has ended: its caller has left. */
  cancelAfter(run: RunRecord, delayMs: number, caller: Caller): void {
    const { clock } = this.options
    const { runId } = run
    const until = clock.elapsed() + delayMs
    void this.#retrying({ runId, what: 'cancel an abandoned run' }, async () => {
      const timeoutMs = Math.max(0, until - clock.elapsed())
      if (await waitForEnd(this.options, run, { timeoutMs })) return
      await this.#cancelFor('CLIENT_LEFT', runId, caller)
    })
  }

  /**
   * Cancels a run that works longer than `timeMs` from now, unless it has ended (GW-G8). Replaces the deadline of an
   * earlier request.
   */
  enforceDeadline({ runId, status }: RunRecord, timeMs: number, caller: Caller): void {
    if (isTerminalRunStatus(status)) return
    this.#deadlines.get(runId)?.abort()
    const own = new AbortController()
    this.#deadlines.set(runId, own)
    const { runs, clock } = this.options
    const { signal } = own
    const countdown = new RemainingTime(clock, timeMs)
    const isNeeded = (): boolean => !signal.aborted && runs.status.state !== 'DRAINING'
    const what = 'cancel a run at its deadline'
    void this.#retrying({ runId, what, isNeeded }, async () => {
      if (!(await exceedsWorkingTime({ runs, clock, runId, countdown, signal }))) return
      await this.#cancelFor('DEADLINE', runId, caller)
    }).finally(() => {
      if (this.#deadlines.get(runId) === own) this.#deadlines.delete(runId)
    })
  }

  /** Cancels a run as soon as it exceeds the limits; resolves when it has ended. */
  async enforceLimits(run: RunRecord, limits: RunLimits, caller: Caller): Promise<void> {
    const { deadlineAt, ...budget } = limits
    if (deadlineAt !== Infinity) {
      this.enforceDeadline(run, deadlineAt - this.options.clock.now(), caller)
    }
    if (budget.maxCostUsd === Infinity && budget.maxTokens === Infinity) return
    const { runs } = this.options
    const { runId } = run
    await this.#retrying({ runId, what: 'enforce the limits of a caller' }, async () => {
      let usage = NO_RUN_USAGE
      for await (const events of runs.follow({ runId, from: 0 })) {
        for (const event of events) usage = addEventUsage(usage, event)
        if (describeExceededLimit(budget, usage) === undefined) continue
        await this.#cancelFor('LIMIT', runId, caller)
        return
      }
    })
  }

  /** Cancels a run for a reason other than a request, and records it in the audit trail. */
  async #cancelFor(cause: CancelCause, runId: string, caller: Caller): Promise<void> {
    const call = auditedCall(this.options, caller)
    await call.perform({ name: 'cancelRun', scope: null, runId, cause }, () =>
      cancelUnlessOver(this.options.runs, runId, { mode: 'abort', cause, caller }),
    )
  }

  /** Performs `work` until it succeeds or a retry cannot help. Never rejects. */
  async #retrying(
    { runId, what, isNeeded = () => this.options.runs.status.state !== 'DRAINING' }: Retried,
    work: () => Promise<unknown>,
  ): Promise<void> {
    const { clock, logger } = this.options
    for (;;) {
      try {
        await work()
        return
      } catch (error) {
        const canRetry = TuttiError.isInstance(error) && error.retryable && isNeeded()
        logger.warn(`Failed to ${what}`, { runId, canRetry, error })
        if (!canRetry) return
        await sleep(clock, RETRY_MS)
      }
    }
  }
}

const deadlines = new WeakMap<RunService, Map<string, AbortController>>()

function deadlinesOf(runs: RunService): Map<string, AbortController> {
  const known = deadlines.get(runs) ?? new Map<string, AbortController>()
  deadlines.set(runs, known)
  return known
}

/** Body of a submission, and its other fields. */
type Submission = readonly [body: SubmitRunBody, submission: SubmissionOptions]

function toSubmission(request: BeginRequest, caller: Caller): Submission {
  const {
    ensemble,
    inputs,
    tasks,
    taskOverrides,
    history,
    clientTools = [],
    tags,
    threadId,
    runId,
    trace,
    limits = {},
    maxAgeMs: _,
    ...more
  } = request
  const body = {
    ensemble: ensemble.name,
    inputs: { ...inputs },
    ...(tasks === undefined ? {} : { tasks }),
    ...(taskOverrides === undefined ? {} : { taskOverrides }),
    ...(history === undefined || history.length === 0 ? {} : { history: [...history] }),
    ...(clientTools.length === 0 ? {} : { clientTools: [...clientTools] }),
    ...(tags === undefined ? {} : { tags: { ...tags } }),
    ...(threadId === undefined ? {} : { threadId }),
    ...(runId === undefined ? {} : { runId }),
  }
  return [body, { caller, ...trace, ...toRunBudget(limits), ...more }]
}

/** An operation that is retried. */
interface Retried {
  readonly runId: string
  /** Description for the log, after "Failed to". */
  readonly what: string
  /** Whether the operation is still needed. @default until the server drains */
  readonly isNeeded?: () => boolean
}
