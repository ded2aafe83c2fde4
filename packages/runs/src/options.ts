/** Limits of durable runs and their defaults. */
import {
  silentLogger,
  systemClock,
  type Clock,
  type Logger,
  type ToolCatalog,
  type ToolMetrics,
} from '@tutti/core'
import { DEFAULT_TEXT_LIMITS, findDefaultsProblems } from '@tutti/ensemble'

import { DEFAULT_TICK_MS } from './commit/group-commit.ts'

import type { ActivityListener, ExecutedListener } from './execution/activity.ts'
import type { TraceNewRun } from './execution/new-run.ts'
import type { RedactEvent } from './commit/redacted-journal.ts'
import type { ReviewRules } from './execution/run-ensembles.ts'
import type { ModelCatalog, Prices, RunProfiles } from '@tutti/ensemble'

/** How a run service behaves. */
export interface RunServiceOptions {
  /** Whether this process executes runs; one that does not takes them in and tells of them. @default true */
  readonly executes?: boolean
  /** Runs executing at the same time over all processes, at least 1. @default 5 */
  readonly maxConcurrentRuns?: number
  /** Runs executing at the same time in this process, at least 1. @default maxConcurrentRuns */
  readonly maxRunsPerProcess?: number
  /** Runs waiting for their turn; one more is refused. 0 lets none wait. @default 100 */
  readonly maxQueuedRuns?: number
  /** Ended runs that are retained; older ones are deleted with their events. @default Infinity */
  readonly maxRetainedRuns?: number
  /** How long runs are kept after they have ended, in milliseconds. @default without end */
  readonly maxRetainedAgeMs?: number
  /** How long tokens may wait to be written together, in milliseconds. @default 25 */
  readonly tickMs?: number
  /**
   * After what time without a sign of life other processes take the runs of this one over, in
   * milliseconds, at least 1000. Without effect on a store that only this process has. @default 10000
   */
  readonly leaseMs?: number
  /** How often due runs are looked for besides the notices of the store, in milliseconds. @default 1000 */
  readonly pollMs?: number
  /** How long a run that waits for a person stays in memory, in milliseconds. @default 1000 */
  readonly parkAfterMs?: number
  /**
   * Maximum number of times in a row that a run may lose its process without progress; it fails after one more with
   * PROCESS_LOST. @default 3
   */
  readonly maxLostOwners?: number
  /** Names and values of all inputs of a run, in bytes. @default 1000000 */
  readonly maxInputBytes?: number
  /** One text of a task with its inputs, in bytes. @default 2000000 */
  readonly maxTextBytes?: number
  /** All texts of the tasks of a run with their inputs, in bytes. @default 8000000 */
  readonly maxRunTextBytes?: number
  /** Review defaults of every ensemble, and whether requests may relax reviews. */
  readonly reviews?: ReviewRules
  /** One event of a run, in bytes; a run with a larger one fails with RUN_TOO_LARGE. @default 16000000 */
  readonly maxEventBytes?: number
  /**
   * Maximum size of the events and steps stored while one process executes a run, in bytes, and of the steps that
   * another process reads to continue it. A larger run fails with RUN_TOO_LARGE. @default 64000000
   */
  readonly maxStoredRunBytes?: number
  /** Tools that requests may name. */
  readonly tools?: ToolCatalog
  /** Models that requests and switches may name. */
  readonly models?: ModelCatalog
  /** Profiles that directives may apply to runs, by name. @default {} */
  readonly profiles?: RunProfiles
  /** What models cost. */
  readonly prices?: Prices
  /** Takes out of events what nobody is to read, before they are kept. @default nothing is taken out */
  readonly redact?: RedactEvent
  /** Where the tool calls of runs are counted. @default nowhere */
  readonly toolMetrics?: ToolMetrics
  /** Told of the events of the runs that this process executes. What one throws is logged. @default [] */
  readonly onExecuted?: readonly ExecutedListener[]
  /** Told of what runs do here that is no event. What one throws is logged. @default [] */
  readonly onActivity?: readonly ActivityListener[]
  /** Says which trace each new run belongs to; kept with it. @default that of whoever asks for it */
  readonly traceNewRun?: TraceNewRun
  readonly clock?: Clock
  readonly logger?: Logger
}

/** The same with every value present. */
export type ResolvedRunServiceOptions = Required<
  Omit<RunServiceOptions, 'tools' | 'models' | 'prices' | 'toolMetrics' | 'traceNewRun'>
