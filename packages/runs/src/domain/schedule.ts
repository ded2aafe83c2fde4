/** The definition of a schedule. Plain data. */
import type { RequestedRun } from './run-record.ts'
import type { RunPriority, TagMap } from '@tutti/protocol/internal'

/** Ticks that are submitted after an outage: none, one run for the last tick, or every one of the last 100. */
export const CATCH_UPS = ['skip', 'last', 'all'] as const
/** Treatment of ticks that no process could submit within a minute. */
export type CatchUp = (typeof CATCH_UPS)[number]

/** Action of a tick while the run of the last one has not ended. */
export const OVERLAPS = ['allow', 'skip', 'cancel', 'queueOne', 'queueAll'] as const
/**
 * Whether a tick submits its run in addition to the last one, is left out, cancels the last one first, or waits for its end.
 * With `queueOne`, one tick waits, and later ones are left out meanwhile; with `queueAll`, up to 100 wait.
 */
export type Overlap = (typeof OVERLAPS)[number]

/** Maximum number of ticks that wait with `queueAll`. */
export const MAX_QUEUED_TICKS = 100

/** Returns the maximum number of ticks that wait for the run of the last one; 0 if none does. */
export function maxQueuedTicks(overlap?: Overlap): number {
  if (overlap === 'queueOne') return 1
  return overlap === 'queueAll' ? MAX_QUEUED_TICKS : 0
}

/** Submits a run at each tick. Plain data. */
export interface ScheduleDefinition {
  /**
   * Cron expression of five fields, or of six that begin with seconds, or `@daily` and the like. A fixed time that the
   * clock skips in spring has its tick at the first time after the gap; one that occurs twice in autumn has one tick, at
   * the first. Other expressions skip the gap and count both.
   */
  readonly cron: string
  /** Time zone of the expression, by its IANA name. @default 'UTC' */
  readonly timeZone?: string
  /** Submission of each tick. It gets the tags `schedule` and `tick`. */
  readonly run: ScheduledSubmission
  /**
   * Maximum delay of a tick, in milliseconds, up to a day. A tick is due before the next one in any case. Its delay is derived
   * from its time and the name, so that it is the same in every process. @default 0
   */
  readonly jitterMs?: number
  /** Ticks that are submitted after an outage. @default 'last' */
  readonly catchUp?: CatchUp
  /** Action while the run of the last tick has not ended. @default 'allow' */
  readonly overlap?: Overlap
}

/** The submission of each tick. */
export interface ScheduledSubmission extends Pick<
  RequestedRun,
  'tasks' | 'taskOverrides' | 'options' | 'budget' | 'history' | 'clientTools'
> {
  /** Name of the ensemble. @default the first one */
  readonly ensemble?: string
  readonly inputs?: Readonly<Record<string, string>>
  readonly tags?: Readonly<TagMap>
  /** Thread that the runs continue. */
  readonly threadId?: string
  /** Names of its webhooks. */
  readonly webhooks?: readonly string[]
  /** Maximum time from the tick to the start of its work, in milliseconds. @default no limit */
  readonly maxQueueMs?: number
  /** Priority of its runs. @default 'normal' */
  readonly priority?: RunPriority
  /** Key by which its runs take turns with others that wait. @default the actor */
  readonly fairnessKey?: string
}

/** A schedule of the configuration. It replaces a saved one of the same name, and can only be changed there. */
export interface ConfiguredSchedule extends ScheduleDefinition {
  /** 1 to 100 letters, digits, `.`, `_` and `-`. */
  readonly name: string
  /** Whether it has no ticks. @default false */
  readonly paused?: boolean
  /** Name of the key to which its runs belong, with its limits. @default none: the operator */
  readonly actor?: string
}
