/**
 * The pace at which the processes of a fleet do what one of them would suffice for. The work of the whole fleet does not
 * grow with its size.
 *
 * Polls of N processes at intervals of N × {@link POLL_SHARE_MS} with jitter are independent of each other: there are 8 a
 * second, and the probability that there is none within 2 s is at most e^-16, or 1 in 9 million.
 */

/** Average time between polls of a large fleet, in milliseconds. */
const POLL_SHARE_MS = 125

/** Average time between looks of a large fleet for the work of dead processes, in milliseconds. */
const LOOK_SHARE_MS = 2_500

/** Time for which notifications are gathered, in milliseconds: for each process, at least, and at most. */
const GATHER_SHARE_MS = 1
const MIN_GATHER_MS = 25
const MAX_GATHER_MS = 500

/** Maximum number of processes that notify each other of events. */
const MAX_NOTIFIED = 50

/** Time between the polls of readers, in milliseconds; Postgres wakes no other process for them. */
const READER_POLL_MS = 1_000
const UNNOTIFIED_READER_POLL_MS = 200

/** Part of an interval by which it is at most shorter or longer. */
const JITTER = 0.25

/** Number of polls, or of renewals, within an idle lease. */
const POLLS_PER_IDLE_LEASE = 3

/** Returns the time between the polls of one of `pollers` processes without jitter, in milliseconds. */
function pollShareMs(pollMs: number, pollers: number): number {
  return Math.max(pollMs, pollers * POLL_SHARE_MS)
}

/** Returns the time between two looks of one of `processes` for the work of dead processes, in milliseconds. */
export function lookMs(everyMs: number, processes: number): number {
  return Math.max(everyMs, processes * LOOK_SHARE_MS)
}

/** Returns the time until the next poll of one of `pollers` processes, in milliseconds. A single one polls regularly. */
export function nextPollMs(pollMs: number, pollers: number, random = Math.random()): number {
  const jitter = pollers === 1 ? 0 : (2 * random - 1) * JITTER
  return pollShareMs(pollMs, pollers) * (1 + jitter)
}

/** Returns the duration of the lease of a process without runs, in milliseconds: several polls of a fleet of that size. */
export function idleLeaseMs(
  { leaseMs, pollMs }: { readonly leaseMs: number; readonly pollMs: number },
  processes: number,
): number {
  return POLLS_PER_IDLE_LEASE * Math.max(leaseMs, pollShareMs(pollMs, processes))
}

/**
 * Returns the time for which one of `processes` gathers notifications before it sends them together, in milliseconds.
 * Postgres wakes every listening process for each notifying statement, so its cost grows with the fleet.
 */
export function notificationGatherMs(processes: number): number {
  return Math.min(Math.max(processes * GATHER_SHARE_MS, MIN_GATHER_MS), MAX_GATHER_MS)
}

/**
 * Returns whether one of `processes` notifies others of events. In a larger fleet, waking all processes for the few that
 * read a run costs more than their polls.
 */
export function notifiesOfEvents(processes: number): boolean {
  return processes <= MAX_NOTIFIED
}

/** Returns the time between the polls of a reader of runs that one of `processes` writes, in milliseconds. */
export function readerPollMs(processes: number): number {
  return notifiesOfEvents(processes) ? READER_POLL_MS : UNNOTIFIED_READER_POLL_MS
}

/** Decides at random whether one of `processes` does a repeated task that `enough` of them suffice for. */
export function takesTurn(enough: number, processes: number, random = Math.random()): boolean {
  return random * processes < enough
}
