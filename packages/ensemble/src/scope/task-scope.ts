/**
 * The context of one attempt at a task: its identity and limits, and methods to record its events and steps.
 */
import { limitText } from '@tutti/core'

import { Totals } from '../usage/totals.ts'
import { countEarlierAttempt } from './count-earlier.ts'

import type { Task } from '../definition/task.ts'
import type { RunStep, StepOf, TaskStep } from '../ports/run-step.ts'
import type { Meter } from '../usage/budget.ts'
import type { Stopwatch } from '../work/stopwatch.ts'
import type { RunScope } from './run-scope.ts'
import type { TaskLog } from './step-log.ts'
import type { RunEvent } from '@tutti/protocol'

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

/** The parts of a {@link TaskScope}. */
export interface TaskScopeOptions {
  readonly run: RunScope
  readonly task: Task
  readonly identity: TaskIdentity
  /** Aborts when the work must stop: with the run, or at a time limit of the task. */
  readonly signal: AbortSignal
  readonly stopwatch: Stopwatch
  readonly meter: Meter
  /** Number of delegations between this task and a task of the plan. */
  readonly depth: number
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
  /** Steps that an earlier process recorded for the task. */
  readonly log: TaskLog
  readonly totals = new Totals()
  /** Start of the description, for the many events of turns and tokens. */
  readonly taskLabel: string

  constructor(options: TaskScopeOptions) {
    this.run = options.run
    this.task = options.task
    this.identity = options.identity
    this.taskLabel = limitText(options.identity.taskDescription, LABEL_LENGTH)
    this.signal = options.signal
    this.stopwatch = options.stopwatch
    this.meter = options.meter
    this.depth = options.depth
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
    return this.log.find(kind, this.identity.attempt, matches)
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
