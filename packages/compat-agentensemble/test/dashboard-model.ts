/**
 * Small model of AgentEnsemble's dashboard: its screen after each message. It was written from observed behavior, not
 * from its code. Like the dashboard it trusts the server: missing data is missing on the screen, and duplicates are
 * shown twice.
 *
 * - It shows the run that started last, and retains earlier runs that had a task.
 * - Tasks are identified by number. A task that starts again while it runs is not shown again; one that starts again
 *   afterwards is shown a second time.
 * - A panel is open from `review_requested` until this dashboard decides or `review_timed_out` arrives.
 * - Conversations are identified by role and description. A turn is pending until it is completed.
 * - A `hello` with a trace resets the screen; one without changes only id and start of the run.
 */
import type { ServerMessage } from '@tutti/protocol'

type MessageOf<Type extends ServerMessage['type']> = Extract<ServerMessage, { type: Type }>

/** A task on the screen. */
export interface ShownTask {
  readonly taskIndex: number
  readonly agentRole: string
  readonly status: 'running' | 'completed' | 'failed'
  readonly tools: readonly string[]
  readonly tokenCount?: number
  readonly reason?: string
  /** Goal and tools, from `task_input`. */
  readonly given?: string
}

/** A model turn on the screen. */
export interface ShownTurn {
  readonly index: number
  readonly answer?: string
  readonly pending: boolean
}

/** A run on the screen. */
export interface ShownRun {
  readonly ensembleId?: string | undefined
  readonly startedAt?: string | undefined
  readonly workflow?: string
  readonly completedAt?: string
  readonly totalTasks: number
  readonly tasks: readonly ShownTask[]
  readonly delegations: Readonly<Record<string, string>>
}

/** The whole screen. */
export interface Picture extends ShownRun {
  readonly panels: readonly MessageOf<'review_requested'>[]
  readonly turns: Readonly<Record<string, readonly ShownTurn[]>>
  readonly files: readonly string[]
  /** Tokens per role, from `metrics_snapshot`. */
  readonly metrics: Readonly<Record<string, number>>
  readonly before: readonly ShownRun[]
}

const NO_RUN = { totalTasks: 0, tasks: [], delegations: {} }

const NO_DETAILS = { panels: [], turns: {}, files: [], metrics: {} }

/** The screen before the first message. */
export const EMPTY_PICTURE: Picture = { ...NO_RUN, ...NO_DETAILS, before: [] }

/** Returns the screen after a message. */
export function applyMessage(picture: Picture, message: ServerMessage): Picture {
  switch (message.type) {
    case 'hello':
      return afterHello(picture, message)
    case 'ensemble_started':
      return afterStart(picture, message)
    case 'ensemble_completed':
      return { ...picture, completedAt: message.completedAt }
    case 'review_requested':
      return { ...picture, panels: [...picture.panels, message] }
    case 'review_timed_out':
      return withoutPanel(picture, message.reviewId)
    case 'llm_iteration_started':
      return afterTurnStart(picture, message)
    case 'llm_iteration_completed':
      return afterTurnEnd(picture, message)
    case 'metrics_snapshot': {
      const { agentRole, inputTokens, outputTokens } = message
      return {
        ...picture,
        metrics: { ...picture.metrics, [agentRole]: inputTokens + outputTokens },
      }
    }
    case 'file_changed':
      return { ...picture, files: [...picture.files, `${message.changeType} ${message.filePath}`] }
    case 'delegation_started':
    case 'delegation_completed':
    case 'delegation_failed':
      return afterDelegation(picture, message)
    default:
      return afterTaskMessage(picture, message)
  }
}

/** Returns the screen after this dashboard has sent a decision; it does not wait for the reply. */
export function withoutPanel(picture: Picture, reviewId: string): Picture {
  return { ...picture, panels: picture.panels.filter((panel) => panel.reviewId !== reviewId) }
}

function afterHello(picture: Picture, hello: MessageOf<'hello'>): Picture {
  const { ensembleId, startedAt, snapshotTrace = [], recentIterations = [] } = hello
  const run = { ensembleId, startedAt }
  const restored =
    snapshotTrace.length === 0
      ? { ...picture, ...run }
      : snapshotTrace.reduce<Picture>(applyMessage, { ...EMPTY_PICTURE, ...run })
  return recentIterations
    .flatMap(({ started, completed }) =>
      completed === undefined ? [started] : [started, completed],
    )
    .reduce<Picture>(
      (shown, turn) =>
        turn.type === 'llm_iteration_started'
          ? afterTurnStart(shown, turn)
          : afterTurnEnd(shown, turn),
      restored,
    )
}

