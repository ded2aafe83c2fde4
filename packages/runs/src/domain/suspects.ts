/**
 * Suspects: runs that may kill their process. When a process dies, all of its runs lose their owner,
 * also those that did not cause it. After the first loss all are resumed at once. From the second loss in a row on, a
 * run is a suspect: a process executes one suspect at a time, with a delay that grows with each loss, so that the next
 * loss counts against that run alone.
 */

/** Number of losses in a row, without progress, that makes a run a suspect. */
export const SUSPECT_LOSSES = 2

/**
 * Time that a run must have had its owner before a stored step resets its losses to 0 and a suspect no longer blocks
 * other suspects, in milliseconds. A call that kills a process does so within seconds. A run that stores steps earlier
 * makes progress, but its next loss makes it a suspect again.
 */
export const SETTLED_AFTER_MS = 30_000

/** Maximum number of losses of an unsettled run after a step: the next loss makes it a suspect. */
export const MAX_LOSSES_AFTER_STEP = SUSPECT_LOSSES - 1

/** Delay of a suspect in milliseconds; multiplied by (n - 1)² after n losses. */
export const SUSPECT_DELAY_MS = 1_000
