/**
 * The builds of the chaos test, and the code of the graph of tasks in each. Pure.
 *
 *   v1 ─▶ v2: `right` is removed, `join` renamed ─▶ v3: `left` has another output ─▶ v4: `close` is reworded
 */

/** Builds in the order of their deploys. */
export const BUILDS = ['v1', 'v2', 'v3', 'v4'] as const
export type BuildName = (typeof BUILDS)[number]

/** Code of a task that differs between builds. */
export interface TaskCode {
  /** Whether its output has a schema. */
  readonly isTyped: boolean
  /** Last sentence of its description. */
  readonly wording: string
}

/** Code of each task, in the order of the tasks. */
export type GraphCode = Readonly<Record<string, TaskCode>>

const PLAIN: TaskCode = { isTyped: false, wording: '' }
const TYPED: TaskCode = { isTyped: true, wording: '' }

const GRAPHS: Readonly<Record<BuildName, GraphCode>> = {
  v1: { survey: PLAIN, left: PLAIN, right: PLAIN, join: PLAIN },
  v2: { survey: PLAIN, left: PLAIN, close: PLAIN },
  v3: { survey: PLAIN, left: TYPED, close: PLAIN },
  v4: { survey: PLAIN, left: TYPED, close: { isTyped: false, wording: 'Play it softly.' } },
}

/** Returns the code of a build; that of the first one for any other name. */
export function graphOf(build: string): GraphCode {
  const known = BUILDS.find((name) => name === build) ?? BUILDS[0]
  return GRAPHS[known]
}

/** Returns the output of a task after its calls. */
export function outputOf(task: string, calls: number, code: TaskCode | undefined): string {
  const text = `Played ${task} after ${calls} calls`
  return code?.isTyped === true ? JSON.stringify({ played: text }) : text
}

/** Returns whether a build may continue a run of another build in which some tasks have begun. */
export function mayContinue(from: string, to: string, begunTasks: readonly string[]): boolean {
  const [before, after] = [graphOf(from), graphOf(to)]
  const hasSameTasks = Object.keys(before).join() === Object.keys(after).join()
  return hasSameTasks && begunTasks.every((task) => before[task] === after[task])
}
