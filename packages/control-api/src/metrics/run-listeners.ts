/**
 * Counts the work of the runs of this process from their events.
 *
 *   claimed ─▶ events ─▶ released      (the state of a run is deleted when it is released)
 *
 * API-C1 An event is counted once, by the process that made it durable.
 * API-C2 A token costs one comparison, except the first one of each model call.
 * API-C3 No text of people or models becomes a label value.
 */
import {
  eventTime,
  isFailureCode,
  readEventUsage,
  type EventUsage,
  type FinishReason,
} from '@tutti/protocol/internal'

import { OTHER } from './registry.ts'

import type { Instruments } from './instruments.ts'
import type { Clock } from '@tutti/core'
import type { FailureCode, LoggedRunEvent, RunEventOf } from '@tutti/protocol'
import type { RunServiceOptions } from '@tutti/runs'
import type { RunActivity } from '@tutti/runs/internal'

/** Options of {@link createRunListeners}. */
export interface RunListenersOptions {
  readonly instruments: Instruments
  readonly clock: Clock
  /** Returns when a review opened that another process opened, in milliseconds since 1970; undefined if unknown. */
  readonly openedAt: (reviewId: string) => Promise<number | undefined>
}

/** Listeners of a run service that count. */
export type RunListeners = Required<Pick<RunServiceOptions, 'onActivity' | 'onExecuted'>>

/** A model call in flight. */
interface OpenCall {
  readonly model: string
  readonly startedAt: number
  hasToken: boolean
}

/** A run that this process executes. */
interface Progress {
  readonly ensemble: string
  /** Time from which it could start. */
  readonly dueAt: number
  /** Model calls by task index; a task has one at a time. */
  readonly calls: Map<number, OpenCall>
  /** Number of calls that have not streamed a token. */
  awaiting: number
  /** Open reviews by id, with the time at which they opened. */
  readonly reviews: Map<string, number>
}

/** Code label of work that did not fail. */
const NONE = 'none'

export function createRunListeners(options: RunListenersOptions): RunListeners {
  const counter = new RunCounter(options)
  return {
    onActivity: [
      (activity) => {
        counter.handle(activity)
      },
    ],
    onExecuted: [
      (runId, events) => {
        counter.count(runId, events)
      },
    ],
  }
}

class RunCounter {
  readonly #instruments: Instruments
  readonly #clock: Clock
  readonly #openedAt: RunListenersOptions['openedAt']
  readonly #runs = new Map<string, Progress>()

  constructor({ instruments, clock, openedAt }: RunListenersOptions) {
    this.#instruments = instruments
    this.#clock = clock
    this.#openedAt = openedAt
  }

  handle(activity: RunActivity): void {
    const { runsAccepted, runReleases, rateLimitWait } = this.#instruments
    switch (activity.kind) {
      case 'accepted':
        runsAccepted.add({ ensemble: activity.run.ensemble })
        return
      case 'claimed':
        this.#claim(activity)
        return
      case 'released':
        runReleases.add({ end: activity.end })
        this.#runs.delete(activity.runId)
        return
      case 'written_unowned':
        this.count(activity.runId, activity.events)
        return
      case 'rate_limited':
        rateLimitWait.observe({}, activity.waitedMs / 1_000)
    }
  }

  count(runId: string, events: readonly LoggedRunEvent[]): void {
    const run = this.#runs.get(runId)
    const now = this.#clock.now()
    for (const event of events) {
      if (event.type === 'token' || event.type === 'reasoning') {
        if (run !== undefined && run.awaiting > 0) this.#firstToken(run, event)
        continue
      }
      const instant = eventTime(event)
      if (instant !== undefined) this.#lag(now - instant)
      this.#countReview(run, event, instant ?? now)
      if (run !== undefined) this.#countWork(run, event)
      countAgentCalls(this.#instruments, event)
      const used = readEventUsage(event)
      if (used?.kind === 'agent') countAgentUsage(this.#instruments, used)
      else if (used !== undefined && run !== undefined) countModelUsage(this.#instruments, used)
    }
  }

  #claim({ run, lostOwners }: Extract<RunActivity, { kind: 'claimed' }>): void {
    const { runId, ensemble, createdAt, startAt: dueAt = createdAt, epoch } = run
    const again = lostOwners > 0 ? 'taken_over' : 'resumed'
    this.#instruments.runClaims.add({ kind: epoch === 1 ? 'first' : again })
    this.#runs.set(runId, {
      ensemble,
      dueAt,
      calls: new Map(),
      awaiting: 0,
      reviews: new Map(),
    })
  }

