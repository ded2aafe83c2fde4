/** Pure: the order of priorities, and the room for new runs (RUNS-L4). */
import type { RunPriority } from '@tutti/protocol/internal'

/** Numbers of the priorities: a higher one comes first. */
export const LEVELS = { high: 2, normal: 1, low: 0 } as const satisfies Record<RunPriority, number>

/** In each group of so many claims, the last one takes new runs before those that were claimed before. */
const NEW_FIRST_EVERY = 4

/** Whether the claim after so many others takes runs that were claimed before first. */
export function isBegunFirst(claims: number): boolean {
  return (claims + 1) % NEW_FIRST_EVERY !== 0
}
