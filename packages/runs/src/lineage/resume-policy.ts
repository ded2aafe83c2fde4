/**
 * Pure: decides whether the code of this process may continue a run that other code has begun.
 *
 * RUNS-Z7 Every policy allows the same code, the same build, a build listed as compatible, and differences in tasks
 * that have not begun.
 * RUNS-Z17 Every policy also allows a different list of tasks if the tasks that it adds, removes or moves have not begun,
 *    its last task is the same, and in the workflow SEQUENTIAL all tasks that have begun come first. The last task has the
 *    output of the run. In the workflow HIERARCHICAL, any task can be delegated at any time, so the list must not change.
 * RUNS-Z8 `compatible` also allows differences in the texts of begun tasks, and `latest` any difference. Replay still
 *    fails a run whose steps differ from the code.
 * RUNS-Z9 A run that is being aborted may be continued by any code, because its agents make no call. The compensations of its
 *    handlers are left to a process that has its code, while one lives. A cancel in mode `boundary` lets running tasks
 *    finish, so it changes nothing.
 * RUNS-Z16 A run whose submission names a build is not begun by other code than that of the build.
 */
import {
  isTextDifference,
  type ManifestDifference,
  type ManifestValue,
} from '@tutti/ensemble/internal'

import type { ResumePolicy } from '../settings/options.ts'
import type { RunCode } from '../domain/run-code.ts'
import type { StrandedRun } from '../ports/build-store.ts'

/** Settings of the decision. */
export interface ResumeRules {
  readonly policy: ResumePolicy
  /** Builds whose runs this process may continue. */
  readonly compatibleBuilds: readonly string[]
}

/** The facts of the decision. */
export interface ResumeQuestion {
  readonly run: Pick<StrandedRun, 'build' | 'code' | 'hasBegun' | 'isFixed'>
  readonly own: RunCode
  /** Differences from the run's code to the process's; undefined if the run's code is unknown. */
  readonly differences: readonly ManifestDifference[] | undefined
  /** Whether the run is being cancelled in mode `abort`. */
  readonly isAborted: boolean
  /** Names of the tasks that have begun. */
  readonly begunTasks: ReadonlySet<string>
  /** Workflow of the process's ensemble. */
  readonly workflow: ManifestValue | undefined
}

/** Whether this process may continue a run. */
export function mayResume(
  { run, own, differences, isAborted, ...tasks }: ResumeQuestion,
  { policy, compatibleBuilds }: ResumeRules,
): boolean {
  if (run.code === own.code || run.build === own.build || isAborted) return true
  if (run.isFixed && !run.hasBegun) return false
  if (policy === 'latest' || compatibleBuilds.includes(run.build)) return true
  return differences?.every((difference) => isSafe(difference, tasks, policy)) === true
}

type RunTasks = Pick<ResumeQuestion, 'begunTasks' | 'workflow'>

function isSafe(difference: ManifestDifference, tasks: RunTasks, policy: ResumePolicy): boolean {
  const { task, field } = difference
  if (task === undefined) return field === 'tasks' && isSafeList(difference, tasks)
  if (!tasks.begunTasks.has(task)) return true
  return policy === 'compatible' && isTextDifference(difference)
}

/** Whether a run can continue with another list of tasks. */
function isSafeList({ from, to }: ManifestDifference, { begunTasks, workflow }: RunTasks): boolean {
  if (!Array.isArray(from) || !Array.isArray(to) || from.at(-1) !== to.at(-1)) return false
  if (workflow !== 'SEQUENTIAL') return workflow === 'PARALLEL'
  const firstPending = to.findIndex((name) => !begunTasks.has(String(name)))
  return (
    firstPending === -1 || to.slice(firstPending).every((name) => !begunTasks.has(String(name)))
  )
}
