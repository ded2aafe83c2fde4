/** Determines which steering actions a run allows. Pure. */
import { isTerminalRunStatus, type RunState } from '@tutti/protocol'

/** Reasons why actions are unavailable; undefined for available ones. */
export interface Steerable {
  readonly isOver: boolean
  readonly direct: string | undefined
  readonly switchModel: string | undefined
  readonly cancel: string | undefined
  /** Description of a cancellation in progress. */
  readonly ending: string | undefined
}

/** Returns the actions that the state of a run allows. */
export function findSteerable({ status, cancelMode }: RunState): Steerable {
  if (isTerminalRunStatus(status)) {
    const over = 'The run has ended'
    return { isOver: true, direct: over, switchModel: over, cancel: over, ending: undefined }
  }
  if (cancelMode === 'abort') {
    const ends = 'Running work is being stopped'
    const ending = 'Cancelling: running work is being stopped'
    return {
      isOver: false,
      direct: ends,
      switchModel: ends,
      cancel: 'The run is already being cancelled',
      ending,
    }
  }
  const can = { isOver: false, direct: undefined, switchModel: undefined, cancel: undefined }
  if (cancelMode === undefined) return { ...can, ending: undefined }
  return { ...can, ending: 'Cancelling: running tasks finish, no others start' }
}

/** Disables the actions if the key lacks a scope; `missing` is the reason. */
export function restrictToScope(can: Steerable, missing: string | undefined): Steerable {
  if (missing === undefined || can.isOver) return can
  return { ...can, direct: missing, switchModel: missing, cancel: missing }
}

/** Returns the models that a run or one of its tasks uses now; empty if unknown. */
export function findCurrentModels(
  { tasks, model }: Pick<RunState, 'tasks' | 'model'>,
  taskName: string | undefined,
): readonly string[] {
  const meant = tasks.filter(({ name, status }) =>
    taskName === undefined ? status === 'RUNNING' : name === taskName,
  )
  const used = meant.flatMap((task) => task.model ?? model ?? task.turns.at(-1)?.model ?? [])
  return used.length > 0 || model === undefined ? [...new Set(used)] : [model]
}
