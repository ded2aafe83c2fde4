/**
 * Pure: reads the tasks of a trace file. There each attempt is a trace of its own, and the trace of a
 * delegated task is inside the delegation (in HIERARCHICAL runs also at top level). The result has each
 * task once, delegated ones included.
 */
import { tracedCost, countAt, parseDurationMs, textAt } from './trace-state-values.ts'
import { tracedTurns } from './trace-state-turns.ts'

import type {
  AttemptUsage,
  DelegationState,
  ExecutionTrace,
  TaskError,
  TaskState,
  TaskTrace,
} from '@tutti/protocol'

/** The tasks of a trace, and who delegated what. */
export interface TracedTasks {
  readonly tasks: readonly TaskState[]
  readonly delegations: readonly DelegationState[]
}

/** One attempt that waits to be taken in. */
interface Found {
  readonly trace: TaskTrace
  readonly delegatedBy?: DelegatedBy
  readonly name: string
}

/** What a name is made of. */
type Named = Pick<TaskTrace, 'taskDescription'> & Partial<Pick<TaskTrace, 'metadata'>>

/** Characters of a description that make a name. */
const NAME_LENGTH = 64

/** The tasks of a trace, in the order of their index. */
export function tracedTasks(trace: ExecutionTrace): TracedTasks {
  const tasks = new Map<string, TaskState>()
  const delegations: DelegationState[] = []
  const nameOf = namer(tasks)
  // Not by recursion: a file may be nested deeper than the stack.
  const waiting: Found[] = ownTraces(trace).map((one) => ({ trace: one, name: nameOf(one) }))
  for (const found of waiting) {
    const known = tasks.get(found.name)
    const task = attemptOf(found, { trace, known, index: indexOf(found, tasks) })
    tasks.set(found.name, task)
    for (const handed of found.trace.delegations) {
      const delegationId = `delegation-${delegations.length + 1}`
      const delegatedBy = { taskName: task.name, delegationId }
      const name = nameOf(handed.workerTrace ?? { taskDescription: handed.taskDescription })
      if (handed.workerTrace === null) {
        tasks.set(name, workerOf(handed, { name, delegatedBy, index: tasks.size + 1 }))
      } else {
        waiting.push({ trace: handed.workerTrace, delegatedBy, name })
      }
      delegations.push(delegationOf(handed, { ...delegatedBy, attempt: task.attempt, name }))
    }
  }
  const inOrder = [...tasks.values()].toSorted((left, right) => left.index - right.index)
  return { tasks: inOrder, delegations: delegations.map((one) => withIndex(one, tasks)) }
}

/** The top-level traces without those that are also inside a delegation of another one. */
function ownTraces({ taskTraces, workflow }: ExecutionTrace): readonly TaskTrace[] {
  if (workflow !== 'HIERARCHICAL') return taskTraces
  const inside = taskTraces.map((trace) => new Set(nestedIn(trace).map(keyOf)))
  return taskTraces.filter((trace, at) => {
    const key = keyOf(trace)
    return !inside.some((keys, owner) => owner !== at && keys.has(key))
  })
}

function nestedIn(trace: TaskTrace): readonly TaskTrace[] {
  const nested = [...workerTraces(trace)]
  // The list grows while it is read: a file may be nested deeper than the stack.
  for (const worker of nested) nested.push(...workerTraces(worker))
  return nested
}

function workerTraces({ delegations }: TaskTrace): readonly TaskTrace[] {
  return delegations.flatMap(({ workerTrace }) => workerTrace ?? [])
}

function keyOf({ agentRole, taskDescription, startedAt, metadata }: TaskTrace): string {
  return JSON.stringify([agentRole, taskDescription, startedAt, textAt(metadata, 'taskName')])
}

/** T4 A name that no other task has; attempts of our own traces say which task they are of. */
function namer(tasks: ReadonlyMap<string, TaskState>) {
  const given = new Map<string, number>()
  return ({ taskDescription, metadata = {} }: Named): string => {
    const own = textAt(metadata, 'taskName')
    if (own !== undefined) return own
    const [line = ''] = taskDescription.trim().split('\n')
    const short = line.length > NAME_LENGTH ? `${line.slice(0, NAME_LENGTH - 1).trimEnd()}…` : line
    const base = short === '' ? 'Task' : short
    let count = given.get(base) ?? 0
    let name: string
    do {
      count += 1
      name = count === 1 ? base : `${base} (${count})`
    } while (tasks.has(name) || given.has(name))
    given.set(base, count)
    if (name !== base) given.set(name, 1)
    return name
  }
}

function indexOf({ trace, name }: Found, tasks: ReadonlyMap<string, TaskState>): number {
  return countAt(trace.metadata, 'taskIndex') ?? tasks.get(name)?.index ?? tasks.size + 1
}

function attemptOf(
  { trace: task, name, delegatedBy }: Found,
  {
    trace,
    known,
    index,
  }: {
    readonly trace: ExecutionTrace
    readonly known: TaskState | undefined
    readonly index: number
  },
): TaskState {
  const { taskDescription: description, agentRole, expectedOutput, startedAt, finalOutput } = task
  const error = errorOf(task, trace)
  const status = statusOf(task, error)
  const isOver = status !== 'RUNNING'
  const durationMs = parseDurationMs(task.duration)
  return {
    name,
    index,
    description,
    agentRole,
    context: [],
    status,
    attempt: countAt(task.metadata, 'attempt') ?? (known === undefined ? 1 : known.attempt + 1),
    startedAt,
    ...(isOver ? { completedAt: task.completedAt } : {}),
    ...(isOver && durationMs !== undefined ? { durationMs } : {}),
    expectedOutput,
    ...inputOf(task, trace),
    turns: tracedTurns(task, name),
    agentCalls: [],
    agentUsage: NO_AGENTS,
    ...(finalOutput === null ? {} : { output: finalOutput }),
    ...(task.parsedOutput === undefined || task.parsedOutput === null
      ? {}
      : { structuredOutput: task.parsedOutput }),
    ...(status === 'FAILED' || status === 'CANCELLED' ? { error: error ?? NO_REASON } : {}),
    usage: usageOf(task),
    earlierAttempts: known === undefined ? [] : [...known.earlierAttempts, earlierOf(known)],
    ...(delegatedBy === undefined ? {} : { delegatedBy }),
  }
}

