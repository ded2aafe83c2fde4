/** How many programs a worker tool keeps, and for how long. */

import { findUnknownOptions, type OptionNames } from '@tutti/core'

/** The pool of programs of a tool in worker mode. */
export interface WorkerOptions {
  /** Programs kept at the same time, at most; those that are being ended are not counted. @default 1 */
  readonly size?: number
  /** Calls that one program works on at the same time; above 1 it must answer by id. @default 1 */
  readonly concurrency?: number
  /** Calls after which a program is ended and another takes its place. @default Infinity */
  readonly maxCallsPerWorker?: number
  /** How long a program without work is kept, in milliseconds; Infinity is for ever. @default 60000 */
  readonly idleTimeoutMs?: number
  /**
   * Failures in a row, with no answer between them, after which calls fail at once for a while instead
   * of starting the program once more. Before that, each start waits longer. @default 5
   */
  readonly maxRestarts?: number
  /**
   * When given, a program says `{"ready":true}` before it gets its first call, and has so many
   * milliseconds for it. @default programs are ready when they are started
   */
  readonly startTimeoutMs?: number
}

const WORKER_OPTION_NAMES = {
  size: true,
  concurrency: true,
  maxCallsPerWorker: true,
  idleTimeoutMs: true,
  maxRestarts: true,
  startTimeoutMs: true,
} as const satisfies OptionNames<WorkerOptions>

/** {@link WorkerOptions} with every default filled in. */
export interface ResolvedWorkerOptions extends Required<Omit<WorkerOptions, 'startTimeoutMs'>> {
  readonly startTimeoutMs: number | undefined
}

/** A minute without work: the conversation that used the tool is over. */
const DEFAULT_IDLE_TIMEOUT_MS = 60_000

/** With the waits between them, about two seconds of trying. */
const DEFAULT_MAX_RESTARTS = 5

/** Beyond this, the timers of Node fire at once. */
const LONGEST_TIMER_MS = 2_147_483_647

/** Fills in the defaults of options that were checked. */
export function resolveWorkerOptions(options: WorkerOptions = {}): ResolvedWorkerOptions {
  return {
    size: options.size ?? 1,
    concurrency: options.concurrency ?? 1,
    maxCallsPerWorker: options.maxCallsPerWorker ?? Infinity,
    idleTimeoutMs: options.idleTimeoutMs ?? DEFAULT_IDLE_TIMEOUT_MS,
    maxRestarts: options.maxRestarts ?? DEFAULT_MAX_RESTARTS,
    startTimeoutMs: options.startTimeoutMs === Infinity ? undefined : options.startTimeoutMs,
  }
}

/** Everything that is wrong with the options. */
export function workerProblems(options: WorkerOptions): readonly string[] {
  const { size = 1, concurrency = 1, maxCallsPerWorker = 1, maxRestarts = 0 } = options
  const { idleTimeoutMs = 1, startTimeoutMs = 1 } = options
  return [
    ...findUnknownOptions(options, WORKER_OPTION_NAMES, 'worker'),
    ...Object.entries({ size, concurrency })
      .filter(([, bound]) => !isCount(bound, 1))
      .map(([name, bound]) => `worker.${name} must be an integer >= 1, got ${bound}`),
    ...Object.entries({ maxCallsPerWorker: [maxCallsPerWorker, 1], maxRestarts: [maxRestarts, 0] })
      .filter(([, [bound = 0, least = 0]]) => bound !== Infinity && !isCount(bound, least))
      .map(
        ([name, [bound, least]]) =>
          `worker.${name} must be an integer >= ${least} or Infinity, got ${bound}`,
      ),
    ...Object.entries({ idleTimeoutMs, startTimeoutMs })
      .filter(([, time]) => !(time > 0 && (time <= LONGEST_TIMER_MS || time === Infinity)))
      .map(
        ([name, time]) =>
          `worker.${name} must be > 0 and <= ${LONGEST_TIMER_MS}, or Infinity, got ${time}`,
      ),
  ]
}

function isCount(value: number, least: number): boolean {
  return Number.isInteger(value) && value >= least
}
