/** Pure: a run as messages of a conversation. */
import type { RunResultEvent } from '../schemas/events/run-events.ts'
import type { HistoryMessage } from '../schemas/history-message.ts'
import type { RunState } from './run-state.ts'
import { findTask, type TaskState } from './task-state.ts'
import type { TurnState } from './turn-state.ts'

/** Inputs and tasks of a run, which become the message of its user. */
export interface RunGiven {
  readonly inputs: Readonly<Record<string, string>>
  /** Planned tasks, in order. */
  readonly tasks: readonly { readonly description: string }[]
}

/** Messages of one run in a conversation. */
export interface RunMessages {
  readonly userMessage: string
  /** Absent while the run has no text. */
  readonly assistantMessage?: string
}

/**
 * Returns a run as the message of its user: its only input, else all its inputs as a JSON object, else the description of
 * its first task.
 */
export function toUserMessage({ inputs, tasks }: RunGiven): string {
  const values = Object.values(inputs)
  const [only] = values
  if (only === undefined) return tasks[0]?.description ?? ''
  return values.length === 1 ? only : JSON.stringify(inputs)
}

/** Returns the task whose output is that of the run. Undefined before the run has started. */
export function findOutputTask({
  outputTask,
  tasks,
}: Pick<RunState, 'outputTask' | 'tasks'>): TaskState | undefined {
  return outputTask === undefined ? undefined : findTask(tasks, outputTask)
}

/** Returns the output of a run; undefined if it has none. */
export function readRunOutput({
  outputTask,
  outputs,
}: Pick<RunResultEvent, 'outputTask' | 'outputs'>): string | undefined {
  return outputs.find(({ taskName }) => taskName === outputTask)?.output
}

/**
 * Returns a run as messages. The assistant's message is the output of the output task; while it has none, and in a run
 * that ended without it, the text of its newest model turn so far and of the turns that it continues. After a handoff these are
 * the turns of the next agent. {@link RunProjection} has the same text.
 */
export function toRunMessages(
  state: Pick<RunState, 'inputs' | 'outputTask' | 'tasks'>,
): RunMessages {
  const final = findOutputTask(state)
  const text = final?.output ?? readText(listTurns(final, state.tasks))
  return {
    userMessage: toUserMessage(state),
    ...(text === '' ? {} : { assistantMessage: text }),
  }
}

/** Returns the turns of a task and of the agents to which it was handed off, in order. */
function listTurns(task: TaskState | undefined, tasks: readonly TaskState[]): readonly TurnState[] {
  if (task === undefined) return []
  const { name, turns, activeTask } = task
  if (activeTask === undefined) return turns
  const receivers = tasks.filter(
    (one) => one.name === activeTask || (one.activeTask === activeTask && one.name !== name),
  )
  return [...turns, ...receivers.flatMap((one) => one.turns)]
}

/**
 * Returns the text of the newest turn, after that of the cut answers that it continues. While it has none, the answer before
 * it counts.
 */
function readText(turns: readonly TurnState[]): string {
  let text = ''
  let answer = ''
  let isCut = false
  for (const turn of turns) {
    const hasCalls = turn.toolCalls.length > 0
    const written = turn.isWithdrawn === true ? '' : turn.text
    if (written === '' && !hasCalls) text = answer
    else text = (isCut ? answer : '') + written
    if (turn.status !== 'COMPLETED') continue
    answer = hasCalls ? '' : text
    isCut = !hasCalls && turn.finishReason === 'length'
  }
  return text
}

/** Returns the messages of a run as a part of the conversation before another one. */
export function toHistoryMessages({
  userMessage,
  assistantMessage,
}: RunMessages): readonly HistoryMessage[] {
  const asked = { role: 'user', content: userMessage } as const
  if (assistantMessage === undefined) return [asked]
  return [asked, { role: 'assistant', content: assistantMessage }]
}