function earlierOf({ attempt, error = NO_REASON, usage }: TaskState) {
  return { attempt, reason: error.reason, code: error.code, usage }
}

function statusOf({ metadata, finalOutput }: TaskTrace, error: TaskError | undefined) {
  const said = textAt(metadata, 'status')
  if (said === 'RUNNING' || said === 'COMPLETED') return said
  const hasFailed = said === 'FAILED' || (finalOutput === null && error !== undefined)
  if (!hasFailed) return 'COMPLETED'
  return error?.code === 'CANCELLED' ? 'CANCELLED' : 'FAILED'
}

/** The error of an attempt: of the same agent and task, and, where there are several, of its end. */
function errorOf(
  { agentRole, taskDescription, completedAt }: TaskTrace,
  { errors }: ExecutionTrace,
): TaskError | undefined {
  const own = errors.filter(
    (error) => error.agentRole === agentRole && error.taskDescription === taskDescription,
  )
  const end = Date.parse(completedAt)
  const found = own.find(({ occurredAt }) => Date.parse(occurredAt) === end) ?? own.at(-1)
  if (found === undefined) return undefined
  return { reason: found.message, code: found.errorType, willRetry: false }
}

function inputOf(
  { agentRole, expectedOutput, startedAt }: TaskTrace,
  { agents }: ExecutionTrace,
): Pick<TaskState, 'input'> {
  const agent = agents.find(({ role }) => role === agentRole)
  if (agent === undefined) return {}
  const { goal: agentGoal, background: agentBackground, toolNames } = agent
  // What other tasks gave is a part of the prompt here, and is shown there.
  const given = { agentGoal, agentBackground, toolNames, assembledContext: '' }
  return { input: { ...given, expectedOutput, sentAt: startedAt } }
}

function usageOf({ metrics, metadata }: TaskTrace): AttemptUsage {
  const { inputTokens, outputTokens, toolCallCount, costEstimate } = metrics
  const costUsd = tracedCost(metadata, costEstimate)
  return {
    inputTokens,
    outputTokens,
    toolCallCount,
    ...(costUsd === undefined ? {} : { costUsd }),
  }
}

function withIndex(
  delegation: DelegationState,
  tasks: ReadonlyMap<string, TaskState>,
): DelegationState {
  const worker = tasks.get(delegation.workerTask ?? '')
  return worker === undefined ? delegation : { ...delegation, workerTaskIndex: worker.index }
}

type DelegationTrace = TaskTrace['delegations'][number]

/** The delegation that made a task. */
type DelegatedBy = NonNullable<TaskState['delegatedBy']>

/** Why something failed, when the file does not say it. */
const NO_REASON: TaskError = {
  reason: 'The file does not say why',
  code: '',
  willRetry: false,
}

/** What the agents of other servers have used: a trace counts it with the task. */
const NO_AGENTS: TaskState['agentUsage'] = { inputTokens: 0, outputTokens: 0, costUsd: 0 }

/** What an attempt has used of which the file says nothing. */
const UNKNOWN_USAGE: AttemptUsage = { inputTokens: -1, outputTokens: -1, toolCallCount: 0 }

/** The task of a delegation of which the file has no trace. */
function workerOf(
  handed: DelegationTrace,
  { name, delegatedBy, index }: { name: string; delegatedBy: DelegatedBy; index: number },
): TaskState {
  const { startedAt, completedAt, result, succeeded } = handed
  const durationMs = parseDurationMs(handed.duration)
  return {
    name,
    index,
    description: handed.taskDescription,
    agentRole: handed.workerRole,
    context: [],
    status: succeeded ? 'COMPLETED' : 'FAILED',
    attempt: 1,
    startedAt,
    completedAt,
    ...(durationMs === undefined ? {} : { durationMs }),
    turns: [],
    agentCalls: [],
    agentUsage: NO_AGENTS,
    ...(result === null ? {} : { output: result }),
    ...(succeeded ? {} : { error: NO_REASON }),
    usage: UNKNOWN_USAGE,
    earlierAttempts: [],
    delegatedBy,
  }
}

/** A delegation, of which the worker is the task `name`. */
function delegationOf(
  handed: DelegationTrace,
  { name, ...by }: DelegatedBy & { readonly attempt: number; readonly name: string },
): DelegationState {
  const { delegatorRole, workerRole, taskDescription, startedAt, completedAt, depth } = handed
  const durationMs = parseDurationMs(handed.duration)
  return {
    ...by,
    delegatingAgentRole: delegatorRole,
    workerRole,
    status: handed.succeeded ? 'COMPLETED' : 'FAILED',
    taskDescription,
    workerTask: name,
    depth,
    startedAt,
    completedAt,
    ...(handed.succeeded && durationMs !== undefined ? { durationMs } : {}),
    ...(handed.succeeded ? {} : { reason: NO_REASON.reason }),
  }
}
