/** Slots of reviews, which identify a review within an attempt, also after a restart. */

import { isWaitSlot } from '../scope/recorded-operations.ts'

/** Slot of the review before a task. */
export const BEFORE_SLOT = 'before'

/** Slot of the review after a task. */
export const AFTER_SLOT = 'after'

/** Returns the start of the slots of a call's reviews; the number of the review follows. */
export function createToolSlotPrefix(iterationIndex: number, callId: string): string {
  return `tool/${iterationIndex}/${callId}/`
}

/** Returns the first word of messages about a slot. */
export function nameSlot(slot: string): 'Wait' | 'Review' {
  return isWaitSlot(slot) ? 'Wait' : 'Review'
}
