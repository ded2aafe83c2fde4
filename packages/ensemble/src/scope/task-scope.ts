/**
 * The context of one attempt at a task: its identity and limits, and methods to record its events and steps.
 */
import type { TuttiError } from '@tutti/core'
import { limitText } from '@tutti/core/internal'

import { findSubEnsemble, inheritModel } from '../definition/sub-ensemble.ts'
import { Totals } from '../usage/totals.ts'
import { countEarlierAttempt } from './count-earlier.ts'
import { describeRecordedStep, describeStep, replayMismatchError } from './replay.ts'

import type { Task } from '../definition/task.ts'
import type { Message } from '../model/chat-model.ts'
import type { RunStep, StepOf, TaskStep } from '../ports/run-step.ts'
import type { Meter } from '../usage/budget.ts'
import type { Stopwatch } from '../work/stopwatch.ts'
import type { TaskSlot } from '../work/task-slots.ts'
import type { RunScope } from './run-scope.ts'
import { isOperation, type TaskLog } from './step-log.ts'
import type { RunEvent } from '@tutti/protocol'

/** The call of a handler, in messages. */
export const HANDLER_CALL = 'a call of the handler'

/** Maximum length of a description in events that are emitted often. */
export const LABEL_LENGTH = 2_000

/** Fields that identify an attempt at a task in events. */
export interface TaskIdentity {
  /** Index of the task, from 1, unique within the run. */
  readonly taskIndex: number
  readonly taskName: string
  readonly taskDescription: string
  readonly agentRole: string
  /**
   * Number of the attempt, from 1. Readers discard the streamed text of an attempt when a later one begins.
   */
  readonly attempt: number
}

type Bare<S> = S extends TaskStep ? Omit<S, 'taskName' | 'attempt' | 'runMs' | 'taskMs'> : never

/** A step of a task without the fields that the scope of the task adds. */
export type NewTaskStep = Bare<TaskStep>

/** A conversation that an agent handed off. */
export interface ReceivedConversation {
  /** Messages without a system message, after the filter of the handoff. */
  readonly messages: readonly Message[]
  /** Number of handoffs so far, at least 1. */
  readonly count: number
  /** Task that the first agent began, with its texts rendered, and its name in the run. */
  readonly root: { readonly task: Task; readonly taskName: string }
}

/** The parts of a {@link TaskScope}. */
export interface TaskScopeOptions {
  readonly run: RunScope
  readonly task: Task
  readonly identity: TaskIdentity
  /** Aborts when the work must stop: with the run, or at a time limit of the task. */
  readonly signal: AbortSignal
  readonly stopwatch: Stopwatch
  readonly meter: Meter
  /** Number of delegations between this task and a task of the plan. Handoffs do not count. */
  readonly depth: number
  /** Conversation that the task continues; undefined if it begins its own. */
  readonly received?: ReceivedConversation | undefined
  readonly slot: TaskSlot
}

/** Returns the run as the tasks see it that a task adds: those of its sub-ensemble belong to that ensemble. */
export function toAddedRun({ run, task, identity, depth }: TaskScope): RunScope {
  const subEnsemble = findSubEnsemble(task)
  if (subEnsemble === undefined) return run
  const { taskName, attempt } = identity
  const parent = { taskName, attempt, depth: depth + 1 }
  return { ...run, ensemble: inheritModel(subEnsemble.definition, run.ensemble), parent }
}

/** Context of one attempt at a task. */
export class TaskScope implements TaskScopeOptions {
  readonly run: RunScope
  readonly task: Task
  readonly identity: TaskIdentity
  readonly signal: AbortSignal
  readonly stopwatch: Stopwatch
  readonly meter: Meter
  readonly depth: number
  readonly received: ReceivedConversation | undefined
  readonly slot: TaskSlot
  /** Steps that an earlier process recorded for the task. */
  readonly log: TaskLog
  readonly totals = new Totals()
  /** Start of the description, for the many events of turns and tokens. */
  readonly taskLabel: string
  /** Whether all recorded outcomes of the attempt have been replayed. */
  #isReplayed = false

  constructor(options: TaskScopeOptions) {
    this.run = options.run
    this.task = options.task
    this.identity = options.identity
    this.taskLabel = limitText(options.identity.taskDescription, LABEL_LENGTH)
    this.signal = options.signal
    this.stopwatch = options.stopwatch
    this.meter = options.meter
    this.depth = options.depth
    this.received = options.received
    this.slot = options.slot
    this.log = options.run.log.task(options.identity.taskName)
    countEarlierAttempt(this.totals, this.log, options.identity.attempt)
  }