  /** Records the time from an event to its durability; at least 0, because the clocks of machines differ. */
  #lag(ms: number): void {
    this.#instruments.durableLag.observe({}, Math.max(0, ms) / 1_000)
  }

  #firstToken(run: Progress, { taskIndex, sentAt }: RunEventOf<'token' | 'reasoning'>): void {
    const call = run.calls.get(taskIndex)
    if (call === undefined || call.hasToken) return
    call.hasToken = true
    run.awaiting -= 1
    const seconds = (Date.parse(sentAt) - call.startedAt) / 1_000
    this.#instruments.modelFirstToken.observe({ model: call.model }, Math.max(0, seconds))
  }

  #countWork(run: Progress, event: LoggedRunEvent): void {
    const { ensemble } = run
    const { runWait, runsEnded, runDuration } = this.#instruments
    switch (event.type) {
      case 'ensemble_started': {
        const waitedMs = Date.parse(event.startedAt) - run.dueAt
        runWait.observe({ ensemble }, Math.max(0, waitedMs) / 1_000)
        return
      }
      case 'run_resumed':
        run.calls.clear()
        run.awaiting = 0
        return
      case 'run_result': {
        const { status, durationMs } = event
        runsEnded.add({ ensemble, status, code: toFailureCode(event.code) })
        runDuration.observe({ ensemble, status }, durationMs / 1_000)
        return
      }
      case 'task_completed':
      case 'task_attempt_failed':
      case 'task_failed':
      case 'task_skipped':
        this.#countTask(ensemble, event)
        return
      case 'llm_iteration_started':
      case 'llm_iteration_completed':
      case 'llm_iteration_failed':
        this.#countModel(run, event)
        return
      default:
    }
  }

  #countTask(
    ensemble: string,
    event: RunEventOf<'task_completed' | 'task_attempt_failed' | 'task_failed' | 'task_skipped'>,
  ): void {
    const { tasksEnded, taskDuration, taskRetries } = this.#instruments
    const status = TASK_STATUSES[event.type]
    const code = 'code' in event ? toFailureCode(event.code) : NONE
    tasksEnded.add({ ensemble, status, code })
    if (event.type === 'task_skipped') return
    taskDuration.observe({ ensemble, status }, event.durationMs / 1_000)
    if ('willRetry' in event && event.willRetry) taskRetries.add({ ensemble })
  }

  #countModel(
    run: Progress,
    event: RunEventOf<'llm_iteration_started' | 'llm_iteration_completed' | 'llm_iteration_failed'>,
  ): void {
    const { taskIndex, model } = event
    const before = run.calls.get(taskIndex)
    run.calls.delete(taskIndex)
    if (before?.hasToken === false) run.awaiting -= 1
    switch (event.type) {
      case 'llm_iteration_started': {
        const startedAt = Date.parse(event.startedAt)
        run.calls.set(taskIndex, { model, startedAt, hasToken: false })
        run.awaiting += 1
        return
      }
      case 'llm_iteration_completed':
        this.#countAnswer(event)
        return
      case 'llm_iteration_failed': {
        const { modelCalls, modelRetries, modelFallbacks } = this.#instruments
        modelCalls.add({ model, code: toFailureCode(event.code) })
        if (event.retryInMs !== undefined) modelRetries.add({ model })
        if (event.nextModel !== undefined) modelFallbacks.add({ model })
      }
    }
  }

  #countAnswer(event: RunEventOf<'llm_iteration_completed'>): void {
    const { model, latencyMs } = event
    this.#instruments.modelCalls.add({ model, code: toCallCode(event) })
    this.#instruments.modelDuration.observe({ model }, latencyMs / 1_000)
  }

  #countReview(run: Progress | undefined, event: LoggedRunEvent, at: number): void {
    switch (event.type) {
      case 'review_requested':
        this.#instruments.reviewsOpened.add({ timing: event.timing })
        run?.reviews.set(event.reviewId, at)
        return
      case 'review_decided':
        this.#closeReview(run, { ...event, outcome: event.decision.toLowerCase(), at })
        return
      case 'review_timed_out':
        this.#closeReview(run, { ...event, outcome: 'timed_out', at })
        return
      case 'review_withdrawn':
        this.#closeReview(run, { ...event, outcome: 'withdrawn', at })
        return
      default:
    }
  }

  #closeReview(
    run: Progress | undefined,
    closed: { readonly reviewId: string; readonly outcome: string; readonly at: number },
  ): void {
    const { reviewsClosed, reviewWait } = this.#instruments
    const { reviewId, outcome, at } = closed
    reviewsClosed.add({ outcome })
    const since = run?.reviews.get(reviewId)
    run?.reviews.delete(reviewId)
    const observe = (openedAt: number | undefined): void => {
      if (openedAt === undefined) return
      reviewWait.observe({ outcome }, Math.max(0, at - openedAt) / 1_000)
    }
    if (since !== undefined) observe(since)
    // Another process opened the review. Its time is read from the store, and not counted if that fails.
    else this.#openedAt(reviewId).then(observe, () => undefined)
  }
}

