/** Pure: checks the schedules that are saved, and finds their next ticks. */
import { TuttiError } from '@tutti/core'
import type { Problem } from '@tutti/protocol/internal'

import { field } from '../domain/field.ts'
import { maxQueuedTicks } from '../domain/schedule.ts'
import { findDefinitionProblems, findScheduleNameProblem } from './definition-problems.ts'
import { findNextTick, toTickSubmission, toTickTimes } from './ticks.ts'

import type { ScheduleDefinition } from '../domain/schedule.ts'
import type { NewSchedule, ScheduleRecord } from '../ports/schedule-store.ts'
import type { RunSubmission } from '../request/new-run.ts'

/** The fields of a schedule that a caller chooses. */
export interface SavedSchedule {
  readonly name: string
  readonly definition: ScheduleDefinition
  /** Whether it has no ticks until it is resumed. @default false */
  readonly isPaused?: boolean
  /** Name of the key to which its runs belong. */
  readonly actor?: string
}

/** Returns every problem of a schedule. `check` builds the run of a submission, and throws when it is invalid. */
export function findScheduleProblems(
  { name, definition }: SavedSchedule,
  check: (submission: RunSubmission) => unknown,
): readonly Problem[] {
  const problems = [findScheduleNameProblem(name) ?? [], findDefinitionProblems(definition)].flat()
  // A run that is not an object is a problem already.
  if (problems.some(({ path }) => path === '/run')) return problems
  return [...problems, ...findRunProblems(() => check(toTickSubmission(name, definition, 0)))]
}

/**
 * Returns the columns of a schedule that is saved at `now`. One whose ticks are as before keeps its next tick, so that none is
 * lost, and those that wait, unless it is paused.
 */
export function planSchedule(
  { name, definition, isPaused = false, actor }: SavedSchedule,
  now: number,
  before?: ScheduleRecord,
): NewSchedule {
  const hasSameTicks =
    before?.definition.cron === definition.cron &&
    before.definition.timeZone === definition.timeZone &&
    // The keys of two actors differ, so a tick that has a run already would have another.
    before.actor === actor
  const nextTick = isPaused
    ? undefined
    : ((hasSameTicks ? before.nextTick : undefined) ?? findNextTick(definition, now))
  const queued =
    hasSameTicks && !isPaused ? before.queued.slice(0, maxQueuedTicks(definition.overlap)) : []
  return {
    name,
    definition,
    isConfigured: false,
    isPaused,
    ...field('actor', actor),
    ...toTickTimes(name, definition, nextTick),
    queued,
  }
}

/** Returns the problems with which a run is refused, with their paths. */
function findRunProblems(check: () => unknown): readonly Problem[] {
  try {
    check()
    return []
  } catch (error) {
    const { message, details } = TuttiError.from(error, 'BAD_REQUEST')
    // NOTE: casts at the boundary: refusals of requests have these forms.
    const problems = (details?.['problems'] ?? []) as readonly Problem[]
    const missing = (details?.['missing'] ?? []) as readonly string[]
    const all = [
      ...problems,
      ...missing.map((name) => ({
        path: `/inputs/${name}`,
        message: 'is required: a task uses this template variable',
      })),
    ]
    if (all.length === 0) return [{ path: '/run', message }]
    return all.map((problem) => ({ ...problem, path: `/run${problem.path}` }))
  }
}
