/** The places of the dashboard, as links. */
import { formatHash, type QueryValues } from '../lib/router.ts'

/** What is shown of a run. */
export interface RunPlace {
  readonly task?: string | undefined
  readonly tab?: string | undefined
  /** Model turn of the task. */
  readonly turn?: string | undefined
  readonly call?: string | undefined
  /** Number of its events that are shown, in a replay. */
  readonly at?: string | undefined
}

/** The list of runs, filtered. */
export function runsHref(filter: QueryValues = {}): string {
  return formatHash(['runs'], filter)
}

export function runHref(runId: string, place: RunPlace = {}): string {
  return formatHash(['runs', runId], { ...place })
}

/** The form that submits a run; `from` is a run whose inputs it begins with. */
export function submitHref(from?: string): string {
  return formatHash(['new'], { from })
}

/** The reviews that wait. */
export function reviewsHref(): string {
  return formatHash(['reviews'])
}

export function toolsHref(name?: string): string {
  return formatHash(name === undefined ? ['tools'] : ['tools', name])
}

/** The viewer of trace files. */
export function tracesHref(): string {
  return formatHash(['traces'])
}
