/** Limits of durable runs and their defaults. */
import { getHeapStatistics } from 'node:v8'

import { findChoiceProblems, silentLogger } from '@tutti/core/internal'
import {
  findExcessProblems,
  MAX_HISTORY_BYTES,
  MAX_HISTORY_MESSAGES,
  maximumOf,
} from '@tutti/protocol/internal'
import { DEFAULT_TEXT_LIMITS, findDefaultsProblems } from '@tutti/ensemble/internal'

import { DEFAULT_TICK_MS } from '../commit/group-commit.ts'
import { steadyClock } from '../domain/steady-clock.ts'

import type { Quota } from '../domain/quota.ts'
import type { ConfiguredSchedule, ScheduledSubmission } from '../domain/schedule.ts'
import type { ActivityListener, ExecutedListener } from './activity.ts'
import type { TraceNewRun } from '../request/new-run.ts'
import type { RunStorage } from '../ports/run-storage.ts'
import type { RedactEvent } from '../commit/redacted-journal.ts'
import type { ReviewRules } from '../request/run-ensembles.ts'
import type { Clock, Logger, ToolCatalog, ToolMetrics } from '@tutti/core'
import type { ModelCatalog, Prices, RunProfiles } from '@tutti/ensemble'
import type { CreateCallbackUrl } from '@tutti/ensemble/internal'

/** Policies of resuming runs of other code. */
export const RESUME_POLICIES = ['strict', 'compatible', 'latest'] as const
/** Policy of resuming runs of other code. */
export type ResumePolicy = (typeof RESUME_POLICIES)[number]

/** Settings of a service, which executes runs and answers requests about them. */
export interface RunServiceOptions {
  /** Id of the build of this process, such as a commit. @default a digest of the codes of all its ensembles */
  readonly buildId?: string
  /**
   * Whether this process continues runs that other code has begun. @default 'strict': only if no task that has begun
   * differs
   */
  readonly resumePolicy?: ResumePolicy
  /** Builds whose runs this process continues in addition. @default [] */
  readonly compatibleBuilds?: readonly string[]
  /**
   * Percentage of new runs that the build of this process gets while older builds live, an integer from 0 to 100. It
   * replaces the present share of the build only if the build started with another one before. @default 100
   */
  readonly buildShare?: number
  /** Whether this process executes runs. Otherwise it only accepts, shows and steers them. @default true */
  readonly executes?: boolean
  /** Maximum number of runs that execute at the same time over all processes, at least 1. @default 5 */
  readonly maxConcurrentRuns?: number
  /** Maximum number of runs that execute at the same time in this process, at least 1. @default maxConcurrentRuns */
  readonly maxRunsPerProcess?: number
  /** Maximum number of runs that wait in the queue; further submits are refused. @default 100 */
  readonly maxQueuedRuns?: number
  /**
   * Maximum number of ended runs to retain; older ones are deleted with their events. Infinity retains all. @default
   * 1000000 in the embedded store, Infinity in Postgres
   */
  readonly maxRetainedRuns?: number
  /** Time for which ended runs are retained, in milliseconds. @default no limit */
  readonly maxRetainedAgeMs?: number
  /**
   * Time for which the steps of ended runs are retained, in milliseconds, at least 60000. Without its steps, a run
   * cannot be forked or replayed. @default as long as the run
   */
  readonly maxRetainedStepsMs?: number
  /**
   * Maximum number of stored events that nothing waits for; further ones are refused. One sender can fill half of the room that
   * the others leave. @default 10000
   */
  readonly maxStoredEvents?: number
  /** Time for which external events are stored, in milliseconds. @default 604800000, which is 7 days */
  readonly maxStoredEventAgeMs?: number
  /** Maximum number of earlier runs of its thread whose messages a run gets. @default 100 */
  readonly maxHistoryRuns?: number
  /** Maximum size of those messages, in bytes of JSON. @default 200000 */
  readonly maxHistoryBytes?: number
  /** Maximum time that tokens wait to be written together, in milliseconds. @default 25 */
  readonly tickMs?: number
  /**
   * Time without a heartbeat after which other processes take over the runs of this one, in milliseconds, at least
   * 1000. No effect on a store that is not shared. @default 10000
   */
  readonly leaseMs?: number
  /** Interval between polls for due runs, in addition to notifications of the store, in milliseconds. @default 1000 */
  readonly pollMs?: number
  /** Retention in memory of a run that waits for a person, in milliseconds. @default 1000 */
  readonly parkAfterMs?: number
  /**
   * Maximum number of times in a row that a run may lose its process without progress; it fails after one more with
   * PROCESS_LOST. @default 3
   */
  readonly maxLostOwners?: number
  /** Maximum size of the names and values of all inputs of a run, in bytes. @default 1000000 */
  readonly maxInputBytes?: number
  /** Maximum size of one text of a task with its inputs, in bytes. @default 2000000 */
  readonly maxTextBytes?: number
  /** Maximum size of all texts of the tasks of a run with their inputs, in bytes. @default 8000000 */
  readonly maxRunTextBytes?: number
  /** Review defaults of every ensemble, and whether requests may relax reviews. */
  readonly reviews?: ReviewRules
  /** Maximum size of one event, in bytes. A run with a larger event fails with RUN_TOO_LARGE. @default 16000000 */
  readonly maxEventBytes?: number
  /**
   * Maximum size of the events and steps stored while one process executes a run, in bytes, and of the steps that
   * another process reads to continue it. A larger run fails with RUN_TOO_LARGE. @default 64000000
   */
  readonly maxStoredRunBytes?: number
  /**
   * Maximum number of bytes in flight in this process: bodies of requests and messages, waiting reads, answers, and
   * inputs of runs that execute. Requests above it are refused with OVERLOADED; one key gets at most half.
   * @default 1/16 of V8's heap limit
   */
  readonly maxBytesInFlight?: number
  /** Tools that requests may name. */
  readonly tools?: ToolCatalog
  /** Models that requests and switches may name. */
  readonly models?: ModelCatalog
  /** Profiles that directives may apply to runs, by name. @default {} */
  readonly profiles?: RunProfiles
  /** Prices of models. */
  readonly prices?: Prices
  /** Removes sensitive data from events before they are stored. @default removes nothing */
  readonly redact?: RedactEvent
  /** Counts the tool calls of runs. @default they are not counted */
  readonly toolMetrics?: ToolMetrics
  /**
   * Schedules that this process stores when it starts; stored ones that it stored before and lacks are deleted.
   * @default stored ones stay
   */
  readonly schedules?: readonly ConfiguredSchedule[]
  /** Decides whether an actor may submit the runs of schedules; called at each tick. @default every actor may */
  readonly authorizeSchedule?: AuthorizeSchedule
  /** Called with the events of the runs that this process executes. Errors are logged. @default [] */
  readonly onExecuted?: readonly ExecutedListener[]
  /** Called with activity of runs in this process that is not an event. Errors are logged. @default [] */
  readonly onActivity?: readonly ActivityListener[]
  /** Returns the trace that a new run belongs to; it is stored with the run. @default the caller's trace */
  readonly traceNewRun?: TraceNewRun
  /**
   * Creates the URLs of `callbackUrl` of handlers, as `createCallbackUrls` of `@tutti/control-api`.
   * @default handlers cannot ask for any
   */
  readonly callbackUrl?: CreateCallbackUrl
  /** Clock of runs. @default that of the store, so that processes that share it agree */
  readonly clock?: Clock
  readonly logger?: Logger
}

