/** Pure: decides what happens next, given the plan and the phase of each task. */
import type { ErrorStrategy } from '../definition/ensemble-definition.ts'
import type { Plan } from '../definition/plan.ts'

/** Phase of a task. A `skipped` task will not run because a task that it waits for did not complete. */
export type TaskPhase = 'pending' | 'running' | 'completed' | 'failed' | 'skipped'

/** Next tasks to start and to skip. When nothing runs and nothing starts, the run has ended. */
export interface NextTasks {
  readonly start: readonly string[]
  /** Tasks that can no longer run, each with the task that is the reason. */
  readonly skip: ReadonlyMap<string, string>
}

/** Limits of {@link findNextTasks}. */
export interface NextLimits {
  readonly errorStrategy: ErrorStrategy
  readonly maxConcurrentTasks: number
}

/** Returns the tasks that can start now and those that never will. */
export function findNextTasks(
  plan: Plan,
  phases: ReadonlyMap<string, TaskPhase>,
  { errorStrategy, maxConcurrentTasks }: NextLimits,
): NextTasks {
  let running = 0
  let lost: string | undefined
  let failed: string | undefined
  for (const name of plan.scheduled) {
    const phase = phases.get(name)
    if (phase === 'running') running += 1
    else if (phase === 'failed' || phase === 'skipped') lost ??= name
    if (phase === 'failed') failed ??= name
  }
  const listPending = (): readonly string[] =>
    plan.scheduled.filter((name) => phases.get(name) === 'pending')
  if (failed !== undefined && errorStrategy === 'FAIL_FAST') {
    return { start: [], skip: new Map(listPending().map((name) => [name, failed])) }
  }
  const skip = lost === undefined ? NO_SKIP : findLostTasks(plan, phases, listPending())
  const start: string[] = []
  for (const name of plan.scheduled) {
    if (start.length >= maxConcurrentTasks - running) break
    if (phases.get(name) !== 'pending' || skip.has(name)) continue
    if (isReady(name, { plan, phases, skip })) start.push(name)
  }
  return { start, skip }
}

const NO_SKIP: ReadonlyMap<string, string> = new Map()

/**
 * Returns the tasks that wait, directly or through others, for a task that did not complete, each with that
 * task.
 */
function findLostTasks(
  plan: Plan,
  phases: ReadonlyMap<string, TaskPhase>,
  pending: readonly string[],
): ReadonlyMap<string, string> {
  const skip = new Map<string, string>()
  const isLost = (name: string): boolean => {
    const phase = phases.get(name)
    return phase === 'failed' || phase === 'skipped' || skip.has(name)
  }
  let found = true
  while (found) {
    found = false
    for (const name of pending) {
      const reason = skip.has(name) ? undefined : plan.waitsFor.get(name)?.find(isLost)
      if (reason === undefined) continue
      skip.set(name, reason)
      found = true
    }
  }
  return skip
}

interface PlanState {
  readonly plan: Plan
  readonly phases: ReadonlyMap<string, TaskPhase>
  readonly skip: ReadonlyMap<string, string>
}

/** Whether all tasks that a task waits for are completed, and all tasks that it follows have ended. */
function isReady(name: string, { plan, phases, skip }: PlanState): boolean {
  const waitsFor = plan.waitsFor.get(name) ?? []
  if (!waitsFor.every((before) => phases.get(before) === 'completed')) return false
  const follows = plan.follows.get(name)
  if (follows === undefined || follows.length === 0) return true
  const open = [...follows]
  for (let before = open.pop(); before !== undefined; before = open.pop()) {
    const phase = phases.get(before)
    if ((phase === 'pending' && !skip.has(before)) || phase === 'running') return false
    // A task may be skipped long before all tasks that it follows have ended.
    if (phase === 'skipped' || phase === 'pending') open.push(...(plan.follows.get(before) ?? []))
  }
  return true
}