> & {
  readonly tools: ToolCatalog | undefined
  readonly models: ModelCatalog | undefined
  readonly prices: Prices | undefined
  readonly toolMetrics: ToolMetrics | undefined
  readonly traceNewRun: TraceNewRun | undefined
}

const DEFAULTS = {
  executes: true,
  // As AgentEnsemble: enough to use a provider well, few enough to notice a mistake in time.
  maxConcurrentRuns: 5,
  // A burst of submits is taken; a flood is told to come back.
  maxQueuedRuns: 100,
  // History is deleted only where the operator says so.
  maxRetainedRuns: Infinity,
  maxRetainedAgeMs: Infinity,
  tickMs: DEFAULT_TICK_MS,
  // A pause of the garbage collector or of a busy machine stays far below; a person hardly notices.
  leaseMs: 10_000,
  // Catches what no notice tells: leases that are over, waits that are over.
  pollMs: 1_000,
  // A program that answers reviews does so in less; taking a run up again takes milliseconds.
  parkAfterMs: 1_000,
  // The first time all runs of the process are taken up at once, from then on one by one.
  maxLostOwners: 3,
  // A thousand model turns of some pages each; read in well under a second.
  maxStoredRunBytes: 64_000_000,
  // All texts of a run twice: the start of a run shows them all.
  maxEventBytes: 16_000_000,
  ...DEFAULT_TEXT_LIMITS,
} as const

const unchanged: RedactEvent = (event) => event

type Limits = Pick<
  ResolvedRunServiceOptions,
  {
    [K in keyof ResolvedRunServiceOptions]: ResolvedRunServiceOptions[K] extends number ? K : never
  }[keyof ResolvedRunServiceOptions]
>

interface Bound {
  readonly least: number
  readonly whole: boolean
  /** Whether Infinity is a value, too. */
  readonly mayBeInfinite?: boolean
}

/** The least value of each limit; counts are whole numbers. */
const LEAST: Readonly<Record<keyof Limits, Bound>> = {
  maxConcurrentRuns: { least: 1, whole: true },
  maxRunsPerProcess: { least: 1, whole: true },
  maxQueuedRuns: { least: 0, whole: true },
  maxRetainedRuns: { least: 0, whole: true, mayBeInfinite: true },
  maxRetainedAgeMs: { least: 0, whole: false },
  tickMs: { least: 0, whole: false },
  leaseMs: { least: 1_000, whole: false },
  pollMs: { least: 10, whole: false },
  parkAfterMs: { least: 0, whole: false },
  maxLostOwners: { least: 0, whole: true },
  maxInputBytes: { least: 0, whole: true },
  maxTextBytes: { least: 1, whole: true },
  maxRunTextBytes: { least: 1, whole: true },
  maxStoredRunBytes: { least: 1, whole: true },
  maxEventBytes: { least: 1, whole: true },
}

/**
 * Fills and checks options.
 *
 * @throws {RangeError} naming every value that is out of range.
 */
export function resolveRunServiceOptions(options: RunServiceOptions): ResolvedRunServiceOptions {
  const filled = {
    clock: systemClock,
    logger: silentLogger,
    tools: undefined,
    models: undefined,
    profiles: {},
    prices: undefined,
    redact: unchanged,
    toolMetrics: undefined,
    traceNewRun: undefined,
    reviews: {},
    onExecuted: [],
    onActivity: [],
    ...DEFAULTS,
    ...options,
  }
  const resolved = { maxRunsPerProcess: filled.maxConcurrentRuns, ...filled }
  const outOfRange = Object.entries(LEAST).flatMap(([name, bound]) => {
    const { least, whole, mayBeInfinite = false } = bound
    // NOTE: the keys of the table are names of numbers.
    const value = resolved[name as keyof Limits]
    // What was not given is told under the name of what it is taken from.
    if (name === 'maxRunsPerProcess' && options.maxRunsPerProcess === undefined) return []
    if (mayBeInfinite && value === Infinity) return []
    if (value >= least && (!whole || Number.isInteger(value))) return []
    return [`${name} must be ${whole ? 'an integer' : 'a number'} >= ${least}, got ${value}`]
  })
  const problems = [...outOfRange, ...findDefaultsProblems('reviews', resolved.reviews)]
  if (problems.length > 0) throw new RangeError(`Cannot start runs: ${problems.join('; ')}`)
  return resolved
}
