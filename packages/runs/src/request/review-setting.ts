/** Pure: converts requested reviews to settings of the engine. */
import { reviewSettingsOf, type ReviewDefaults, type ReviewSetting } from '@tutti/ensemble/internal'

import { field } from '../domain/field.ts'

import type { RunReviewBody, TaskReviewSetting } from '@tutti/protocol/internal'

/** Returns the review defaults of a run. On the wire, a timeout of 0 waits for ever. */
export function toReviewDefaults({ timeoutMs, ...others }: RunReviewBody): ReviewDefaults {
  return { ...others, ...field('timeoutMs', timeoutMs === 0 ? Infinity : timeoutMs) }
}

/** Returns the review of a task: the requested settings over its own. */
export function mergeReview(
  asked: TaskReviewSetting | undefined,
  own?: ReviewSetting,
): ReviewSetting | undefined {
  if (asked === undefined) return own
  if (asked === 'skip') return false
  const before = reviewSettingsOf(own)
  if (asked === 'required') return before ?? true
  return { ...before, ...asked, ...toReviewDefaults(asked) }
}
