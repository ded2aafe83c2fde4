/** What webhooks are sent. Ours; the form is that of Standard Webhooks (https://www.standardwebhooks.com). */
import Type from 'typebox'
import { Instant } from '../scalars.ts'
import { PendingReview } from './reviews.ts'
import { RunDetail } from './runs.ts'

/** What a webhook can be told of. */
export const WebhookEventType = Type.Enum([
  'run.completed',
  'run.failed',
  'run.cancelled',
  'review.requested',
])
export type WebhookEventType = Type.Static<typeof WebhookEventType>

/** Body of a delivery. The headers `webhook-id`, `webhook-timestamp` and `webhook-signature` go with it. */
export const WebhookDelivery = Type.Union([
  Type.Object({
    type: Type.Enum(['run.completed', 'run.failed', 'run.cancelled']),
    timestamp: Instant,
    data: RunDetail,
  }),
  Type.Object({
    type: Type.Literal('review.requested'),
    timestamp: Instant,
    data: PendingReview,
  }),
])
export type WebhookDelivery = Type.Static<typeof WebhookDelivery>
