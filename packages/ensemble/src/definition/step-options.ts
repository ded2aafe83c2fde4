/** Options of steps, and their checks. */
import { findOptionProblems, type OptionNames } from '@tutti/core/internal'

/** Delays before retries. */
export interface BackoffSettings {
  /** Delay before the first retry, in milliseconds, at least 0; it doubles with each retry. @default 500 */
  readonly firstDelayMs?: number
  /** Maximum delay, in milliseconds, at least 0. @default 8000 */
  readonly maxDelayMs?: number
}

/** Retries and time limit of a step. */
export interface StepOptions {
  /** Maximum number of retries after a failed try, at least 0. @default 0 */
  readonly retries?: number
  /** Delays before retries, each less up to a quarter at random. */
  readonly backoff?: BackoffSettings
  /** Time limit of each try in milliseconds, more than 0. @default no limit */
  readonly timeoutMs?: number
}

const STEP_NAMES = {
  retries: true,
  backoff: true,
  timeoutMs: true,
} as const satisfies OptionNames<StepOptions>

const BACKOFF_NAMES = {
  firstDelayMs: true,
  maxDelayMs: true,
} as const satisfies OptionNames<BackoffSettings>

/** Returns the problems of the options of a step, one text each; empty if they are valid. */
export function findStepProblems(options: StepOptions): readonly string[] {
  const { retries = 0, backoff = {}, timeoutMs = 1 } = options
  return [
    ...findOptionProblems(options, STEP_NAMES),
    ...findOptionProblems(backoff, BACKOFF_NAMES, 'backoff'),
    ...(Number.isInteger(retries) && retries >= 0
      ? []
      : [`retries must be an integer >= 0, got ${retries}`]),
    ...(timeoutMs > 0 ? [] : [`timeoutMs must be > 0, got ${timeoutMs}`]),
    ...Object.entries(backoff).flatMap(([name, value]) =>
      value >= 0 && value < Infinity ? [] : [`backoff.${name} must be >= 0, got ${value}`],
    ),
  ]
}
