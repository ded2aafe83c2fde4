/** Pure: given the plan and how far each task is, what happens next. */
import type { ErrorStrategy } from '../definition/ensemble-definition.ts'
import type { Plan } from '../definition/plan.ts'

/** How far a task is. A `skipped` task will not run because one it waits for did not complete. */
export type TaskPhase = 'pending' | 'running' | 'completed' | 'failed' | 'skipped'

/** The next tasks. When nothing runs and nothing starts, the run is over. */
export interface NextTasks {
  readonly start: readonly string[]
  /** Tasks that can no longer run, each with the task that is the reason. */
  readonly skip: ReadonlyMap<string, string>
}

/** Limits of {@link nextTasks}. */
export interface NextLimits {
  readonly errorStrategy: ErrorStrategy
  readonly maxConcurrentTasks: number
}

/** The tasks that may start now and those that never will. */
export function nextTasks(
  plan: Plan,
  phases: ReadonlyMap<string, TaskPhase>,
  { errorStrategy, maxConcurrentTasks }: NextLimits,
): NextTasks {
  const pending: string[] = []
  let running = 0
  let lost: string | undefined
  let failed: string | undefined
  for (const name of plan.scheduled) {
    const phase = phases.get(name)
    if (phase === 'pending') pending.push(name)
    else if (phase === 'running') running += 1
    else if (phase !== 'completed') lost ??= name
    if (phase === 'failed') failed ??= name
  }
  if (failed !== undefined && errorStrategy === 'FAIL_FAST') {
    return { start: [], skip: new Map(pending.map((name) => [name, failed])) }
  }
  const skip = lost === undefined ? NO_SKIP : lostTasks(plan, phases, pending)
  const start: string[] = []
  for (const name of pending) {
    if (start.length >= maxConcurrentTasks - running) break
    if (!skip.has(name) && isReady(name, { plan, phases, skip })) start.push(name)
  }
  return { start, skip }
}

const NO_SKIP: ReadonlyMap<string, string> = new Map()

/** The tasks that wait, also through others, for one that did not complete; each with that one. */
function lostTasks(
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

interface Standing {
  readonly plan: Plan
  readonly phases: ReadonlyMap<string, TaskPhase>
  readonly skip: ReadonlyMap<string, string>
}

/** Whether all that a task needs is completed, and all that it follows is over. */
function isReady(name: string, { plan, phases, skip }: Standing): boolean {
  for (const before of plan.waitsFor.get(name) ?? []) {
    if (phases.get(before) !== 'completed') return false
  }
  const open = [...(plan.follows.get(name) ?? [])]
  for (let before = open.pop(); before !== undefined; before = open.pop()) {
    const phase = phases.get(before)
    if ((phase === 'pending' && !skip.has(before)) || phase === 'running') return false
    // A task may be skipped long before all that it follows are over.
    if (phase === 'skipped' || phase === 'pending') open.push(...(plan.follows.get(before) ?? []))
  }
  return true
}