function afterStart(picture: Picture, message: MessageOf<'ensemble_started'>): Picture {
  const { ensembleId, startedAt, workflow, totalTasks } = message
  const { before, panels: _, turns: _turns, files: _files, metrics: _metrics, ...run } = picture
  return {
    ...NO_DETAILS,
    ...NO_RUN,
    ensembleId,
    startedAt,
    workflow,
    totalTasks,
    before: run.tasks.length === 0 ? before : [...before, run],
  }
}

function afterTaskMessage(picture: Picture, message: ServerMessage): Picture {
  switch (message.type) {
    case 'task_started': {
      const { taskIndex, agentRole } = message
      const totalTasks = Math.max(picture.totalTasks, message.totalTasks)
      const known = picture.tasks.findLast((task) => task.taskIndex === taskIndex)
      if (known?.status === 'running') return { ...picture, totalTasks }
      const task: ShownTask = { taskIndex, agentRole, status: 'running', tools: [] }
      return { ...picture, totalTasks, tasks: [...picture.tasks, task] }
    }
    case 'task_input': {
      const given = `${message.agentGoal} [${message.toolNames.join()}] ${message.assembledContext}`
      return withTask(picture, message.taskIndex, (task) => ({ ...task, given }))
    }
    case 'task_completed': {
      const { tokenCount } = message
      return withTask(picture, message.taskIndex, (task) => ({
        ...task,
        status: 'completed',
        tokenCount,
      }))
    }
    case 'task_failed': {
      const { reason } = message
      return withTask(picture, message.taskIndex, (task) => ({ ...task, status: 'failed', reason }))
    }
    case 'tool_called': {
      const { toolName, outcome, toolArguments, toolResult } = message
      const tool = `${toolName} ${outcome} ${toolArguments} ${toolResult}`
      return withTask(picture, message.taskIndex, (task) => ({
        ...task,
        tools: [...task.tools, tool],
      }))
    }
    default:
      return picture
  }
}

function withTask(
  picture: Picture,
  taskIndex: number,
  change: (task: ShownTask) => ShownTask,
): Picture {
  const at = picture.tasks.findLastIndex((task) => task.taskIndex === taskIndex)
  const task = picture.tasks[at]
  return task === undefined ? picture : { ...picture, tasks: picture.tasks.with(at, change(task)) }
}

function afterDelegation(
  picture: Picture,
  message: MessageOf<'delegation_started' | 'delegation_completed' | 'delegation_failed'>,
): Picture {
  const { delegationId, delegatingAgentRole, workerRole } = message
  const isKnown = delegationId in picture.delegations
  if (!isKnown && message.type !== 'delegation_started') return picture
  const shown = `${delegatingAgentRole} > ${workerRole} ${message.type}`
  return { ...picture, delegations: { ...picture.delegations, [delegationId]: shown } }
}

type Turn = Pick<
  MessageOf<'llm_iteration_started'>,
  'agentRole' | 'taskDescription' | 'iterationIndex'
>

function afterTurnStart(picture: Picture, turn: Turn): Picture {
  const shown: ShownTurn = { index: turn.iterationIndex, pending: true }
  return withTurns(picture, turn, (turns) => [...turns, shown])
}

function afterTurnEnd(
  picture: Picture,
  turn: Turn & Pick<MessageOf<'llm_iteration_completed'>, 'responseType'>,
): Picture {
  const end = { pending: false, answer: turn.responseType }
  return withTurns(picture, turn, (turns) =>
    turns.map((one) =>
      one.pending && one.index === turn.iterationIndex ? { ...one, ...end } : one,
    ),
  )
}

function withTurns(
  picture: Picture,
  { agentRole, taskDescription }: Turn,
  change: (turns: readonly ShownTurn[]) => readonly ShownTurn[],
): Picture {
  const key = `${agentRole}:${taskDescription}`
  return { ...picture, turns: { ...picture.turns, [key]: change(picture.turns[key] ?? []) } }
}
