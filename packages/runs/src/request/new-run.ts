/** Converts a submission to the record of a new run and its first event. */
import type { Clock } from '@tutti/core'
import { isoNow, newId, type TraceContext } from '@tutti/core/internal'
import { toUserMessage } from '@tutti/protocol/internal'
import type { Budget, Ensemble, Prices } from '@tutti/ensemble'
import {
  assertInputs,
  assertTextSizes,
  findHistoryProblems,
  findUnknownInputs,
  findUnpriced,
  type GivenResults,
  type TextLimits,
} from '@tutti/ensemble/internal'

import { field } from '../domain/field.ts'
import { toActorKey } from '../domain/refusals.ts'
import { assertClientTools } from './client-tools.ts'
import { findUnknownItems } from './override-items.ts'
import { assertNoProblems } from './refusals.ts'
import { assertPriority, findOrder, findOrderProblems } from './queue-order.ts'
import { findStartProblems, findStartTimes } from './start-times.ts'
import { assertTagSize } from './tag-size.ts'
import { assertRequiredReviews } from './required-reviews.ts'
import { hashSubmission, type SubmissionContent } from './submission.ts'

import type { Quota } from '../domain/quota.ts'
import type { ReviewRules, RunEnsembles } from './run-ensembles.ts'
import type { NewRun, RequestedRun } from '../domain/run-record.ts'
import type { RunEventOf } from '@tutti/protocol'
import type {
  DirectiveInput,
  Problem,
  ReplayMode,
  RunPriority,
  TagMap,
} from '@tutti/protocol/internal'

/** The start of a fork: the last event that it copies, or the first task that it repeats. */
export type ForkPlace = number | { readonly task: string }

/** A request for a run. */
export interface RunSubmission extends RequestedRun {
  /** Name of the ensemble. @default the first one */
  readonly ensemble?: string
  readonly inputs?: Readonly<Record<string, string>>
  readonly tags?: Readonly<TagMap>
  /** @default a random id */
  readonly runId?: string
  /** Build that executes it. @default chosen among the builds that live */
  readonly build?: string
  /** Thread that it continues. */
  readonly threadId?: string
  /** Identifies a repeated submission of the same actor. */
  readonly idempotencyKey?: string
  /**
   * Whether the budget is the caller's remaining budget, which the caller enforces too. Then a cost limit that cannot be
   * enforced, because a model has no known price, is dropped. @default false: it is refused
   */
  readonly isAllowance?: boolean
  /** Key under which `RunQuery` finds its result; printable ASCII. */
  readonly cacheKey?: string
  /** Names of its webhooks. */
  readonly webhooks?: readonly string[]
  /**
   * Time before which it does not start, as RFC 3339, at most 366 days ahead; a time in the past starts it at once.
   * @default at once
   */
  readonly startAt?: string
  /** The same as a delay from its submission in milliseconds, instead of `startAt`. */
  readonly startAfterMs?: number
  /**
   * Maximum time from the time at which it may start to the start of its work, in milliseconds; then it fails with
   * QUEUE_TIMEOUT. @default no limit
   */
  readonly maxQueueMs?: number
  /**
   * Runs of a higher priority start before all others that wait (RUNS-L4).
   * @default 'normal', or the `maxPriority` of the quota if it is lower
   */
  readonly priority?: RunPriority
  /** Key by which runs of one priority that wait take turns, 1 to 200 characters. @default the actor */
  readonly fairnessKey?: string
  /** The fork that it requests; distinguishes it from other submissions. */
  readonly fork?: {
    readonly parentRunId: string
    readonly at: ForkPlace
    /** Its own inputs, without those of its parent. */
    readonly inputs?: Readonly<Record<string, string>>
    /** Its own overrides, without those of its parent. */
    readonly taskOverrides?: RequestedRun['taskOverrides']
    readonly replay?: ReplayMode
    readonly results?: GivenResults
    readonly directives?: readonly DirectiveInput[]
  }
  /** The actor that submits it; stored with the run. */
  readonly actor?: string
  /** Limits for the number and the cost of the actor's runs. */
  readonly quota?: Quota
}

/** Returns the trace context of a new run; `asked` is the context of the request, which may be empty. */
export type TraceNewRun = (
  run: Pick<NewRun, 'runId' | 'ensemble'>,
  asked: TraceContext,
) => TraceContext

/** Settings for reading a submission. */
export interface NewRunOptions extends TextLimits {
  readonly ensembles: RunEnsembles
  readonly clock: Clock
  readonly prices: Prices | undefined
  /** @default a request cannot relax required reviews */
  readonly reviews?: ReviewRules
  /** @default the caller's trace */
  readonly traceNewRun?: TraceNewRun | undefined
}

/**
 * Builds the run of a submission.
 *
 * @throws {TuttiError} as `RunEnsembles`; BAD_REQUEST for inputs that nothing reads, for a cost limit that cannot be enforced and
 * for tags that are too large; FORBIDDEN for a priority above that of the quota; INPUT_MISSING naming every template variable
 * without a value; INPUT_TOO_LARGE naming the text, its size and the limit.
 */
