/**
 * Chooses the load of the steady phase from what the fleet could do when it started its runs as fast as it could. The
 * test says what is carried with room to spare; an overloaded machine would only measure itself. Pure.
 */

/** Load of the steady phase. */
export interface SteadyLoad {
  /** Submitted runs per second, in addition to those that are owned from the start. */
  readonly runsPerSecond: number
  /** Text deltas per second of all owned runs. */
  readonly wordsPerSecond: number
}

/** Part of the capacity that runs, and that text deltas, use. */
const RUNS_SHARE = 0.25
const WORDS_SHARE = 0.25

/**
 * Costs relative to the start of a run that is held, which is submitted, claimed and written to three times. A run of
 * chaos has four tasks with tool calls, and readers. A text delta is one write.
 */
const RUN_COST = 10
const WORD_COST = 1 / 3

/** More than this is not needed, and less ends too few runs to judge; per second. */
const MAX_RUNS = 4
const MIN_RUNS = 0.5

/** Returns the load for a fleet that started this many held runs per second. */
export function chooseLoad(startedPerSecond: number): SteadyLoad {
  const runs = (RUNS_SHARE * startedPerSecond) / RUN_COST
  return {
    runsPerSecond: Math.min(Math.max(runs, MIN_RUNS), MAX_RUNS),
    wordsPerSecond: (WORDS_SHARE * startedPerSecond) / WORD_COST,
  }
}

/** Times of the test, in milliseconds. */
export interface SteadyTimes {
  /** Time until the whole test should end. */
  readonly remainingMs: number
  /** Number of owned runs, which end after the steady phase. */
  readonly owned: number
  readonly startedPerSecond: number
  /** Longest and shortest duration of the steady phase. */
  readonly mostMs: number
  readonly leastMs: number
}

/** Time for the end of the processes and for the judge, in milliseconds. */
const JUDGE_MS = 45_000

/** Returns the duration of the steady phase, and the time limit until all runs have ended, in milliseconds. */
export function chooseDuration({
  remainingMs,
  owned,
  startedPerSecond,
  mostMs,
  leastMs,
}: SteadyTimes): { readonly steadyMs: number; readonly limitMs: number } {
  // A run ends with less work than it starts with, but after a takeover of many there is more to do.
  const endsMs = JUDGE_MS + (1_000 * owned) / startedPerSecond
  const steadyMs = Math.min(Math.max(remainingMs - endsMs - JUDGE_MS, leastMs), mostMs)
  return { steadyMs, limitMs: steadyMs + 2 * endsMs }
}
