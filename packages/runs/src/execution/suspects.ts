/**
 * When a run is suspected of killing the processes that execute it. A process that dies leaves every run it
 * executed without an owner, the guilty one and the innocent ones. The first time all are taken up at once.
 * From the second loss in a row on a run is a suspect: a process executes one suspect at a time, and later
 * after each loss, so that the next loss counts against that run alone.
 */

/** Losses in a row, without getting further, from which on a run is a suspect. */
export const SUSPECT_LOSSES = 2

/**
 * Time that a run must have had its owner until a stored step resets its losses to 0, and a suspect no
 * longer keeps others waiting, in milliseconds. What kills a process does so within seconds of its call. A run
 * that keeps steps before that gets further, but its next loss makes it a suspect again.
 */
export const SETTLED_AFTER_MS = 30_000

/** Losses of an unsettled run after a step: the next loss makes it a suspect. */
export const MOST_LOSSES_AFTER_STEP = SUSPECT_LOSSES - 1

/** A suspect with n losses waits (n - 1)² times as long, in milliseconds. */
export const SUSPECT_DELAY_MS = 1_000