const TASK_STATUSES = {
  task_completed: 'COMPLETED',
  task_attempt_failed: 'FAILED',
  task_failed: 'FAILED',
  task_skipped: 'SKIPPED',
} as const

/** Failure codes of incomplete model responses. */
const UNFINISHED = {
  length: 'OUTPUT_TRUNCATED',
  refusal: 'MODEL_REFUSED',
  content_filter: 'CONTENT_FILTERED',
} as const satisfies Partial<Record<FinishReason, FailureCode>>

function toCallCode({ finishReason }: Pick<RunEventOf<'llm_iteration_completed'>, 'finishReason'>) {
  switch (finishReason) {
    case 'length':
    case 'refusal':
    case 'content_filter':
      return UNFINISHED[finishReason]
    default:
      return NONE
  }
}

function toFailureCode(code: string | undefined): string {
  if (code === undefined) return NONE
  return isFailureCode(code) ? code : OTHER
}

/** Counts the usage of a model call. A counter ignores -1, which means that the provider did not report the number. */
function countModelUsage(instruments: Instruments, used: EventUsage): void {
  const { modelTokens, modelCachedTokens, modelReasoningTokens, modelCost, modelUnpriced } =
    instruments
  const { source: model, costUsd, cachedInputTokens, reasoningTokens } = used
  modelTokens.add({ model, direction: 'input' }, used.inputTokens)
  modelTokens.add({ model, direction: 'output' }, used.outputTokens)
  if (cachedInputTokens !== undefined) modelCachedTokens.add({ model }, cachedInputTokens)
  if (reasoningTokens !== undefined) modelReasoningTokens.add({ model }, reasoningTokens)
  if (costUsd === undefined) modelUnpriced.add({ model })
  else modelCost.add({ model }, costUsd)
}

/** Counts the usage that another agent reports. */
function countAgentUsage({ agentTokens, agentCost }: Instruments, used: EventUsage): void {
  const { source: tool, inputTokens, outputTokens, costUsd } = used
  if (costUsd !== undefined) agentCost.add({ tool }, costUsd)
  agentTokens.add({ tool, direction: 'input' }, inputTokens)
  agentTokens.add({ tool, direction: 'output' }, outputTokens)
}

/** Counts a call of another agent that has ended. */
function countAgentCalls({ agentCalls }: Instruments, event: LoggedRunEvent): void {
  const outcome = toAgentOutcome(event)
  if (outcome !== undefined && 'toolName' in event) {
    agentCalls.add({ tool: event.toolName, outcome })
  }
}

/** Returns the outcome of an attempt; undefined if it has not ended. */
function toAgentOutcome(event: LoggedRunEvent): string | undefined {
  if (event.type === 'agent_tool_completed') return 'completed'
  if (event.type === 'agent_tool_terminated') return event.reason
  return event.type === 'agent_tool_error' ? event.failure_type : undefined
}
