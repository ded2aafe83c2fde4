/** Positions in the log of a run, as callers give them. */
import { MAX_COUNT } from '@tutti/protocol/internal'

/** The positions that {@link isLogPosition} accepts, for errors. */
export const WANTED_POSITION = `from must be an integer from -${MAX_COUNT} to ${MAX_COUNT}`

/** Whether the server accepts the position; a negative one counts from the end. */
export function isLogPosition(from: number): boolean {
  return Number.isInteger(from) && Math.abs(from) <= MAX_COUNT
}
