/** Pure: what the list says of a review that waits. */
import { age } from '../text/age.ts'

import type { PendingReview } from '@tutti/protocol'

/** How much time is left to decide it; `now` is in milliseconds since 1970. */
export function leftOf({ expiresAt }: Pick<PendingReview, 'expiresAt'>, now: number): string {
  return expiresAt === undefined ? 'no limit' : `${age(Date.parse(expiresAt) - now)} left`
}
