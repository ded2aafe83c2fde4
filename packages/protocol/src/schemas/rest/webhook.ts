/** Content of webhook deliveries, in the format of Standard Webhooks (https://www.standardwebhooks.com). */
import Type from 'typebox'
import { Instant } from '../scalars.ts'
import { PendingReview } from './reviews.ts'
import { RunDetail } from './runs.ts'

import type { Static } from '../../static.ts'

/** Event that a webhook can be notified about. */
export const WebhookEventType = Type.Enum([
  'run.completed',
  'run.failed',
  'run.cancelled',
  'review.requested',
])
export type WebhookEventType = Static<typeof WebhookEventType>

/** Body of a delivery. Its headers are `webhook-id`, `webhook-timestamp` and `webhook-signature`. */
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
export type WebhookDelivery = Static<typeof WebhookDelivery>
