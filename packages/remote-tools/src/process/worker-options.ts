/** Options of the pool of a worker tool, with their defaults and checks. */

import { findOptionProblems, MAX_TIMER_MS, type OptionNames } from '@tutti/core/internal'

/** Options of the pool of programs of a tool in worker mode. */
export interface WorkerOptions {
  /** Maximum number of programs that run at the same time, without those that are ending. @default 1 */
  readonly size?: number
  /** Maximum number of concurrent calls per program; above 1, the program must answer by id. @default 1 */
  readonly concurrency?: number
  /** Number of calls after which a program is replaced. @default Infinity */
  readonly maxCallsPerWorker?: number
  /** Time after which an idle program is ended, in milliseconds; Infinity means never. @default 60000 */
  readonly idleTimeoutMs?: number
  /**
   * Number of consecutive failures, without an answer in between, after which calls fail immediately for 30 s instead of
   * restarting the program. Until then, the delay before each restart grows. @default 5
   */
  readonly maxRestarts?: number
  /**
   * Time limit for the program to send `{"ready":true}`, in milliseconds; it gets no call before.
   * @default programs are ready as soon as they are started
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

/** {@link WorkerOptions} with their defaults. */
export interface ResolvedWorkerOptions extends Required<Omit<WorkerOptions, 'startTimeoutMs'>> {
  readonly startTimeoutMs: number | undefined
}

/** After a minute without calls, the conversation that used the tool is probably over. */
const DEFAULT_IDLE_TIMEOUT_MS = 60_000

/** With the delays in between, about two seconds of attempts. */
const DEFAULT_MAX_RESTARTS = 5

/** Fills in the defaults of valid options. */
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

/** Returns every problem of the options. */
export function findWorkerProblems(options: WorkerOptions): readonly string[] {
  const { size = 1, concurrency = 1, maxCallsPerWorker = 1, maxRestarts = 0 } = options
  const { idleTimeoutMs = 1, startTimeoutMs = 1 } = options
  return [
    ...findOptionProblems(options, WORKER_OPTION_NAMES, 'worker'),
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
      .filter(([, time]) => !(time > 0 && (time <= MAX_TIMER_MS || time === Infinity)))
      .map(
        ([name, time]) =>
          `worker.${name} must be > 0 and <= ${MAX_TIMER_MS}, or Infinity, got ${time}`,
      ),
  ]
}

function isCount(value: number, least: number): boolean {
  return Number.isInteger(value) && value >= least
}
