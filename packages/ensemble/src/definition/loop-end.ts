/** Decides what happens after the last round of a loop. No I/O. */
import type { ReviewSettings } from './review-settings.ts'
import type { LoopPlan, Task } from './task.ts'

/** Whether a loop ends only after all its rounds. */
function hasFixedRounds({ until, judge, settings }: Omit<LoopPlan, 'template'>): boolean {
  return until === undefined && judge === undefined && settings.stopWhenUnchanged !== true
}

/** Returns the reaction to the end of the last round. */
export function reactionAtMax(
  plan: Omit<LoopPlan, 'template'>,
): 'accept' | 'fail' | { readonly review: ReviewSettings } {
  const { onMax = hasFixedRounds(plan) ? 'accept' : 'fail' } = plan.settings
  return onMax === 'review' ? { review: {} } : onMax
}

/** Returns the review after the last round of a loop; undefined if the task has none. */
export function reviewAtMax({ loop }: Pick<Task, 'loop'>): ReviewSettings | undefined {
  if (loop === undefined) return undefined
  const reaction = reactionAtMax(loop)
  return typeof reaction === 'object' ? reaction.review : undefined
}