export function buildNewRun(submitted: RunSubmission, options: NewRunOptions): NewRun {
  const { ensembles, clock, prices, traceNewRun, reviews, ...limits } = options
  const template = ensembles.find(submitted.ensemble)
  const {
    inputs = {},
    tags = {},
    threadId,
    runId = newId('run'),
    idempotencyKey,
    webhooks,
    actor,
  } = submitted
  const { traceparent, tracestate, ...untraced } = submitted
  const context = { ...field('traceparent', traceparent), ...field('tracestate', tracestate) }
  const traced = traceNewRun?.({ runId, ensemble: template.name }, context) ?? context
  const request = pickRequest({
    ...untraced,
    ...traced,
    ...field('options', addCaptureMode(submitted, template)),
  })
  const createdAt = clock.now()
  assertNoProblems('', [
    ...findStartProblems(submitted, createdAt),
    ...findOrderProblems(submitted),
  ])
  if (submitted.quota !== undefined) assertPriority(submitted.priority, submitted.quota)
  assertTagSize(tags)
  assertNoProblems('/history', [
    ...findThreadProblems(submitted),
    ...findHistoryProblems(submitted.history),
  ])
  const parts = ensembles.buildRequest({ ensemble: template.name, ...field('request', request) })
  const ensemble = parts.built
  assertClientTools(ensemble, submitted.clientTools)
  if (reviews?.allowOverride !== true) assertRequiredReviews(template, request ?? {}, parts)
  if (submitted.isAllowance !== true) assertPriced(ensemble, submitted.budget, prices)
  const isOther = submitted.tasks !== undefined || submitted.taskOverrides === undefined
  // An override can remove the variable of an input.
  const tasks = isOther ? ensemble.tasks : [...template.tasks, ...ensemble.tasks]
  // Inputs and overrides of a fork are those of its parent too, which other code or another list may have accepted.
  const { inputs: given = {}, taskOverrides = {} } = submitted.fork ?? submitted
  assertInputs(ensemble, inputs, [
    ...findUnknownInputs({ ...ensemble, tasks }, given),
    ...findUnknownItems(ensemble.tasks, taskOverrides, inputs),
  ])
  assertTextSizes(ensemble, inputs, limits)
  return {
    runId,
    ensemble: ensemble.name,
    workflow: ensemble.plan.workflow,
    inputs,
    tags,
    taskCount: ensemble.tasks.length,
    createdAt,
    ...findStartTimes(submitted, createdAt),
    ...findOrder(submitted, submitted.quota),
    ...field('request', request),
    ...field('actor', actor),
    ...field('cacheKey', submitted.cacheKey),
    ...(threadId === undefined
      ? {}
      : {
          thread: {
            threadId,
            // The run's number in the thread is set when the thread has been read.
            number: 1,
            userMessage: toUserMessage({ inputs, tasks: ensemble.tasks }),
          },
        }),
    ...(webhooks === undefined || webhooks.length === 0 ? {} : { webhooks }),
    ...(idempotencyKey === undefined
      ? {}
      : {
          submission: {
            idempotencyKey: toActorKey(idempotencyKey, actor),
            fingerprint: hashSubmission(toContent(submitted, ensemble.name)),
          },
        }),
  }
}

/** Returns the content that a repeated submission must have, too. */
function toContent(submitted: RunSubmission, ensemble: string): SubmissionContent {
  const { inputs = {}, tags = {}, runId, webhooks, actor, threadId, fork, build } = submitted
  const { startAt, startAfterMs, maxQueueMs, priority, fairnessKey } = submitted
  const { traceparent: _, tracestate: __, ...untraced } = submitted
  const request = pickRequest({ ...untraced, memo: undefined, origin: undefined })
  const about = { ensemble, inputs, tags, runId, request, webhooks, actor, threadId, fork, build }
  return { ...about, startAt, startAfterMs, maxQueueMs, priority, fairnessKey }
}

function findThreadProblems({ history, threadId }: RunSubmission): readonly Problem[] {
  if (history === undefined || threadId === undefined) return []
  const message =
    'cannot be combined with threadId: the thread has the messages of its earlier runs'
  return [{ path: '', message }]
}

/** Refuses a cost limit that cannot be enforced. */
function assertPriced(ensemble: Ensemble, budget: Budget | undefined, prices: Prices | undefined) {
  if (budget?.maxCostUsd === undefined) return
  const unpriced = findUnpriced(ensemble, { budget, ...field('prices', prices) })
  if (unpriced.length === 0) return
  const message = `cannot be enforced: no price is known for ${unpriced.join(', ')}`
  assertNoProblems('/budget/maxCostUsd', [{ path: '', message }])
}

/** Creates the first event of a run. */
export function createQueuedEvent(run: NewRun, clock: Clock): RunEventOf<'run_queued'> {
  const { ensemble, workflow, taskCount, inputs, tags, actor } = run
  return {
    type: 'run_queued',
    queuedAt: isoNow(clock),
    ensemble,
    workflow,
    totalTasks: taskCount,
    inputs: { ...inputs },
    tags: { ...tags },
    ...field('actor', actor),
    ...field('threadId', run.thread?.threadId),
    ...(run.startAt === undefined ? {} : { startAt: new Date(run.startAt).toISOString() }),
  }
}

/** Returns the options of a submission, with the ensemble's capture mode as the default. */
function addCaptureMode(
  { options }: RunSubmission,
  { captureMode }: Ensemble,
): RequestedRun['options'] {
  if (captureMode === undefined || options?.captureMode !== undefined) return options
  return { ...options, captureMode }
}

/** A submission in which fields may be undefined. */
type Asked = { readonly [K in keyof RequestedRun]?: RequestedRun[K] | undefined }

/** Returns the settings of a submission that override those of its ensemble; undefined when there are none. */
function pickRequest({
  tasks,
  taskOverrides,
  options,
  budget,
  history,
  clientTools,
  memo,
  origin,
  traceparent,
  tracestate,
}: Asked): RequestedRun | undefined {
  const asked = {
    ...field('tasks', tasks),
    ...field('taskOverrides', taskOverrides),
    ...field('options', options),
    ...field('budget', budget),
    ...field('history', history),
    ...field('clientTools', clientTools),
    ...field('memo', memo),
    ...field('origin', origin),
    ...field('traceparent', traceparent),
    ...field('tracestate', tracestate),
  }
  return Object.keys(asked).length === 0 ? undefined : asked
}
