/** Events of a run as a whole. */
import type { RunEventOf } from '../schemas/run-event.ts'
import { interruptAgentCalls } from './agent-calls.ts'
import type { ListEditor } from './lists.ts'
import type { RunState } from './run-state.ts'
import { createTask, findTask, type TaskState } from './task-state.ts'
import { mapShared } from './tool-calls.ts'
import { discardRunningTurns } from './turns.ts'
import { NO_AGENT_USAGE, NO_ATTEMPT_USAGE } from './usage.ts'

/** Event of the run as a whole. */
export type RunLevelEvent = RunEventOf<
  | 'run_queued'
  | 'run_resumed'
  | 'run_forked'
  | 'run_cancelling'
  | 'ensemble_started'
  | 'file_changed'
  | 'model_switched'
  | 'ensemble_completed'
  | 'run_result'
>

/** Returns the run after an event of the run as a whole. */
export function applyToRun(state: RunState, event: RunLevelEvent, lists: ListEditor): RunState {
  switch (event.type) {
    case 'run_queued': {
      const { queuedAt, ensemble, workflow, inputs, tags, startAt } = event
      return {
        ...state,
        queuedAt,
        ensemble,
        workflow,
        inputs,
        tags,
        ...(startAt === undefined ? {} : { startAt }),
      }
    }
    case 'run_resumed':
      return {
        ...state,
        epoch: event.epoch,
        outputTask: event.outputTask,
        tasks: addTasks(
          mapShared(state.tasks, (task) => resumeTask(task, event.resumedAt)),
          event.addedTasks,
        ),
      }
    case 'run_forked': {
      const { parentRunId: runId, at, forkedAt, replay } = event
      return {
        ...state,
        parent: { runId, at, ...(replay === undefined ? {} : { replay }) },
        ...(state.startedAt === undefined ? {} : { startedAt: forkedAt }),
        tasks: state.tasks.map((task) => copyTask(resumeTask(task, forkedAt))),
      }
    }
    case 'run_cancelling':
      return {
        ...state,
        cancelMode: event.mode,
        cancel: {
          cause: event.cause,
          ...(event.actor === undefined ? {} : { actor: event.actor }),
        },
      }
    case 'ensemble_started':
      return applyStart(state, event)
    case 'file_changed':
      return { ...state, changedFiles: lists.append(state.changedFiles, readFileChange(event)) }
    case 'model_switched':
      return switchModel(state, event)
    case 'ensemble_completed': {
      const { ensembleId: id, completedAt, durationMs, exitReason } = event
      return { ...state, id, completedAt, durationMs, exitReason }
    }
    case 'run_result':
      return applyResult(state, event)
  }
}

function applyStart(state: RunState, event: RunEventOf<'ensemble_started'>): RunState {
  const { ensembleId: id, startedAt, ensemble, workflow, outputTask } = event
  const planned = event.tasks.map(({ name, description, agentRole, context }, position) => {
    const plan = { name, index: position + 1, description, agentRole, context }
    return { ...createTask(plan), ...findTask(state.tasks, name), ...plan }
  })
  const others = state.tasks.filter(({ name }) => findTask(planned, name) === undefined)
  return {
    ...state,
    id,
    startedAt,
    ensemble,
    workflow,
    outputTask,
    tasks: [...planned, ...others],
  }
}

/** Adds tasks to the plan. A task that other code had removed is pending again. */
function addTasks(
  tasks: RunState['tasks'],
  added: RunEventOf<'run_resumed'>['addedTasks'] = [],
): RunState['tasks'] {
  if (added.length === 0) return tasks
  const names = new Set(added.map(({ name }) => name))
  const others = tasks.filter(({ name }) => !names.has(name))
  const pending = added.map(({ taskIndex: index, ...task }) => createTask({ index, ...task }))
  return [...others, ...pending].toSorted((left, right) => left.index - right.index)
}

/** Resumes a running task in the same attempt; calls in flight are discarded. */
function resumeTask(task: TaskState, resumedAt: string): TaskState {
  if (task.status !== 'RUNNING') return task
  const turns = discardRunningTurns(task.turns, resumedAt)
  const agentCalls = interruptAgentCalls(task.agentCalls)
  const isSame = turns === task.turns && agentCalls === task.agentCalls
  return isSame ? task : { ...task, turns, agentCalls }
}

/** Returns a task of the parent as a task of its fork, which has not paid for it. */
function copyTask(task: TaskState): TaskState {
  const { metrics: _, ...rest } = task
  return {
    ...rest,
    turns: task.turns.map((turn) => ({ ...turn, isCopied: true })),
    agentUsage: NO_AGENT_USAGE,
    usage: NO_ATTEMPT_USAGE,
    earlierAttempts: task.earlierAttempts.map((one) => ({ ...one, usage: NO_ATTEMPT_USAGE })),
  }
}

/** Switches the model. A switch of the run overrides earlier switches of single tasks. */
function switchModel(
  state: RunState,
  { model, taskName, tier }: RunEventOf<'model_switched'>,
): RunState {
  const tasks = mapShared(state.tasks, (task) => {
    if (taskName === undefined) return clearModel(task)
    return task.name === taskName && task.model !== model ? { ...task, model } : task
  })
  if (taskName !== undefined) return tasks === state.tasks ? state : { ...state, tasks }
  const { modelTier: _, ...rest } = state
  return { ...rest, model, tasks, ...(tier === undefined ? {} : { modelTier: tier }) }
}

function clearModel(task: TaskState): TaskState {
  if (task.model === undefined) return task
  const { model: _, ...rest } = task
  return rest
}

function readFileChange(event: RunEventOf<'file_changed'>): RunState['changedFiles'][number] {
  const { agentRole, filePath, changeType, linesAdded, linesRemoved, timestamp } = event
  return { agentRole, filePath, changeType, linesAdded, linesRemoved, timestamp }
}

function applyResult(state: RunState, event: RunEventOf<'run_result'>): RunState {
  const { runId, status, outputs, durationMs, metrics, error: message, code } = event
  return {
    ...state,
    // A run that ends before it began has no `ensembleId`.
    id: state.id ?? runId,
    status,
    outputs,
    ...(event.outputTask === undefined ? {} : { outputTask: event.outputTask }),
    durationMs,
    ...(metrics === undefined ? {} : { metrics }),
    ...(message === undefined
      ? {}
      : { error: { message, ...(code === undefined ? {} : { code }) } }),
  }
}
