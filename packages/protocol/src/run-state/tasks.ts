/** Events of the tasks of a run. Events of past attempts have no effect. */
import type { RunEvent, RunEventOf } from '../schemas/run-event.ts'
import type { RunState } from './run-state.ts'
import {
  addAgentUsage,
  applyToAgentCalls,
  interruptAgentCalls,
  type AgentCallEvent,
} from './agent-calls.ts'
import type { ListEditor } from './lists.ts'
import {
  createTask,
  enterAttempt,
  findTask,
  findTaskIndex,
  type TaskMetrics,
  type TaskState,
} from './task-state.ts'
import { failRunningTurns, applyToTurns, type TurnEvent } from './turns.ts'
import { toUsage, updateUsage, sumUsage } from './usage.ts'

export type TaskEvent =
  | RunEventOf<
      | 'task_started'
      | 'task_input'
      | 'task_completed'
      | 'task_attempt_failed'
      | 'task_failed'
      | 'task_skipped'
      | 'metrics_snapshot'
    >
  | TurnEvent
  | AgentCallEvent

/** Returns the run after an event of one of its tasks; `task_started` adds an unknown task. */
export function applyToTasks(state: RunState, event: TaskEvent, lists: ListEditor): RunState {
  if (event.type === 'task_started') return startTask(state, event, lists)
  const change = (task: TaskState): TaskState => {
    if (event.type === 'task_skipped') return skipTask(task, event)
    const current = enterAttempt(task, event.attempt)
    return current === undefined ? task : applyToTask(current, event)
  }
  return changeTask(state, event.taskName, { change, lists })
}

/** Returns the run with one of its tasks changed; unchanged when it has no task of this name. */
export function changeTask(
  state: RunState,
  name: string,
  {
    change,
    lists,
  }: { readonly change: (task: TaskState) => TaskState; readonly lists: ListEditor },
): RunState {
  const at = findTaskIndex(state.tasks, name)
  const task = state.tasks[at]
  if (task === undefined) return state
  const changed = change(task)
  return changed === task ? state : { ...state, tasks: lists.with(state.tasks, at, changed) }
}

/** Returns the run with an additional task, sorted by its `index`. */
export function addTask(state: RunState, task: TaskState, lists: ListEditor): RunState {
  const { tasks } = state
  const isLast = (tasks.at(-1)?.index ?? 0) <= task.index
  return {
    ...state,
    tasks: isLast
      ? lists.append(tasks, task, task.name)
      : [...tasks, task].toSorted((left, right) => left.index - right.index),
  }
}

function startTask(
  state: RunState,
  event: RunEventOf<'task_started'>,
  lists: ListEditor,
): RunState {
  const { taskName: name, taskIndex: index, taskDescription: description, agentRole } = event
  const known =
    findTask(state.tasks, name) === undefined
      ? addTask(state, createTask({ name, index, description, agentRole, context: [] }), lists)
      : state
  const change = (task: TaskState): TaskState => {
    const current = enterAttempt(task, event.attempt)
    if (current === undefined) return task
    const { startedAt = event.startedAt } = current
    return { ...current, description, agentRole, status: 'RUNNING', startedAt }
  }
  return changeTask(known, name, { change, lists })
}

function skipTask(task: TaskState, event: RunEventOf<'task_skipped'>): TaskState {
  return { ...task, status: 'SKIPPED', skipReason: event.reason, completedAt: event.skippedAt }
}

function applyToTask(
  task: TaskState,
  event: Exclude<TaskEvent, { type: 'task_started' | 'task_skipped' }>,
): TaskState {
  switch (event.type) {
    case 'task_input':
      return setTaskInput(task, event)
    case 'task_completed':
      return completeTask(task, event)
    case 'task_attempt_failed':
    case 'task_failed':
      return failTaskAttempt(task, event)
    case 'metrics_snapshot':
      return { ...task, metrics: toTaskMetrics(event) }
    case 'agent_tool_invoked':
    case 'agent_tool_progress':
    case 'agent_tool_turn':
    case 'agent_tool_completed':
    case 'agent_tool_terminated':
    case 'agent_tool_error':
      return applyAgentCallEvent(task, event)
    default:
      return applyTurnEvent(task, event)
  }
}

