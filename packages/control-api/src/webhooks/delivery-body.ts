/** Builds the content of webhook deliveries, at the time of sending, from the state of the store. */
import { runSpanKey, spanTraceparent, type TraceContext } from '@tutti/core/internal'
import { anyone } from '@tutti/gateway/internal'

import { readRunDetail } from '../runs/run-detail.ts'
import { toPendingReview } from '../runs/to-wire.ts'

import type { ResolvedControlApiOptions } from '../options.ts'
import type { LoggedRunEvent, WebhookDelivery } from '@tutti/protocol'
import type { RunOutcome, WebhookEventType } from '@tutti/protocol/internal'
import type { RunService } from '@tutti/runs'
import type { ClaimedDelivery } from '@tutti/runs/adapter'

const OUTCOMES = {
  COMPLETED: 'run.completed',
  FAILED: 'run.failed',
  CANCELLED: 'run.cancelled',
} as const satisfies Record<RunOutcome, WebhookEventType>

/** Body of a delivery, and the trace of its run. */
export interface DeliveryContent {
  readonly body: WebhookDelivery
  readonly trace: TraceContext
}

/** Options of {@link readDeliveryContent}. */
export type DeliveryOptions = Pick<ResolvedControlApiOptions, 'runs' | 'redactor'>

/** Returns the content of a delivery; undefined when it is obsolete. */
export async function readDeliveryContent(
  options: DeliveryOptions,
  { runId, seq }: Pick<ClaimedDelivery, 'runId' | 'seq'>,
): Promise<DeliveryContent | undefined> {
  const { runs } = options
  const [event] = await runs.readEvents({ runId, from: seq, limit: 1 })
  const body = event === undefined ? undefined : await buildBody(options, event)
  return body === undefined ? undefined : { body, trace: await readRunTraceContext(runs, runId) }
}

/** Returns the trace context of the span of a run; empty if the run was submitted without a trace. */
async function readRunTraceContext(runs: RunService, runId: string): Promise<TraceContext> {
  const { traceparent, tracestate } = (await runs.record(runId))?.request ?? {}
  if (traceparent === undefined) return {}
  const ofRun = { traceparent: spanTraceparent(traceparent, runSpanKey(runId)) }
  return tracestate === undefined ? ofRun : { ...ofRun, tracestate }
}

async function buildBody(
  options: DeliveryOptions,
  event: LoggedRunEvent,
): Promise<WebhookDelivery | undefined> {
  const { runs } = options
  if (event.type === 'run_result') {
    // The server reads for itself: the operator chose the receiver.
    const data = await readRunDetail(options, event.runId, anyone())
    const timestamp = data.completedAt ?? data.startedAt
    return { type: OUTCOMES[event.status], timestamp, data }
  }
  if (event.type !== 'review_requested') return undefined
  const review = await runs.reviews.get(event.reviewId)
  // Obsolete if the review was closed meanwhile.
  if (review?.status !== 'OPEN') return undefined
  return { type: 'review.requested', timestamp: event.requestedAt, data: toPendingReview(review) }
}