  /**
   * Returns the step that an earlier process recorded in this attempt. Code with a side effect calls this
   * first: a recorded side effect is replayed from its step without an event, and only one without a step is
   * performed.
   */
  replay<K extends TaskStep['kind']>(
    kind: K,
    matches?: (step: StepOf<K>) => boolean,
  ): StepOf<K> | undefined {
    const step = this.log.find(kind, this.identity.attempt, matches)
    if (step !== undefined) this.log.markReplayed(step)
    return step
  }

  /**
   * Checks that the code has asked for every recorded outcome of the attempt, before `asked`, such as a model call.
   *
   * @throws {TuttiError} REPLAY_MISMATCH with the first one that it has not asked for.
   */
  assertReplayed(asked: string): void {
    if (this.#isReplayed || !this.log.isKnown) return
    const step = this.log.findUnreplayed(this.identity.attempt)
    this.#isReplayed = step === undefined
    if (step !== undefined) throw this.#unreplayed(step, asked)
  }

  /** Checks the same before a handler is called, which will ask for its operations. @throws {TuttiError} REPLAY_MISMATCH */
  assertReplayedBeforeHandler(): void {
    if (!this.log.isKnown) return
    const step = this.log.findUnreplayed(this.identity.attempt, (one) => !isOperation(one))
    if (step !== undefined) throw this.#unreplayed(step, HANDLER_CALL)
  }

  #unreplayed(step: TaskStep, asked: string): TuttiError {
    return replayMismatchError({
      taskName: this.identity.taskName,
      step: describeStep(step),
      recorded: describeRecordedStep(step),
      asked,
    })
  }

  /** Checks that the code may make a call. @throws {TuttiError} as `assertReplayed` and `assertLive`. */
  assertMayCall(asked: string, kind: 'model' | 'other' = 'other'): void {
    this.assertReplayed(asked)
    this.assertLive(asked, kind)
  }

  /**
   * Checks that the run does not replay another one, or that its replay makes such calls.
   *
   * @throws {TuttiError} REPLAY_MISMATCH if the result must come from the record.
   */
  assertLive(asked: string, kind: 'model' | 'other' = 'other'): void {
    const { replay } = this.run.log
    if (replay === undefined || (replay === 'models' && kind === 'model')) return
    throw this.#mismatch('the next step', { recorded: 'nothing', asked })
  }

  /**
   * Checks that a frozen replay answers its task as the replayed run did.
   *
   * @throws {TuttiError} REPLAY_MISMATCH if the output differs.
   */
  assertSameOutput(output: string): void {
    const { replay, record } = this.run.log
    if (replay !== 'frozen') return
    const recorded = record.findOutput(this.identity.taskName)
    if (recorded === undefined || recorded === output) return
    const show = (text: string): string => `the output ${JSON.stringify(limitText(text, 200))}`
    throw this.#mismatch('task_completed', { recorded: show(recorded), asked: show(output) })
  }

  #mismatch(step: string, how: { readonly recorded: string; readonly asked: string }): TuttiError {
    return replayMismatchError({ taskName: this.identity.taskName, step, ...how })
  }

  /** Records an event and its step. */
  emit(event: RunEvent, step?: NewTaskStep): void {
    const { journal, recordsSteps } = this.run
    if (step === undefined || !recordsSteps) journal.emit(event)
    else journal.emit(event, this.#complete(step))
  }

  /**
   * Records a step and its event. Returns a promise that resolves when both are durable; undefined in a run
   * that records no steps. Frequent callers await only a promise, because each await costs a turn of the
   * microtask queue.
   */
  commit(step: NewTaskStep, event?: RunEvent): Promise<void> | undefined {
    const { journal, recordsSteps } = this.run
    if (recordsSteps) return journal.commit(this.#complete(step), event)
    if (event !== undefined) journal.emit(event)
    return undefined
  }

  #complete(step: NewTaskStep): RunStep {
    const { taskName, attempt } = this.identity
    const now = this.run.clock.elapsed()
    const runMs = this.run.stopwatch.elapsedAt(now)
    const taskMs = this.stopwatch.elapsedAt(now)
    return { ...step, taskName, attempt, runMs, taskMs }
  }
}
