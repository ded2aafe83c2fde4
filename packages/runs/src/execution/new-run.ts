/** What a submission makes: the record of a run that has not begun, and its first event. */
import { isoNow, TuttiError, type Clock, type TraceContext } from '@tutti/core'
import {
  assertInputs,
  assertTextSizes,
  findUnpriced,
  type Budget,
  type Ensemble,
  type Prices,
  type TextLimits,
} from '@tutti/ensemble'

import { field } from '../record-fields.ts'
import { assertRequiredReviews } from '../request/required-reviews.ts'
import { fingerprintOf } from './submission.ts'

import type { Quota } from '../ports/run-store.ts'
import type { ReviewRules, RunEnsembles } from './run-ensembles.ts'
import type { NewRun, RequestedRun } from '../run-record.ts'
import type { RunEventOf, TagMap } from '@tutti/protocol'

/** What a run is asked to do. */
export interface RunSubmission extends RequestedRun {
  /** Name of the ensemble. @default the first one */
  readonly ensemble?: string
  readonly inputs?: Readonly<Record<string, string>>
  readonly tags?: Readonly<TagMap>
  /** @default a random id */
  readonly runId?: string
  /** Under which the same submission of the same actor is recognised when it is sent again. */
  readonly idempotencyKey?: string
  /**
   * Whether the budget is what the caller has left, who counts too: then a limit on cost that cannot be kept,
   * as a model has no known price, is left out. @default false: it is refused
   */
  readonly isAllowance?: boolean
  /** Under which its result may be found again, with `RunQuery`; of printable ASCII. */
  readonly cacheKey?: string
  /** Names of webhooks that are told of it. */
  readonly webhooks?: readonly string[]
  /** Who submits, for the record. */
  readonly actor?: string
  /** What the runs of the actor may be and cost. */
  readonly quota?: Quota
}

/** Says which trace a run belongs to that is asked for in a context, or in none. */
export type TraceNewRun = (
  run: Pick<NewRun, 'runId' | 'ensemble'>,
  asked: TraceContext,
) => TraceContext

/** What a submission is read with. */
export interface NewRunOptions extends TextLimits {
  readonly ensembles: RunEnsembles
  readonly clock: Clock
  readonly prices: Prices | undefined
  /** @default a request cannot relax the reviews of its operator */
  readonly reviews?: ReviewRules
  /** @default the trace is that of whoever asks */
  readonly traceNewRun?: TraceNewRun | undefined
}

/** Random bytes of a run id: enough that two ids never meet. */
const RUN_ID_BYTES = 8

/**
 * The run that a submission asks for.
 *
 * @throws {TuttiError} as `RunEnsembles`; BAD_REQUEST for a limit on cost that cannot be kept and for tags that are too large; INPUT_MISSING naming every template variable without a value; INPUT_TOO_LARGE
 * naming the text, its size and the limit.
 */
export function newRunOf(submitted: RunSubmission, options: NewRunOptions): NewRun {
  const { ensembles, clock, prices, traceNewRun, reviews, ...limits } = options
  const template = ensembles.find(submitted.ensemble)
  const { inputs = {}, tags = {}, runId = newRunId(), idempotencyKey, webhooks, actor } = submitted
  const { traceparent, tracestate, ...untraced } = submitted
  const context = { ...field('traceparent', traceparent), ...field('tracestate', tracestate) }
  const traced = traceNewRun?.({ runId, ensemble: template.name }, context) ?? context
  const request = requestOf({
    ...untraced,
    ...traced,
    ...field('options', optionsOf(submitted, template)),
  })
  assertTagSize(tags)
  const ensemble = ensembles.build({ ensemble: template.name, ...field('request', request) })
  if (reviews?.allowOverride !== true) assertRequiredReviews(template, request ?? {}, ensemble)
  if (submitted.isAllowance !== true) assertPriced(ensemble, submitted.budget, prices)
  assertInputs(ensemble, inputs)
  assertTextSizes(ensemble, inputs, limits)
  const asked = requestOf({ ...untraced, memo: undefined, origin: undefined })
  const more = { request: asked, webhooks, actor }
  const content = { ensemble: ensemble.name, inputs, tags, runId: submitted.runId, ...more }
  return {
    runId,
    ensemble: ensemble.name,
    workflow: ensemble.plan.workflow,
    inputs,
    tags,
    taskCount: ensemble.tasks.length,
    createdAt: clock.now(),
    ...field('request', request),
    ...field('actor', actor),
    ...field('cacheKey', submitted.cacheKey),
    ...(webhooks === undefined || webhooks.length === 0 ? {} : { webhooks }),
    ...(idempotencyKey === undefined
      ? {}
      : {
          submission: {
            idempotencyKey: keyOf(idempotencyKey, actor),
            fingerprint: fingerprintOf(content),
          },
        }),
  }
}

/** Names and values of the tags of a run, in bytes of UTF-8. A page of a list has the tags of up to a thousand runs. */
const MAX_TAG_BYTES = 16_384

function assertTagSize(tags: Readonly<TagMap>): void {
  const texts = Object.entries(tags).flatMap(([name, value]) => [name, String(value)])
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  if (bytes <= MAX_TAG_BYTES) return
  const message = `must have at most ${MAX_TAG_BYTES} bytes, names and values together, got ${bytes}`
  throw new TuttiError('BAD_REQUEST', `Invalid request body: /tags ${message}`, {
    details: { problems: [{ path: '/tags', message }] },
  })
}

/** A limit that cannot be kept is no limit. */
function assertPriced(ensemble: Ensemble, budget: Budget | undefined, prices: Prices | undefined) {
  if (budget?.maxCostUsd === undefined) return
  const unpriced = findUnpriced(ensemble, { budget, ...field('prices', prices) })
  if (unpriced.length === 0) return
  const message = `cannot be kept: no price is known for ${unpriced.join(', ')}`
  throw new TuttiError('BAD_REQUEST', `Invalid request body: /budget/maxCostUsd ${message}`, {
    details: { problems: [{ path: '/budget/maxCostUsd', message }] },
  })
}

/** The first event of the log of a run. */
export function queuedEvent(run: NewRun, clock: Clock): RunEventOf<'run_queued'> {
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
  }
}

/** The options of a submission, with the capture mode of the ensemble where they have none. */
function optionsOf({ options }: RunSubmission, { captureMode }: Ensemble): RequestedRun['options'] {
  if (captureMode === undefined || options?.captureMode !== undefined) return options
  return { ...options, captureMode }
}

/** A submission of which some fields may be left out. */
type Asked = { readonly [K in keyof RequestedRun]?: RequestedRun[K] | undefined }

/** What a submission asks for otherwise than its ensemble says; undefined when nothing. */
function requestOf({
  tasks,
  taskOverrides,
  options,
  budget,
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
    ...field('memo', memo),
    ...field('origin', origin),
    ...field('traceparent', traceparent),
    ...field('tracestate', tracestate),
  }
  return Object.keys(asked).length === 0 ? undefined : asked
}

/** The keys of one actor say nothing of those of another. */
function keyOf(idempotencyKey: string, actor: string | undefined): string {
  return actor === undefined ? idempotencyKey : JSON.stringify([actor, idempotencyKey])
}

function newRunId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(RUN_ID_BYTES))
  return `run-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')}`
}
