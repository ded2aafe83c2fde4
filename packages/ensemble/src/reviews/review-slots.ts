/** Slots of reviews, which identify a review within an attempt, also after a restart. */

/** Slot of the review before a task. */
export const BEFORE_SLOT = 'before'

/** Slot of the review after a task. */
export const AFTER_SLOT = 'after'

/** Returns the start of the slots of a call's reviews; the number of the review follows. */
export function createToolSlotPrefix(iterationIndex: number, callId: string): string {
  return `tool/${iterationIndex}/${callId}/`
}
