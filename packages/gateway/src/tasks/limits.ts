/** What the wire keeps to, in one place. */

/** Longest silence of a stream, in milliseconds: callers give up after 30 s of it. @see JamJet `idle_timeout_secs` */
export const KEEP_ALIVE_MS = 10_000

/**
 * How long a run goes on whose caller went away without ever having been told its id, in milliseconds: one
 * that is nearly done is let end, as whoever looks at the runs may still want it.
 */
export const GRACE_MS = 30_000

/** How long a cancel waits for the run to stop, in milliseconds: callers give up after 5 s. */
export const CANCEL_WAIT_MS = 3_000