function applyTurnEvent(task: TaskState, event: TurnEvent): TaskState {
  const turns = applyToTurns(task.turns, event)
  if (turns === task.turns) return task
  const { iterationIndex } = event
  return isQuietEvent(event)
    ? { ...task, turns }
    : { ...task, turns, usage: updateUsage(task, { turns, iterationIndex }, task.agentUsage) }
}

/** Whether an event only adds text to a turn or progress to a call, so that it changes no status and no usage. */
export function isQuietEvent({ type }: Pick<RunEvent, 'type'>): boolean {
  return type === 'token' || type === 'reasoning' || type === 'tool_progress'
}

function applyAgentCallEvent(task: TaskState, event: AgentCallEvent): TaskState {
  const agentCalls = applyToAgentCalls(task.agentCalls, event)
  const agentUsage = addAgentUsage(task.agentUsage, event)
  if (agentUsage !== task.agentUsage) {
    return { ...task, agentCalls, agentUsage, usage: sumUsage(task.turns, agentUsage) }
  }
  return agentCalls === task.agentCalls ? task : { ...task, agentCalls }
}

function setTaskInput(task: TaskState, event: RunEventOf<'task_input'>): TaskState {
  const { agentGoal, agentBackground, toolNames, assembledContext, expectedOutput, sentAt } = event
  return {
    ...task,
    expectedOutput,
    input: { agentGoal, agentBackground, toolNames, assembledContext, expectedOutput, sentAt },
  }
}

function completeTask(task: TaskState, event: RunEventOf<'task_completed'>): TaskState {
  const { completedAt, durationMs, output, iterationLimitReached } = event
  return {
    ...task,
    status: 'COMPLETED',
    completedAt,
    durationMs,
    turns: failRunningTurns(task.turns),
    agentCalls: interruptAgentCalls(task.agentCalls),
    output,
    ...(event.structuredOutput === undefined ? {} : { structuredOutput: event.structuredOutput }),
    ...(event.parts === undefined ? {} : { parts: event.parts }),
    usage: toUsage(event),
    ...(event.finishReason === undefined ? {} : { finishReason: event.finishReason }),
    ...(event.outputGiven === undefined ? {} : { outputGiven: event.outputGiven }),
    iterationLimitReached,
  }
}

function failTaskAttempt(
  task: TaskState,
  event: RunEventOf<'task_attempt_failed' | 'task_failed'>,
): TaskState {
  const { failedAt, durationMs, reason, code, willRetry, refusal, finishReason } = event
  return {
    ...task,
    status: code === 'CANCELLED' ? 'CANCELLED' : 'FAILED',
    completedAt: failedAt,
    durationMs,
    turns: failRunningTurns(task.turns),
    agentCalls: interruptAgentCalls(task.agentCalls),
    error: { reason, code, willRetry, ...(refusal === undefined ? {} : { refusal }) },
    usage: toUsage(event),
    ...(finishReason === undefined ? {} : { finishReason }),
  }
}

function toTaskMetrics(event: RunEventOf<'metrics_snapshot'>): TaskMetrics {
  const { inputTokens, outputTokens, llmLatencyMs, toolExecutionTimeMs, iterationCount } = event
  const { costEstimate, cachedInputTokens, reasoningTokens } = event
  return {
    inputTokens,
    outputTokens,
    llmLatencyMs,
    toolExecutionTimeMs,
    iterationCount,
    ...(costEstimate === undefined ? {} : { costEstimate }),
    ...(cachedInputTokens === undefined ? {} : { cachedInputTokens }),
    ...(reasoningTokens === undefined ? {} : { reasoningTokens }),
  }
}