/**
 * Returns the quota of an actor whose schedule has a tick; undefined for no limit. The actor is undefined for a
 * schedule that was saved without a key.
 *
 * @throws {TuttiError} FORBIDDEN when it may not submit that run.
 */
export type AuthorizeSchedule = (
  actor: string | undefined,
  run: ScheduledSubmission,
) => Promise<Quota | undefined>

/** {@link RunServiceOptions} with every value present. */
export type ResolvedRunServiceOptions = Required<
  Omit<
    RunServiceOptions,
    | 'buildId'
    | 'tools'
    | 'models'
    | 'prices'
    | 'toolMetrics'
    | 'traceNewRun'
    | 'callbackUrl'
    | 'schedules'
    | 'authorizeSchedule'
  >
> & {
  readonly schedules: readonly ConfiguredSchedule[] | undefined
  readonly authorizeSchedule: AuthorizeSchedule | undefined
  readonly buildId: string | undefined
  readonly tools: ToolCatalog | undefined
  readonly models: ModelCatalog | undefined
  readonly prices: Prices | undefined
  readonly toolMetrics: ToolMetrics | undefined
  readonly traceNewRun: TraceNewRun | undefined
  readonly callbackUrl: CreateCallbackUrl | undefined
}

/**
 * Part of the heap limit that bytes in flight may take by default. A byte of a body is held several times: as it came, as
 * text, as a value, in the record, in an event, and as JSON for the store.
 */
const HEAP_PART = 1 / 16

const DEFAULTS = {
  executes: true,
  buildShare: 100,
  // Enough to use a provider well, and few enough to notice a mistake in time.
  maxConcurrentRuns: 5,
  // A burst of submits is accepted; a flood is refused.
  maxQueuedRuns: 100,
  // History is deleted for its age only when the operator sets a limit.
  maxRetainedAgeMs: Infinity,
  maxRetainedStepsMs: Infinity,
  // Senders that run ahead of the runs that they are for; at most 2.6 GB.
  maxStoredEvents: 10_000,
  // Longer than a sender repeats an event, and than a run usually takes to wait for it.
  maxStoredEventAgeMs: 604_800_000,
  // About 50,000 tokens: a long conversation that leaves room for work in the context of any current model.
  maxHistoryRuns: 100,
  maxHistoryBytes: 200_000,
  tickMs: DEFAULT_TICK_MS,
  // Far longer than a pause of the garbage collector or of a busy machine; a person hardly notices it.
  leaseMs: 10_000,
  // Finds runs that no notification announces: those with an expired lease or time limit.
  pollMs: 1_000,
  // Software that answers reviews takes less. To resume a parked run takes milliseconds.
  parkAfterMs: 1_000,
  // After the first loss all runs of the process are resumed at once, after further losses one by one.
  maxLostOwners: 3,
  // A thousand model turns of a few pages each; read in well under a second.
  maxStoredRunBytes: 64_000_000,
  // Twice all texts of a run: the first event of a run contains them all.
  maxEventBytes: 16_000_000,
  maxBytesInFlight: Math.floor(getHeapStatistics().heap_size_limit * HEAP_PART),
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
  /** @default the maximum of its unit */
  readonly most?: number
  /** Whether Infinity is allowed. */
  readonly mayBeInfinite?: boolean
}

