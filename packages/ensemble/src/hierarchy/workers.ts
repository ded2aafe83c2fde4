/**
 * Workers: tasks that a running task adds to its run. Agents and managers add them by delegation, handlers by their
 * operations. The log shows each of them as a delegation.
 */
import { TuttiError } from '@tutti/core'
import { isoNow } from '@tutti/core/internal'

import { task } from '../definition/define-task.ts'

import type { Inputs } from '../definition/inputs.ts'
import type { Task } from '../definition/task.ts'
import type { StepOf } from '../ports/run-step.ts'
import type { ReplayDifference } from '../scope/replay.ts'
import type { StepLog } from '../scope/step-log.ts'
import type { TaskOutcome } from '../scope/task-outcome.ts'
import type { ReceivedConversation, TaskScope } from '../scope/task-scope.ts'
import type { TaskSlot } from '../work/task-slots.ts'
import type { RunEventOf } from '@tutti/protocol'

/** A task that is not part of the plan. */
export interface WorkerTask {
  readonly task: Task
  readonly taskName: string
  readonly taskIndex: number
  /** Aborts when the result is no longer needed. */
  readonly signal: AbortSignal
  /** Inputs that its handler and its reviews see. @default those of its parent */
  readonly inputs?: Inputs
  /** Conversation that it continues. @default it begins its own */
  readonly received?: ReceivedConversation
  /** @default a slot without limit */
  readonly slot?: TaskSlot | undefined
}

/** Runs workers. */
export interface WorkerHost {
  /** Names of all tasks of the run. */
  readonly taskNames: readonly string[]
  /** Returns the index of a task; for a new name, the index of the next added task. */
  indexOf(taskName: string): number
  /** Whether a task with this name has begun. */
  isTaken(taskName: string): boolean
  /** Whether the run has a task with this name. */
  hasTask(taskName: string): boolean
  /** Whether a task with this name is completed. */
  isCompleted(taskName: string): boolean
  /** Whether this process has run, or continued, a worker with this name. */
  hasReached(taskName: string): boolean
  runWorker(parent: TaskScope, worker: WorkerTask): Promise<TaskOutcome>
  /** Stops the run, because its code differs from its steps. Returns the error. */
  stopMismatched(difference: ReplayDifference): TuttiError
}

/** The start of a worker, as it is recorded. */
export type BegunWorker = Omit<
  StepOf<'delegation_begun'>,
  'kind' | 'taskName' | 'attempt' | 'runMs' | 'taskMs'
>

/**
 * Returns a task in place of a worker that a handler added in an earlier process. It has what readers of the run need;
 * when the handler asks for the worker again, the worker runs with the task of the code.
 */
export function createRecordedTask({
  workerTask: name,
  workerRole: role,
  taskDescription: description,
}: StepOf<'delegation_begun'>): Task {
  return { ...task({ name, description, handler: RECORDED }), agent: { role, tools: [] } }
}

/** Returns the workers of a run, as they were recorded. */
export function listBegunWorkers(log: StepLog): readonly StepOf<'delegation_begun'>[] {
  return log.taskNames.flatMap((taskName) => log.task(taskName).of('delegation_begun'))
}

/** Whether the code of the task is not known yet. */
export function isRecordedTask({ handler }: Task): boolean {
  return handler === RECORDED
}

function RECORDED(): never {
  throw new TuttiError('ENGINE_FAILED', 'A task was executed before its handler had added it')
}

/** Records the start of a worker. */
export function beginWorker(
  scope: TaskScope,
  host: WorkerHost,
  worker: Omit<BegunWorker, 'delegationId' | 'workerTaskIndex'>,
): BegunWorker {
  const { workerRole, taskDescription, workerTask, handoff } = worker
  const workerTaskIndex = host.indexOf(workerTask)
  const delegationId = crypto.randomUUID()
  const begun = { ...worker, workerTaskIndex, delegationId }
  const { taskName, attempt } = scope.identity
  scope.emit(
    {
      type: 'delegation_started',
      delegationId,
      delegatingAgentRole: scope.task.agent.role,
      workerRole,
      taskDescription,
      taskName,
      attempt,
      workerTask,
      workerTaskIndex,
      depth: scope.depth + 1,
      ...(handoff === undefined ? {} : { handoff }),
      startedAt: isoNow(scope.run.clock),
    },
    { kind: 'delegation_begun', ...begun },
  )
  return begun
}

