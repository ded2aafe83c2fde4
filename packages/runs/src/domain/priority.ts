/** Pure: the order of priorities, and the room for new runs (RUNS-L4). */
import type { RunPriority } from '@tutti/protocol/internal'

/** Numbers of the priorities: a higher one comes first. */
export const LEVELS = { high: 2, normal: 1, low: 0 } as const satisfies Record<RunPriority, number>

/** Every fourth claim of a process takes new runs first. */
const NEW_FIRST_EVERY = 4

/** Whether a claim prefers runs that were claimed before. @param claims number of earlier claims of the process */
export function isBegunFirst(claims: number): boolean {
  return (claims + 1) % NEW_FIRST_EVERY !== 0
}
