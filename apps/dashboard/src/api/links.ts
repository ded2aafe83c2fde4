/** Links to the pages of the dashboard. */
import { formatHash, type QueryValues } from '../lib/router.ts'

/** Displayed part of a run: a task, a tab, and a turn, a call or an earlier state. */
export interface RunLocation {
  readonly task?: string | undefined
  readonly tab?: string | undefined
  /** Model turn of the task. */
  readonly turn?: string | undefined
  readonly call?: string | undefined
  /** Number of events shown in a replay. */
  readonly at?: string | undefined
}

/** Returns the link to the list of runs with a filter. */
export function linkToRuns(filter: QueryValues = {}): string {
  return formatHash(['runs'], filter)
}

export function linkToRun(runId: string, location: RunLocation = {}): string {
  return formatHash(['runs', runId], { ...location })
}

/** Returns the link to the form for new runs; `from` is a run to copy. */
export function linkToSubmit(from?: string): string {
  return formatHash(['new'], { from })
}

/** Returns the link to the open reviews. */
export function linkToReviews(): string {
  return formatHash(['reviews'])
}

export function linkToTools(name?: string): string {
  return formatHash(name === undefined ? ['tools'] : ['tools', name])
}

/** Returns the link to a thread, or to the list of threads. */
export function linkToThreads(threadId?: string): string {
  return formatHash(threadId === undefined ? ['threads'] : ['threads', threadId])
}

export function linkToSchedules(): string {
  return formatHash(['schedules'])
}

/** Returns the link to the trace viewer. */
export function linkToTraces(): string {
  return formatHash(['traces'])
}

/** Returns the link to the comparison of two runs. */
export function linkToComparison(a: string, b: string): string {
  return formatHash(['compare'], { a, b })
}
