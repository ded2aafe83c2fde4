/** The events that webhooks receive. */
import { PERSON_REVIEW_KINDS } from '@tutti/protocol/internal'

import type { RunEvent } from '@tutti/protocol'

/** Whether the event is delivered to the webhooks of the run (RUNS-O1). */
export function isDelivered(event: RunEvent): boolean {
  if (event.type === 'review_requested') return PERSON_REVIEW_KINDS.includes(event.kind)
  return event.type === 'run_result'
}
