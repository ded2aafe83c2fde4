/**
 * Reads the tasks of a trace file. In the file, each attempt is a separate trace, and the trace of
 * a delegated task is nested in its delegation (in HIERARCHICAL runs also at top level). The result
 * contains each task once, including delegated ones. Pure.
 */
import { omitUndefined } from '../../lib/omit-undefined.ts'
import { readCost, readCount, parseDurationMs, readText } from './trace-state-values.ts'
import { readTracedTurns } from './trace-state-turns.ts'

import type {
  AttemptUsage,
  DelegationState,
  ExecutionTrace,
  TaskError,
  TaskState,
  TaskTrace,
} from '@tutti/protocol/internal'

/** The tasks and delegations of a trace. */
export interface TracedTasks {
  readonly tasks: readonly TaskState[]
  readonly delegations: readonly DelegationState[]
}

/** An attempt that is not processed yet. */
interface Found {
  readonly trace: TaskTrace
  readonly delegatedBy?: DelegatedBy
  readonly name: string
}

/** Input of a name. */
type Named = Pick<TaskTrace, 'taskDescription'> & Partial<Pick<TaskTrace, 'metadata'>>

/** Maximum length of a name taken from a description, in characters. */
const NAME_LENGTH = 64

/** Returns the tasks of a trace, sorted by index. */
export function readTracedTasks(trace: ExecutionTrace): TracedTasks {
  const tasks = new Map<string, TaskState>()
  const delegations: DelegationState[] = []
  const nameOf = createNamer(tasks)
  // Iterative, because a file may be nested deeper than the stack.
  const waiting: Found[] = selectOwnTraces(trace).map((one) => ({ trace: one, name: nameOf(one) }))
  for (const found of waiting) {
    const known = tasks.get(found.name)
    const task = toTaskState(found, { trace, known, index: findIndex(found, tasks) })
    tasks.set(found.name, task)
    for (const handed of found.trace.delegations) {
      const delegationId = `delegation-${delegations.length + 1}`
      const delegatedBy = { taskName: task.name, delegationId }
      const name = nameOf(handed.workerTrace ?? { taskDescription: handed.taskDescription })
      if (handed.workerTrace === null) {
        tasks.set(name, toWorkerTask(handed, { name, delegatedBy, index: tasks.size + 1 }))
      } else waiting.push({ trace: handed.workerTrace, delegatedBy, name })
      delegations.push(toDelegation(handed, { ...delegatedBy, attempt: task.attempt, name }))
    }
  }
  const inOrder = [...tasks.values()].toSorted((left, right) => left.index - right.index)
  return { tasks: inOrder, delegations: delegations.map((one) => addWorkerIndex(one, tasks)) }
}

/** Returns the top-level traces, without those that are also nested in a delegation. */
function selectOwnTraces({ taskTraces, workflow }: ExecutionTrace): readonly TaskTrace[] {
  if (workflow !== 'HIERARCHICAL') return taskTraces
  const inside = taskTraces.map((trace) => new Set(listNested(trace).map(toTraceKey)))
  return taskTraces.filter((trace, at) => {
    const key = toTraceKey(trace)
    return !inside.some((keys, owner) => owner !== at && keys.has(key))
  })
}

function listNested(trace: TaskTrace): readonly TaskTrace[] {
  const nested = [...listWorkerTraces(trace)]
  // The list grows while it is read, because a file may be nested deeper than the stack.
  for (const worker of nested) nested.push(...listWorkerTraces(worker))
  return nested
}

function listWorkerTraces({ delegations }: TaskTrace): readonly TaskTrace[] {
  return delegations.flatMap(({ workerTrace }) => workerTrace ?? [])
}

function toTraceKey({ agentRole, taskDescription, startedAt, metadata }: TaskTrace): string {
  return JSON.stringify([agentRole, taskDescription, startedAt, readText(metadata, 'taskName')])
}

/**
 * Creates a function that returns unique task names. Attempts in traces of Tutti contain the name
 * of their task. DASH-TS4
 */