/** A worker that has begun. */
export interface WorkerRun extends Pick<
  WorkerTask,
  'task' | 'signal' | 'inputs' | 'received' | 'slot'
> {
  readonly begun: BegunWorker
  /** Whether an earlier process recorded its end. */
  readonly isEnded: boolean
}

/** Runs a worker, or continues it, and records its end. */
export async function runWorker(
  scope: TaskScope,
  host: WorkerHost,
  { begun, isEnded, ...worker }: WorkerRun,
): Promise<TaskOutcome> {
  const { workerRole, workerTask, workerTaskIndex: taskIndex, delegationId } = begun
  const { clock } = scope.run
  const startedAt = clock.elapsed()
  const outcome = await host.runWorker(scope, { ...worker, taskName: workerTask, taskIndex })
  if (isEnded) return outcome
  const { taskName, attempt } = scope.identity
  const delegatingAgentRole = scope.task.agent.role
  const ids = { delegationId, delegatingAgentRole, workerRole, taskName, attempt, workerTask }
  if (outcome.kind === 'completed') {
    const durationMs = Math.round(clock.elapsed() - startedAt)
    const completedAt = isoNow(clock)
    endWorker(scope, { type: 'delegation_completed', ...ids, durationMs, completedAt })
  } else {
    const reason = describeFailure(outcome)
    endWorker(scope, { type: 'delegation_failed', ...ids, reason, failedAt: isoNow(clock) })
  }
  return outcome
}

/**
 * Ends the workers that an earlier process began and that this one has not reached, because their task ends without asking
 * for them: it was cancelled before, or its code has changed. Those that have not ended fail, and their reviews are withdrawn.
 */
export async function endUnreached(
  scope: TaskScope,
  host: WorkerHost,
  reason: TuttiError,
): Promise<void> {
  const { log, identity, run, signal } = scope
  // The log of a replay does not contain the starts of the workers.
  if (!log.isKnown || run.log.replay !== undefined) return
  const begun = log
    .of('delegation_begun')
    .filter(
      ({ attempt, workerTask }) => attempt === identity.attempt && !host.hasReached(workerTask),
    )
  if (begun.length === 0) return
  const ended = new Set(log.of('delegation_ended').map(({ delegationId }) => delegationId))
  const left = begun.filter(({ delegationId }) => !ended.has(delegationId))
  const aborted = signal.aborted ? signal : AbortSignal.abort(reason)
  await Promise.all(
    left.map((step) =>
      runWorker(scope, host, {
        begun: step,
        isEnded: false,
        task: createRecordedTask(step),
        signal: aborted,
      }),
    ),
  )
}

/** Records the end of a worker, or of a delegation that was rejected. */
export function endWorker(
  scope: TaskScope,
  event: RunEventOf<'delegation_completed' | 'delegation_failed'>,
): void {
  scope.emit(event, { kind: 'delegation_ended', delegationId: event.delegationId })
}

/** Returns the task that an earlier process began for a call; undefined if there is none. */
export function findBegun(scope: TaskScope, callKey: string): BegunWorker | undefined {
  const wanted = withoutRun(callKey)
  return scope.replay('delegation_begun', (step) => withoutRun(step.callKey) === wanted)
}

/** Returns the task that an earlier process of this run began for a call, without those of the run that it replays. */
export function findOwnBegun({ log }: TaskScope, callKey: string): BegunWorker | undefined {
  return log.own('delegation_begun').find((step) => step.callKey === callKey)
}

/** Returns an idempotency key without the id of its run, which differs in a fork. */
function withoutRun(key: string): string {
  return key.slice(key.indexOf('/'))
}

/** Whether an earlier process recorded the end of a worker. */
export function isEndRecorded({ log }: TaskScope, delegationId: string): boolean {
  return log.of('delegation_ended').some((step) => step.delegationId === delegationId)
}

/** Returns the name, or the name with the first number that no task of the run has. */
export function findFreeName(host: WorkerHost, base: string): string {
  if (!host.hasTask(base)) return base
  let number = 2
  while (host.hasTask(`${base}#${number}`)) number += 1
  return `${base}#${number}`
}

/** Returns the reason why a worker is not completed. */
export function describeFailure(outcome: TaskOutcome): string {
  return findFailure(outcome)?.message ?? 'The run was stopped'
}

/** Returns the error of a worker, or that with which a reviewer ended the run after it; undefined if there is none. */
export function findFailure(outcome: TaskOutcome): TuttiError | undefined {
  return outcome.kind === 'failed' ? outcome.error : outcome.exit
}
