/** Determines whether a run can be steered. Pure. */
import { isTerminalRunStatus, type RunState } from '@tutti/protocol'

/** Whether commands to a run are available. */
export interface Steerable {
  readonly isOver: boolean
  /** Reason why they are not; undefined if they are. */
  readonly blocked: string | undefined
  /** Description of a cancellation in progress. */
  readonly ending: string | undefined
}

/** Returns whether the state of a run allows commands. */
export function findSteerable({ status, cancelMode }: RunState): Steerable {
  if (isTerminalRunStatus(status)) {
    return { isOver: true, blocked: 'The run has ended', ending: undefined }
  }
  if (cancelMode === 'abort') {
    const ending = 'Cancelling: running work is being stopped'
    return { isOver: false, blocked: 'The run is already being cancelled', ending }
  }
  const ending =
    cancelMode === undefined ? undefined : 'Cancelling: running tasks finish, no others start'
  return { isOver: false, blocked: undefined, ending }
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

/** Returns possible targets: tasks that have not ended, and the roles of their agents. */
export function listTargets({ tasks }: Pick<RunState, 'tasks'>): {
  readonly tasks: readonly string[]
  readonly roles: readonly string[]
} {
  const open = tasks.filter(({ status, error }) => {
    return status === 'PENDING' || status === 'RUNNING' || error?.willRetry === true
  })
  return {
    tasks: open.map(({ name }) => name),
    roles: [...new Set(open.map(({ agentRole }) => agentRole))].filter(
      (role) => !open.some(({ name }) => name === role),
    ),
  }
}
