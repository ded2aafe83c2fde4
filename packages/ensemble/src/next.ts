/** Pure: given the plan and how far each task is, what happens next. */
import type { Plan } from './plan.ts'

/** How far a task is. A `skipped` task will not run because one it waits for did not complete. */
export type TaskPhase = 'pending' | 'running' | 'completed' | 'failed' | 'skipped'

/** What the failure of a task means for the others. */
export type ErrorStrategy = 'FAIL_FAST' | 'CONTINUE_ON_ERROR'

/** What to do now. When nothing runs and nothing starts, the run is over. */
export interface Next {
  readonly start: readonly string[]
  /** Tasks that can no longer run, each with the task that is the reason. */
  readonly skip: ReadonlyMap<string, string>
}

/** Limits that {@link nextTasks} keeps. */
export interface NextLimits {
  readonly errorStrategy: ErrorStrategy
  readonly maxConcurrentTasks: number
}

/** The tasks that may start now and those that never will. */
export function nextTasks(
  plan: Plan,
  phases: ReadonlyMap<string, TaskPhase>,
  { errorStrategy, maxConcurrentTasks }: NextLimits,
): Next {
  const pending = plan.order.filter((name) => phases.get(name) === 'pending')
  const failed = plan.order.find((name) => phases.get(name) === 'failed')
  if (failed !== undefined && errorStrategy === 'FAIL_FAST') {
    return { start: [], skip: new Map(pending.map((name) => [name, failed])) }
  }
  const skip = new Map<string, string>()
  const lost = (name: string): boolean => {
    const phase = phases.get(name)
    return phase === 'failed' || phase === 'skipped' || skip.has(name)
  }
  let found = true
  while (found) {
    found = false
    for (const name of pending) {
      const reason = skip.has(name) ? undefined : plan.waitsFor.get(name)?.find(lost)
      if (reason === undefined) continue
      skip.set(name, reason)
      found = true
    }
  }
  const running = plan.order.filter((name) => phases.get(name) === 'running').length
  const ready = pending.filter(
    (name) =>
      !skip.has(name) &&
      (plan.waitsFor.get(name) ?? []).every((before) => phases.get(before) === 'completed'),
  )
  return { start: ready.slice(0, Math.max(0, maxConcurrentTasks - running)), skip }
}
