/** Converts schedules between the store and the wire. Pure. */
import type { ScheduleDetail } from '@tutti/protocol'
import type { ReplaceScheduleBody, ScheduleSummary } from '@tutti/protocol/internal'
import type { ScheduleRecord } from '@tutti/runs/adapter'
import type { SavedSchedule } from '@tutti/runs/internal'

/** Returns the schedule that a body defines. */
export function toSavedSchedule(
  name: string,
  { paused = false, ...definition }: ReplaceScheduleBody,
  actor: Pick<SavedSchedule, 'actor'>,
): SavedSchedule {
  return { name, definition, isPaused: paused, ...actor }
}

/** Converts a schedule to an entry of the list. */
export function toScheduleSummary(
  schedule: ScheduleRecord,
  next: readonly number[],
): ScheduleSummary {
  const { name, definition, actor, lastRun, problem } = schedule
  const { cron, timeZone = 'UTC', run, jitterMs = 0 } = definition
  const { catchUp = 'last', overlap = 'allow' } = definition
  return {
    name,
    cron,
    timeZone,
    ...(run.ensemble === undefined ? {} : { ensemble: run.ensemble }),
    jitterMs,
    catchUp,
    overlap,
    paused: schedule.isPaused,
    readOnly: schedule.isConfigured,
    ...(actor === undefined ? {} : { savedBy: actor }),
    createdAt: formatInstant(schedule.createdAt),
    updatedAt: formatInstant(schedule.changedAt),
    next: next.map(formatInstant),
    queued: schedule.queued.map(formatInstant),
    ...(lastRun === undefined
      ? {}
      : { lastRun: { tick: formatInstant(lastRun.tick), runId: lastRun.runId } }),
    ...(problem === undefined
      ? {}
      : {
          problem: {
            tick: formatInstant(problem.tick),
            at: formatInstant(problem.at),
            code: problem.code,
            message: problem.message,
          },
        }),
  }
}

/** Converts a schedule with its submission. */
export function toSchedule(schedule: ScheduleRecord, next: readonly number[]): ScheduleDetail {
  return { ...toScheduleSummary(schedule, next), run: { ...schedule.definition.run } }
}

function formatInstant(instant: number): string {
  return new Date(instant).toISOString()
}
