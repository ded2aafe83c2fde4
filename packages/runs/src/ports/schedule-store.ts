/**
 * Schedules, and the times at which they are due.
 *
 * RUNS-SC1 A name has one schedule. A schedule is replaced or deleted only if it is as the caller read it: its revision is
 *    the same.
 * RUNS-SC2 A schedule is due at `dueAt`, by the clock of the store. A claim postpones that to the end of the claim, so that
 *    one process at a time submits the run of a tick. If the process dies, the schedule is due again with the same tick.
 * RUNS-SC3 The end of a tick is recorded, and the next tick set, only if the schedule has the same revision, the same tick and
 *    the same waiting ticks as when it was read.
 * RUNS-SC4 Finding due schedules reads only those, and the one that is due next.
 * RUNS-SC11 A schedule is refused when the maximum number is stored, or when its actor has saved as many of them as still fit.
 *    So one key fills at most half of the room that the others leave.
 */
import type { ScheduleDefinition } from '../domain/schedule.ts'

/** A schedule as it is stored. Instants are milliseconds since 1970. */
export interface ScheduleRecord {
  readonly name: string
  /** Number of changes to the definition, the state and the owner so far. */
  readonly revision: number
  readonly definition: ScheduleDefinition
  /** Whether the configuration of the server defines it. */
  readonly isConfigured: boolean
  readonly isPaused: boolean
  /** Name of the key that saved it last, to which its runs belong. */
  readonly actor?: string
  readonly createdAt: number
  readonly changedAt: number
  /** Time of the next tick, without jitter; absent while it is paused, and when there is none. */
  readonly nextTick?: number
  /** Time at which it is due: the next tick with jitter, a look at the run that ticks wait for, or the end of a claim. */
  readonly dueAt?: number
  /** Earlier ticks that wait until the run of the last one has ended, the earliest first. */
  readonly queued: readonly number[]
  /** The last tick that submitted a run. */
  readonly lastRun?: TickRun
  /** The last tick without a run, if it is later than that of `lastRun`. */
  readonly problem?: TickProblem
}

/** A tick and the run that it submitted. */
export interface TickRun {
  readonly tick: number
  readonly runId: string
}

/** The reason why a tick has no run. */
export interface TickProblem {
  /** Time of the tick. */
  readonly tick: number
  /** Time at which it was recorded. */
  readonly at: number
  /** Error code, or `SKIPPED` for a tick that `catchUp` or `overlap` leaves out. */
  readonly code: string
  readonly message: string
}

/** Fields of a schedule that are written with its definition. */
export type NewSchedule = Pick<
  ScheduleRecord,
  'name' | 'definition' | 'isConfigured' | 'isPaused' | 'actor' | 'nextTick' | 'dueAt' | 'queued'
>

/** The result of a search for ticks to submit. */
export interface DueSchedules {
  readonly schedules: readonly ScheduleRecord[]
  /** Time until the next schedule is due, in milliseconds; Infinity when none will be, 0 when more are due. */
  readonly nextInMs: number
  /** The present, by the clock of the store; 0 while no schedule has a next tick. */
  readonly now: number
}

/** The outcome of a claimed tick, and the tick that follows. */
export interface TickEnd extends Pick<ScheduleRecord, 'nextTick' | 'dueAt' | 'queued'> {
  readonly lastRun?: TickRun
  readonly problem?: TickProblem
}

/** Stores schedules and who may submit their next ticks. */
export interface ScheduleStore {
  /** Returns all schedules, by name. */
  list(): Promise<readonly ScheduleRecord[]>
  /** Returns a schedule; undefined when the name is unknown. */
  get(name: string): Promise<ScheduleRecord | undefined>
  /** Stores a new schedule. Returns false if the name is taken, or if it does not fit (RUNS-SC11). */
  add(schedule: NewSchedule, maxSchedules: number): Promise<boolean>
  /** Replaces a schedule of that revision, and keeps its last run and its problem. Returns whether it did. */
  replace(schedule: NewSchedule, revision: number): Promise<boolean>
  /** Deletes a schedule of that revision. Returns whether it did. */
  delete(name: string, revision: number): Promise<boolean>
  /** Returns up to `limit` schedules that are due, the longest due first. */
  findDue(limit: number): Promise<DueSchedules>
  /** Claims a due schedule for so many milliseconds. Returns false if it was claimed or changed meanwhile. */
  claim(schedule: Omit<ClaimedTick, 'queued'>, claimMs: number): Promise<boolean>
  /**
   * Records the end of a tick, and sets the next. Without a new run or problem, the earlier ones stay. Returns whether it did.
   */
  settle(schedule: Omit<ClaimedTick, 'dueAt'>, end: TickEnd): Promise<boolean>
}

/** Identifies the tick of a schedule. */
export type ClaimedTick = Pick<
  ScheduleRecord,
  'name' | 'revision' | 'nextTick' | 'dueAt' | 'queued'
>
