/** Pure: what can be done with a run as it stands, and why not. */
import { isTerminalRunStatus, type RunState } from '@tutti/protocol'

/** Why something cannot be done; undefined when it can. */
export interface Steerable {
  readonly isOver: boolean
  readonly direct: string | undefined
  readonly switchModel: string | undefined
  readonly cancel: string | undefined
  /** How it ends, while it is being cancelled. */
  readonly ending: string | undefined
}

/** What can be done with a run. */
export function steerable({ status, cancelMode }: RunState): Steerable {
  if (isTerminalRunStatus(status)) {
    const over = 'The run has ended'
    return { isOver: true, direct: over, switchModel: over, cancel: over, ending: undefined }
  }
  if (cancelMode === 'abort') {
    const ends = 'Work in flight is being stopped'
    const ending = 'Cancelling: what is in flight is ending'
    return { isOver: false, direct: ends, switchModel: ends, cancel: 'It is asked for', ending }
  }
  const can = { isOver: false, direct: undefined, switchModel: undefined, cancel: undefined }
  if (cancelMode === undefined) return { ...can, ending: undefined }
  return { ...can, ending: 'Cancelling: tasks at work finish, no other begins' }
}

/** The same for a reader whose key lacks a scope, as `missing` says. */
export function permitted(can: Steerable, missing: string | undefined): Steerable {
  if (missing === undefined || can.isOver) return can
  return { ...can, direct: missing, switchModel: missing, cancel: missing }
}

/** The models that a run, or one task of it, works with now; none when that is not known yet. */
export function currentModels(
  { tasks, model }: Pick<RunState, 'tasks' | 'model'>,
  taskName: string | undefined,
): readonly string[] {
  const meant = tasks.filter(({ name, status }) =>
    taskName === undefined ? status === 'RUNNING' : name === taskName,
  )
  const used = meant.flatMap((task) => task.model ?? model ?? task.turns.at(-1)?.model ?? [])
  return used.length > 0 || model === undefined ? [...new Set(used)] : [model]
}
