/** Schedules: submissions that are repeated at the ticks of a cron expression. */
import Type from 'typebox'
import { CLOSED, DurationMs, Instant, JsonObject, NonBlank } from '../scalars.ts'
import { queueFields, submitRunFields } from './submit-run.ts'

import type { Static } from '../../static.ts'

/** Maximum jitter of a schedule, in milliseconds: a day. */
export const MAX_JITTER_MS = 24 * 3_600_000

/** Maximum number of next ticks in a response. */
const MAX_NEXT_TICKS = 100

const {
  ensemble,
  inputs,
  tasks,
  taskOverrides,
  options,
  budget,
  tags,
  history,
  clientTools,
  threadId,
  webhooks,
} = submitRunFields

/** Ticks that are submitted after an outage: none, the last one, or every one of the last 100. */
const CatchUp = Type.Enum(['skip', 'last', 'all'])

/** Action of a tick while the run of the last one has not ended; with `queueOne` and `queueAll`, it waits. */
const Overlap = Type.Enum(['allow', 'skip', 'cancel', 'queueOne', 'queueAll'])

/** Submission of each tick of a schedule. */
const ScheduledRunBody = Type.Object(
  {
    ensemble,
    inputs,
    tasks,
    taskOverrides,
    options,
    budget,
    tags,
    history,
    clientTools,
    threadId,
    webhooks,
    ...queueFields,
  },
  CLOSED,
)

const scheduleFields = {
  /** Cron expression of five fields, or of six that begin with seconds, or `@daily` and the like. */
  cron: NonBlank,
  /** Time zone of the expression, by its IANA name; UTC when absent. */
  timeZone: Type.Optional(NonBlank),
  /** Submission of each tick. Its run has the tags `schedule` and `tick` in addition. */
  run: ScheduledRunBody,
  /**
   * Maximum delay of a tick in milliseconds, up to a day and to the next tick, derived from its time and the name; 0 when
   * absent.
   */
  jitterMs: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_JITTER_MS })),
  /** Ticks that no process could submit within a minute, and that are submitted later; `last` when absent. */
  catchUp: Type.Optional(CatchUp),
  /**
   * Action while the run of the last tick has not ended: `allow` another run, `skip` the tick, `cancel` that run, `queueOne` tick
   * until it ends, or `queueAll`, up to 100; `allow` when absent.
   */
  overlap: Type.Optional(Overlap),
  /** Whether the schedule has no ticks until it is resumed; false when absent. */
  paused: Type.Optional(Type.Boolean()),
}

/** Body of `POST /api/schedules`. */
export const CreateScheduleBody = Type.Object(
  {
    /** Name of the schedule: 1 to 100 letters, digits, `.`, `_` and `-`. */
    name: NonBlank,
    ...scheduleFields,
  },
  CLOSED,
)
export type CreateScheduleBody = Static<typeof CreateScheduleBody>

/** Body of `POST /api/schedules/{name}`: the complete definition. */
export const ReplaceScheduleBody = Type.Object(scheduleFields, CLOSED)
export type ReplaceScheduleBody = Static<typeof ReplaceScheduleBody>

/** Query of `GET /api/schedules/{name}`. */
export const ScheduleQuery = Type.Object(
  {
    /** Maximum number of next ticks; 5 when absent. */
    next: Type.Optional(Type.Integer({ minimum: 0, maximum: MAX_NEXT_TICKS })),
  },
  CLOSED,
)
export type ScheduleQuery = Static<typeof ScheduleQuery>

/** Schedule, as listed. */
export const ScheduleSummary = Type.Object({
  name: Type.String(),
  cron: Type.String(),
  /** Time zone of the expression. */
  timeZone: Type.String(),
  /** Name of the ensemble; absent for the first one. */
  ensemble: Type.Optional(Type.String()),
  /** Maximum delay of a tick in milliseconds. */
  jitterMs: DurationMs,
  catchUp: CatchUp,
  overlap: Overlap,
  /** Whether the schedule has no ticks until it is resumed. */
  paused: Type.Boolean(),
  /** Whether the configuration of the server defines it, so that it cannot be changed here. */
  readOnly: Type.Boolean(),
  /** Name of the key that saved it last, to which its runs belong. */
  savedBy: Type.Optional(Type.String()),
  createdAt: Instant,
  updatedAt: Instant,
  /** Times of the next ticks, without jitter; empty while it is paused. */
  next: Type.Array(Instant),
  /** Times of earlier ticks that wait until the run of the last one has ended. */
  queued: Type.Array(Instant),
  /** The last tick that submitted a run. */
  lastRun: Type.Optional(Type.Object({ tick: Instant, runId: Type.String() })),
  /** The last tick without a run, if it is later than `lastRun`, and the reason. */
  problem: Type.Optional(
    Type.Object({
      tick: Instant,
      /** Time at which the tick was refused or left out. */
      at: Instant,
      /** Error code, or `SKIPPED` for a tick that `catchUp` or `overlap` leaves out. */
      code: Type.String(),
      message: Type.String(),
    }),
  ),
})
export type ScheduleSummary = Static<typeof ScheduleSummary>

/** Schedule with the submission of its ticks. */
export const ScheduleDetail = Type.Object({
  ...ScheduleSummary.properties,
  /** Submission of each tick, as it was saved. */
  run: JsonObject,
})
export type ScheduleDetail = Static<typeof ScheduleDetail>

/** Response of `GET /api/schedules`: all schedules, by name. */
export const ScheduleList = Type.Object({ schedules: Type.Array(ScheduleSummary) })
export type ScheduleList = Static<typeof ScheduleList>