function createNamer(tasks: ReadonlyMap<string, TaskState>) {
  const given = new Map<string, number>()
  return ({ taskDescription, metadata = {} }: Named): string => {
    const own = readText(metadata, 'taskName')
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

function findIndex({ trace, name }: Found, tasks: ReadonlyMap<string, TaskState>): number {
  return readCount(trace.metadata, 'taskIndex') ?? tasks.get(name)?.index ?? tasks.size + 1
}

interface TaskParts {
  readonly trace: ExecutionTrace
  readonly known: TaskState | undefined
  readonly index: number
}

function toTaskState(
  { trace: task, name, delegatedBy }: Found,
  { trace, known, index }: TaskParts,
): TaskState {
  const { taskDescription: description, agentRole, expectedOutput, startedAt, finalOutput } = task
  const error = findTaskError(task, trace)
  const status = readTaskStatus(task, error)
  const isOver = status !== 'RUNNING'
  const hasFailed = status === 'FAILED' || status === 'CANCELLED'
  return omitUndefined({
    ...NOTHING,
    name,
    index,
    description,
    agentRole,
    status,
    attempt: readCount(task.metadata, 'attempt') ?? (known?.attempt ?? 0) + 1,
    startedAt,
    completedAt: isOver ? task.completedAt : undefined,
    durationMs: isOver ? parseDurationMs(task.duration) : undefined,
    expectedOutput,
    input: readTaskInput(task, trace),
    turns: readTracedTurns(task, name),
    output: finalOutput ?? undefined,
    structuredOutput: task.parsedOutput ?? undefined,
    error: hasFailed ? (error ?? NO_REASON) : undefined,
    usage: readUsage(task),
    earlierAttempts: known === undefined ? [] : [...known.earlierAttempts, toEarlierAttempt(known)],
    delegatedBy,
  })
}

function toEarlierAttempt({ attempt, error = NO_REASON, usage }: TaskState) {
  return { attempt, reason: error.reason, code: error.code, usage }
}

function readTaskStatus(
  { metadata, finalOutput }: TaskTrace,
  error: TaskError | undefined,
): TaskState['status'] {
  const recorded = readText(metadata, 'status')
  if (recorded === 'RUNNING' || recorded === 'COMPLETED') return recorded
  const hasFailed = recorded === 'FAILED' || (finalOutput === null && error !== undefined)
  if (!hasFailed) return 'COMPLETED'
  return error?.code === 'CANCELLED' ? 'CANCELLED' : 'FAILED'
}

/** Returns the error of an attempt: that of its agent and task, preferably at its end. */
function findTaskError(
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

function readTaskInput(
  { agentRole, expectedOutput, startedAt }: TaskTrace,
  { agents }: ExecutionTrace,
): TaskState['input'] {
  const agent = agents.find(({ role }) => role === agentRole)
  if (agent === undefined) return undefined
  const { goal: agentGoal, background: agentBackground, toolNames } = agent
  // In traces, outputs of other tasks are part of the prompt, which is shown there.
  const given = { agentGoal, agentBackground, toolNames, assembledContext: '' }
  return { ...given, expectedOutput, sentAt: startedAt }
}

function readUsage({ metrics, metadata }: TaskTrace): AttemptUsage {
  const { inputTokens, outputTokens, toolCallCount, costEstimate } = metrics
  const costUsd = readCost(metadata, costEstimate)
  return omitUndefined({ inputTokens, outputTokens, toolCallCount, costUsd })
}

function addWorkerIndex(
  delegation: DelegationState,
  tasks: ReadonlyMap<string, TaskState>,
): DelegationState {
  const worker = tasks.get(delegation.workerTask ?? '')
  return worker === undefined ? delegation : { ...delegation, workerTaskIndex: worker.index }
}

type DelegationTrace = TaskTrace['delegations'][number]

/** The delegation that created a task. */
type DelegatedBy = NonNullable<TaskState['delegatedBy']>

/** Error of a failure without a reason in the file. */
const NO_REASON: TaskError = {
  reason: 'The file contains no reason',
  code: '',
  willRetry: false,
}

/** Fields that no trace contains; the usage of remote agents is included in that of the task. */
const NOTHING = {
  context: [],
  agentCalls: [],
  agentUsage: { inputTokens: 0, outputTokens: 0, costUsd: 0 },
  turns: [],
  earlierAttempts: [],
} satisfies Partial<TaskState>

/** Usage of an attempt if the file does not contain it. */
const UNKNOWN_USAGE: AttemptUsage = { inputTokens: -1, outputTokens: -1, toolCallCount: 0 }

/** Returns the task of a delegation without a trace. */
function toWorkerTask(
  handed: DelegationTrace,
  { name, delegatedBy, index }: { name: string; delegatedBy: DelegatedBy; index: number },
): TaskState {
  const { startedAt, completedAt, result, succeeded } = handed
  return omitUndefined({
    ...NOTHING,
    name,
    index,
    description: handed.taskDescription,
    agentRole: handed.workerRole,
    status: succeeded ? ('COMPLETED' as const) : ('FAILED' as const),
    attempt: 1,
    startedAt,
    completedAt,
    durationMs: parseDurationMs(handed.duration),
    output: result ?? undefined,
    error: succeeded ? undefined : NO_REASON,
    usage: UNKNOWN_USAGE,
    delegatedBy,
  })
}

/** Returns a delegation whose worker is the task `name`. */
function toDelegation(
  handed: DelegationTrace,
  { name, ...by }: DelegatedBy & { readonly attempt: number; readonly name: string },
): DelegationState {
  const { delegatorRole, workerRole, taskDescription, startedAt, completedAt, depth } = handed
  const { succeeded, duration } = handed
  return omitUndefined({
    ...by,
    delegatingAgentRole: delegatorRole,
    workerRole,
    status: succeeded ? ('COMPLETED' as const) : ('FAILED' as const),
    taskDescription,
    workerTask: name,
    depth,
    startedAt,
    completedAt,
    durationMs: succeeded ? parseDurationMs(duration) : undefined,
    reason: succeeded ? undefined : NO_REASON.reason,
  })
}
