/** Average time between the polls of all processes together, and the part by which an interval is shorter or longer. */
const SHARE_MS = 125
const JITTER = 0.25

/** Returns the time until the next poll of one of `pollers` processes, in milliseconds. */
export function nextPollMs(pollMs: number, pollers: number): number {
  return Math.max(pollMs, pollers * SHARE_MS) * (1 + (2 * Math.random() - 1) * JITTER)
}