/** The bounds of each limit; counts are integers. */
const LEAST: Readonly<Record<keyof Limits, Bound>> = {
  buildShare: { least: 0, whole: true, most: 100 },
  maxConcurrentRuns: { least: 1, whole: true },
  maxRunsPerProcess: { least: 1, whole: true },
  maxQueuedRuns: { least: 0, whole: true },
  maxRetainedRuns: { least: 0, whole: true, mayBeInfinite: true },
  maxRetainedAgeMs: { least: 0, whole: false, mayBeInfinite: true },
  // A search for ended runs looks back for less time than this, and so misses none.
  maxRetainedStepsMs: { least: 60_000, whole: false, mayBeInfinite: true },
  maxStoredEvents: { least: 0, whole: true },
  maxStoredEventAgeMs: { least: 0, whole: false, mayBeInfinite: true },
  maxHistoryRuns: { least: 0, whole: true, most: MAX_HISTORY_MESSAGES / 2 },
  maxHistoryBytes: { least: 0, whole: true, most: MAX_HISTORY_BYTES },
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
  maxBytesInFlight: { least: 1, whole: true },
}

/**
 * Returns a problem for each limit of the run service that is out of range; other and undefined properties are ignored.
 */
export function findRunLimitProblems(limits: object): readonly string[] {
  const values = new Map<string, unknown>(Object.entries(limits))
  return Object.entries(LEAST).flatMap(([name, bound]) => {
    const { least, most = maximumOf(name), whole, mayBeInfinite = false } = bound
    const value = values.get(name)
    if (value === undefined || (mayBeInfinite && value === Infinity)) return []
    const isInRange = typeof value === 'number' && value >= least && value <= most
    if (isInRange && (!whole || Number.isInteger(value))) return []
    const kind = whole ? 'an integer' : 'a number'
    const orInfinity = mayBeInfinite ? ', or Infinity' : ''
    const got = typeof value === 'number' ? value : JSON.stringify(value)
    return [`${name} must be ${kind} >= ${least} and <= ${most}${orInfinity}, got ${got}`]
  })
}

/** Whether the run service has a limit of this name, which `findRunLimitProblems` checks. */
export function isRunLimit(name: string): boolean {
  return Object.hasOwn(LEAST, name)
}

/** Number of ended runs that the embedded store retains by default: about 10 GB of runs without long texts. */
const RETAINED_BY_EMBEDDED_STORE = 1_000_000

/**
 * Returns the default of `maxRetainedRuns`. A database that processes share has an operator; the file of the embedded
 * store would otherwise grow until the disk is full.
 */
export function defaultRetainedRuns(isShared: boolean): number {
  return isShared ? Infinity : RETAINED_BY_EMBEDDED_STORE
}

/** Properties of the embedded store on which defaults depend. */
const EMBEDDED = { isShared: false, clock: steadyClock } as const

/**
 * Fills in defaults and validates options. Some defaults are those of the store.
 *
 * @throws {RangeError} naming every value that is out of range.
 */
export function resolveRunServiceOptions(
  options: RunServiceOptions,
  { isShared, clock }: Pick<RunStorage, 'isShared' | 'clock'> = EMBEDDED,
): ResolvedRunServiceOptions {
  const filled = {
    clock,
    logger: silentLogger,
    buildId: undefined,
    resumePolicy: 'strict' as const,
    compatibleBuilds: [],
    tools: undefined,
    models: undefined,
    profiles: {},
    prices: undefined,
    redact: unchanged,
    toolMetrics: undefined,
    traceNewRun: undefined,
    callbackUrl: undefined,
    schedules: undefined,
    authorizeSchedule: undefined,
    reviews: {},
    onExecuted: [],
    onActivity: [],
    ...DEFAULTS,
    maxRetainedRuns: defaultRetainedRuns(isShared),
    ...options,
  }
  const resolved = { maxRunsPerProcess: filled.maxConcurrentRuns, ...filled }
  const problems = [
    // A default is reported under the name of the option that it is taken from.
    ...findRunLimitProblems({ ...resolved, maxRunsPerProcess: options.maxRunsPerProcess }),
    ...findChoiceProblems('resumePolicy', resolved.resumePolicy, RESUME_POLICIES),
    ...findDefaultsProblems('reviews', resolved.reviews),
    ...findExcessProblems(resolved.reviews, 'reviews'),
  ]
  if (problems.length > 0) throw new RangeError(`Cannot start runs: ${problems.join('; ')}`)
  return resolved
}
